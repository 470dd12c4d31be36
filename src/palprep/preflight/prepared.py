"""A prepared file as a value, apart from what makes it: reading it needs no decoder."""

from __future__ import annotations

from pathlib import Path

from palprep.escaping import escaped
from palprep.fixes.done import FixDone
from palprep.rules.report import Report
from palprep.values import Value


class Prepared(Value):
    """A file that is ready to be published, with the proof.

    ``report`` is the output's own; ``fixes`` is empty when the source was fit as it was, and
    the output is then a copy of it byte for byte. ``sha256`` is the output's, in hex, and
    ``source_sha256`` that of the source. ``consent`` is the statement as a consent video of its
    own, where it was split out. ``source`` is the source's path, or the name under which it was
    given. ``print`` shows where the file is, what was fixed, and the report.
    """

    source: str
    source_sha256: str
    path: Path
    report: Report
    fixes: tuple[FixDone, ...]
    sha256: str
    consent: Prepared | None = None

    def __str__(self) -> str:
        done = [f"fixed {fix.id}: {fix.did}" for fix in self.fixes] or ["copied as it was"]
        return "\n".join(
            (escaped(f"{self.source} -> {self.path}"), *map(escaped, done), self.report.table())
        )
