"""Whether a portrait keeps its verdict when it is changed in ways that change nothing of it.

    python -m research.evaluation.stability PICTURES INTO [--check ID] [--most N] [--table FILE]

PICTURES holds what sources_and_labels.py wrote. N pictures of the label file, evenly from its rows,
are judged as they are and changed (:data:`CHANGES`); the changed ones are written to INTO. Prints,
and with --table writes into the document between the marks of ID-changed, how many outcomes change,
how many of them from pass to fail or back, and the checks that go the same way.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageOps

from palprep.media.images import open_image
from palprep.media.sources import Source
from palprep.rules import load_profile
from palprep.values import Outcome
from research.evaluation.portraits import judged, rows_of
from research.marked import replace_marked
from research.material.kept_facts import FactsOfRows
from research.material.sources_and_labels import BROAD_HALVES, Labelled

QUALITY = 92


def coded(picture: Image.Image) -> Image.Image:
    """The picture as its JPEG shows it."""
    picture.save(stream := io.BytesIO(), "JPEG", quality=QUALITY)
    return Image.open(stream)


def turned_and_back(picture: Image.Image) -> Image.Image:
    """Coded while it lies on its side."""
    on_its_side = coded(picture.transpose(Image.Transpose.ROTATE_90))
    return on_its_side.transpose(Image.Transpose.ROTATE_270)


def halved(picture: Image.Image) -> Image.Image:
    """At half size."""
    return picture.reduce(2)


CHANGES: Mapping[str, Callable[[Image.Image], Image.Image]] = {
    "coded again": coded,
    "at half size": halved,
    "turned, coded and turned back": turned_and_back,
    "mirrored": ImageOps.mirror,
}
"""Each is coded as JPEG of :data:`QUALITY` at its end."""

LEAST_SIDE = 512
"""Shorter side in pixels, at the least, of a picture that is halved: the face of a smaller one has
too few pixels then, which is a fault."""

ENDS = {Outcome.PASS, Outcome.FAIL}


def stability(check_id: str, rows: Sequence[Labelled], facts: FactsOfRows, into: Path) -> list[str]:
    """The table as lines of Markdown. ``facts`` are of the pictures as they are."""
    profile = load_profile()
    lines = ["| Changed | pictures | other outcome | pass to fail, or back | in single checks |"]
    lines.append("|---" * 5 + "|")
    for title, change in CHANGES.items():
        changed = FactsOfRows(into / title, models=facts.models)
        some = []
        for row in rows:
            picture = open_image(Source.of(row.file(facts.pictures)))[1]
            if change is halved and min(picture.size) < LEAST_SIDE:
                continue
            some.append(row)
            file = row.file(changed.pictures)
            file.parent.mkdir(parents=True, exist_ok=True)
            change(picture).save(file, "JPEG", quality=QUALITY)
        before, after = (judged(check_id, some, each, profile) for each in (facts, changed))
        pairs = list(zip(before, after, strict=True))
        flips = Counter(
            check
            for pair in pairs
            for one, two in (pair, pair[::-1])
            for check in {*one.failed} - {*two.failed, *two.warned}
        )
        cells = (
            title,
            str(len(pairs)),
            str(sum(was.outcome is not now.outcome for was, now in pairs)),
            str(sum({was.outcome, now.outcome} == ENDS for was, now in pairs)),
            ", ".join(f"`{check}` {count}" for check, count in flips.most_common()) or "none",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("into", type=Path)
    parser.add_argument("--check", default=next(iter(BROAD_HALVES)), help="a label file")
    parser.add_argument("--most", type=int, default=200, help="pictures")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    rows = rows_of(options.check, None)
    some = rows[:: max(1, len(rows) // options.most)][: options.most]
    lines = stability(options.check, some, FactsOfRows(options.pictures), options.into)
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, f"{options.check}-changed", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
