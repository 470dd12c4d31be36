"""What workers do: functions of picklable values, importable wherever a worker runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, model_validator

from palprep.errors import FileMissing, MediaError, OutputUnwritable, PalprepError, ToolMissing
from palprep.preflight import Prepared, check, prepare, sha256_of
from palprep.rules.report import Report
from palprep.rules.roles import Outcome, Role
from palprep.values import Value

Verify = Callable[..., Value]
"""``verify(path, full_name=…, statement=…)``: a value with ``outcome`` and ``reasons``, whose
outcome is ``pass``, ``warn``, ``fail`` or ``unknown``."""


class SpokenWord(Value):
    """One word of the required statement, or one that was added. Times in seconds."""

    model_config = ConfigDict(extra="ignore")

    expected: str | None = None
    heard: str | None = None
    start: float | None = None
    end: float | None = None
    probability: float | None = None
    outcome: Outcome


class SpokenConsent(Value):
    """What a verification found, as far as results show it; the journal has it whole."""

    model_config = ConfigDict(extra="ignore")

    outcome: Outcome
    path: str
    reasons: tuple[str, ...] = ()
    transcript: str = ""
    starts_at: float | None = None
    ends_at: float | None = None
    words: tuple[SpokenWord, ...] = ()


class AssetTask(Value):
    """One file to prepare for one role."""

    source: str
    into: str
    role: Role
    profile: str


class Asset(Value):
    """What became of it: either ``prepared``, or the source's own report and, where no
    check says it, why it could not be prepared."""

    role: Role
    source: str
    source_sha256: str | None
    prepared: Prepared | None = None
    source_report: Report | None = None
    problem: str | None = None
    seconds: float
    """Time spent on it, of the wall clock."""

    @model_validator(mode="after")
    def _one_report(self) -> Self:
        if (self.prepared is None) == (self.source_report is None):
            raise ValueError("an asset has the report of its output or of its source")
        return self

    @property
    def report(self) -> Report:
        """The report that counts: the output's if there is one."""
        report = self.prepared.report if self.prepared else self.source_report
        assert report is not None  # noqa: S101 -- by _one_report
        return report

    def recorded(self) -> dict[str, Any]:
        """As the journal keeps it: what validates into the same asset again."""
        return self.model_dump(mode="json", round_trip=True)


def fingerprint(source: str) -> str:
    """SHA-256 of a source. Raises FileMissing when it is gone or cannot be read."""
    try:
        return sha256_of(Path(source))
    except OSError as error:
        raise FileMissing(f"{source} cannot be read: {error.strerror}") from None


def prepare_asset(task: AssetTask, source_sha256: str) -> Asset:
    """Prepare one file. A file that cannot be used gives an asset whose report fails.

    Raises OutputUnwritable when the output folder is full or read-only: that is nobody's
    file's fault.
    """
    started = time.perf_counter()
    prepared, report, problem = None, None, None
    try:
        prepared = prepare(
            task.source, into=_folder(task.into), role=task.role, profile=task.profile
        )
    except OutputUnwritable:
        raise
    except (MediaError, PalprepError) as error:
        report = check(task.source, role=task.role, profile=task.profile)
        problem = error.message
    return Asset(
        role=task.role,
        source=task.source,
        source_sha256=source_sha256,
        prepared=prepared,
        source_report=report,
        problem=problem,
        seconds=round(time.perf_counter() - started, 3),
    )


def verify_spoken(
    verify: Verify, path: str, full_name: str, statement: str | None
) -> dict[str, Any]:
    """Verify the consent spoken in a file; ``unknown`` when nothing here can listen."""
    try:
        given = {"statement": Path(statement)} if statement else {}
        return verify(path, full_name=full_name, **given).to_json()
    except ToolMissing as error:
        return {"outcome": Outcome.UNKNOWN.value, "reasons": [error.message]}


def default_verify(path: str, *, full_name: str, **options: Any) -> Value:
    """palprep's own verification. Imported late: it loads a speech model."""
    from palprep.speech.verify import verify_consent  # noqa: PLC0415 -- see above

    return verify_consent(path, full_name=full_name, **options)


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(f"{folder} cannot be made: {error.strerror}") from None
    return folder
