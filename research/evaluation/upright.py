"""How often a picture that lies on its side, or is upside down, is told, and one that does not.

    python -m research.evaluation.upright FOLDER...

Every image and every video below FOLDER is measured as it is, and turned by 90, 180 and 270
degrees. None of them should be turned as it is. Of those that show a face which is made out as they
are, each should be turned back. Files that cannot be read are left out.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from palprep.errors import MediaError
from palprep.media.images import SampledFrame, open_image, sample_frames
from palprep.media.sources import Source
from palprep.values import Kind
from palprep.vision import MAX_SIDE, Models, analyse_footage, analyse_image
from palprep.vision.footage import turned_frames
from research.evaluation.portraits import wilson

TURNS = (90, 180, 270)
SIDE, PER_SECOND, FRAMES = 960, 2.0, 8


def answers(path: Path, models: Models) -> tuple[bool, list[int]]:
    """Whether a face is made out, and how far the picture is turned back as it is, and when it was
    turned by each of :data:`TURNS`. Raises MediaError."""
    source = Source.of(path)
    if source.type.kind is Kind.IMAGE:
        rgb = np.asarray(open_image(source, max_side=MAX_SIDE)[1])
        looks = (
            analyse_image(frame.rgb, models).subject
            for degrees in (0, *TURNS)
            for frame in turned_frames([SampledFrame(0.0, rgb)], degrees)
        )
        found = [each.turned_deg if each else None for each in looks]
        return found[0] is not None, [each or 0 for each in found]
    frames = sample_frames(source, per_second=PER_SECOND, max_side=SIDE)
    first = list(itertools.islice(frames, FRAMES))
    shown = [
        analyse_footage(
            turned_frames(first, degrees), models, every_s=0.5, count=FRAMES, close_looks=1
        )
        for degrees in (0, *TURNS)
    ]
    return bool(shown[0].seen), [each.turned_deg for each in shown]


def table(folders: Sequence[Path]) -> Iterator[str]:
    """Lines of Markdown."""
    models, counts = Models(), Counter[tuple[str, str]]()
    for path in sorted(each for folder in folders for each in folder.rglob("*") if each.is_file()):
        try:
            kind = Source.of(path).type.kind
            if kind not in {Kind.IMAGE, Kind.VIDEO}:
                continue
            face, (as_it_is, *turned) = answers(path, models)
        except MediaError:
            continue
        counts[kind.value, "all"] += 1
        counts[kind.value, "turned for nothing"] += as_it_is != 0
        for degrees, back in zip(TURNS, turned, strict=True):
            counts[kind.value, "with a face, turned"] += face
            counts[kind.value, "turned back"] += face and back == 360 - degrees
            counts[kind.value, "turned wrongly"] += back not in {0, 360 - degrees}
    yield "| Files | as they are | turned for nothing | with a face, turned | turned back | wrong |"
    yield "|---|---|---|---|---|---|"
    for name in sorted({name for name, _ in counts}):
        every, with_face = counts[name, "all"], counts[name, "with a face, turned"]
        low, high = wilson(counts[name, "turned back"], max(1, with_face))
        yield (
            f"| {name} | {every} | {counts[name, 'turned for nothing']} | {with_face} | "
            f"{counts[name, 'turned back']} ({low:.0%} to {high:.0%}) | "
            f"{counts[name, 'turned wrongly']} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    for line in table(parser.parse_args().folders):
        print(line)


if __name__ == "__main__":
    main()
