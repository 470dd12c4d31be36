"""What ``palprep check --pictures`` writes: portraits with findings, videos as timelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palprep.fixes.output import atomic_output
from palprep.preflight.check_and_prepare import shared_toolkit
from palprep.views.pictures import report_picture

if TYPE_CHECKING:
    from palprep.rules.report import Report


def write_picture(report: Report, target: Path) -> Path | None:
    """Draw what was seen of a file into a PNG; None where there is nothing to draw. It decodes the
    file: workers do that.

    Raises MediaError when the file can no longer be read, OutputUnwritable.
    """
    picture = report_picture(report, shared_toolkit().models)
    if picture is None:
        return None
    with atomic_output(target) as temporary:
        temporary.write_bytes(picture.data)
    return target


def targets(paths: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """The path of each file's picture.

    The names of their folders tell files of the same name apart; where those are the same too,
    a number does.
    """
    named = Counter(path.name for path in dict.fromkeys(paths))
    seen: Counter[str] = Counter()
    found = {}
    for path in dict.fromkeys(paths):
        name = f"{path.resolve().parent.name}-{path.name}" if named[path.name] > 1 else path.name
        seen[name] += 1
        again = f"-{seen[name]}" if seen[name] > 1 else ""
        found[path] = folder / f"{name}{again}.png"
    return found
