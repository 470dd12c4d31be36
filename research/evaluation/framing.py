"""How surely a cut head is found, on portraits that are cut by known amounts.

    python -m research.evaluation.framing PICTURES [--table docs/accuracy.md]

PICTURES holds what sources_and_labels.py wrote. The official portraits of
material/only_one_person_visible.csv whose whole head is seen are cut at the top, so that some room
is left above the hair, or some of it is cut away. Where the hair ends in the whole portrait is what
the person mask says of it there.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from palprep.rules import load_profile
from palprep.rules.profile import Limit
from palprep.values import Outcome, Role
from palprep.vision import Framing, Models, Pixels, detect_subject
from palprep.vision.framing import measure_framing
from research.evaluation.portraits import wilson
from research.marked import replace_marked
from research.material.sources_and_labels import portrait_of, read_labels

CHECK = "head_fully_in_frame"
GROUP = "official portrait"

ROOMS = (0.1, 0.05, -0.05, -0.1, -0.2, -0.3)
"""From the hair to the upper border, in face heights; negative where hair is cut away."""

PLENTY = 0.15
"""Only portraits with more room than this are cut: their head is whole beyond doubt."""


def framing_of(rgb: Pixels, models: Models) -> Framing | None:
    """Where the subject stands; None where no face is found."""
    seen = detect_subject(rgb, models)
    if seen.subject is None or seen.bust is None:
        return None
    return measure_framing(seen.box(seen.subject), seen.bust)


def cut(rgb: Pixels, framing: Framing) -> Iterator[tuple[float, Pixels]]:
    """The portrait with each of :data:`ROOMS` above the hair."""
    for room in ROOMS:
        top = round(framing.head.y - room * framing.face.height)
        if top > 0:
            yield room, np.ascontiguousarray(rgb[top:])


def outcome(framing: Framing | None, limits: Sequence[Limit]) -> Outcome:
    """What the check would say of it."""
    if framing is None:
        return Outcome.UNKNOWN
    broken = {limit.level for limit in limits if not limit.holds(framing.margin_top)}
    return next((each for each in (Outcome.FAIL, Outcome.WARN) if each in broken), Outcome.PASS)


def table(found: Mapping[float, Counter[Outcome]]) -> list[str]:
    """Outcomes by the room above the hair, as lines of Markdown."""
    lines = ["| Room above the hair, in face heights | portraits | fail | warn | pass |"]
    lines.append("|---|---|---|---|---|")
    for room, counts in sorted(found.items(), reverse=True):
        low, high = wilson(counts[Outcome.FAIL], counts.total())
        shares = [counts[each] / counts.total() for each in (Outcome.WARN, Outcome.PASS)]
        lines.append(
            f"| {room:+.2f} | {counts.total()} | {counts[Outcome.FAIL] / counts.total():.1%} "
            f"({low:.1%} to {high:.1%}) | " + " | ".join(f"{each:.1%}" for each in shares) + " |"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--profile", default="core-4")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    limits = load_profile(options.profile).for_role(Role.FACE_IMAGE)[CHECK]
    models = Models()
    found: dict[float, Counter[Outcome]] = defaultdict(Counter)
    for row in read_labels("only_one_person_visible"):
        if row.group != GROUP:
            continue
        rgb = portrait_of(row, options.pictures, models)
        whole = framing_of(rgb, models)
        if whole is None or whole.margin < PLENTY:
            continue
        for room, part in cut(rgb, whole):
            found[room][outcome(framing_of(part, models), limits)] += 1
    lines = table(found)
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, CHECK, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
