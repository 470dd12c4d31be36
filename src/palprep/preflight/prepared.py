"""A prepared file as a value, apart from what makes it: reading it needs no decoder."""

from __future__ import annotations

from palprep.fixes.done import FixDone
from palprep.rules.report import Report
from palprep.values import Value


class Prepared(Value):
    """A file that is ready to be published, with the proof.

    ``report`` is the output's own; ``fixes`` is empty when the source was fit as it was, and
    the output is then a copy of it byte for byte. ``sha256`` is the output's, in hex, and
    ``source_sha256`` that of the source. ``consent`` is the statement as a consent video of its
    own, where it was split out.
    """

    source: str
    source_sha256: str
    path: str
    report: Report
    fixes: tuple[FixDone, ...]
    sha256: str
    consent: Prepared | None = None
