"""What workers do: functions of picklable values, importable wherever a worker runs."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from palprep.consent.facts import ConsentFacts
from palprep.errors import FileMissing, OutputUnwritable, PalprepError
from palprep.facts.probe import Speaker
from palprep.media.source import sha256_of
from palprep.preflight.check_and_prepare import Preflight
from palprep.preflight.prepared import Prepared
from palprep.preflight.same_person import same_person
from palprep.rules.report import Check, Report
from palprep.values import Role, Value


class AssetTask(Value):
    """One file to prepare for one role. ``speaker`` is whose consent is listened for in it,
    ``consent_apart`` says that another video gives it, ``split_consent`` makes that video.
    """

    source: str
    into: str
    role: Role
    profile: str
    speaker: Speaker | None = None
    consent_apart: bool = False
    split_consent: bool = False


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

    @property
    def consent(self) -> ConsentFacts | None:
        """What was heard of the consent statement; None where nobody listened for it."""
        return self.report.facts.consent if self.report.facts else None

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
    preflight = _preflight(task.profile)
    into = _folder(task.into)
    try:
        prepared = preflight.prepare(
            task.source,
            into=into,
            role=task.role,
            speaker=task.speaker,
            consent_apart=task.consent_apart,
            split_consent=task.split_consent,
        )
    except OutputUnwritable:
        raise
    except PalprepError as error:
        report = preflight.check(
            task.source, role=task.role, speaker=task.speaker, consent_apart=task.consent_apart
        )
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


def compare_faces(paths: tuple[str, ...], profile: str) -> tuple[Check, ...]:
    """One check per pair of pictures and videos: do they show one person?"""
    return same_person(paths, models=_preflight(profile).toolkit.models)


@functools.lru_cache(maxsize=2)
def _preflight(profile: str) -> Preflight:
    """Kept by each worker, with the models that it has loaded."""
    return Preflight(profile)


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(f"{folder} cannot be made: {error.strerror}") from None
    return folder
