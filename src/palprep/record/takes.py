"""The takes of one person: every try at a file, the findings about it, and which one is kept.

A take and its findings are files in the hidden folder ``.takes`` of the person's folder, which no
run reads. The take that is kept has a second name in the person's folder, and person.toml names
that for its role. So the folder is the only state.
"""

from __future__ import annotations

import contextlib
import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from palprep import fixes, storage, system
from palprep.batch import people
from palprep.errors import UsageError
from palprep.rules import Profile, Report, consent
from palprep.rules.plans import answered
from palprep.rules.texts import ask_of
from palprep.values import Outcome, Role, Value

TAKES_NAME = ".takes"


class By(StrEnum):
    """Who wrote the file: the browser, or a camera or another program."""

    BROWSER = "browser"
    FILE = "file"


_FOUND = re.compile(r"(\d{3,})-([a-z-]+)\.json")


class Finding(Value):
    outcome: Outcome
    sentence: str
    advice: str | None = None


class Take(Value):
    """One try. The ``verdict`` is ``good``, or that a person must ``decide`` about the consent, or
    that the take must be made ``again``. It is None while the take is being checked."""

    number: int
    role: Role
    by: By
    name: str
    """Its file in :data:`TAKES_NAME`; empty if that was no media, or cannot be used."""
    verdict: Literal["good", "decide", "again"] | None = None
    findings: tuple[Finding, ...] = ()
    picture: bool = False
    kept_as: str | None = None
    """Its name in the person's folder, if it is the take that is kept."""

    @property
    def stem(self) -> str:
        return f"{self.number:03}-{self.role.value}"

    def failed(self, why: str, advice: str | None = None) -> Take:
        findings = (Finding(outcome=Outcome.FAIL, sentence=why, advice=advice),)
        return self.model_copy(update={"verdict": "again", "findings": findings})


class Takes:
    """The takes in a person's ``folder``, which is made if it is missing. Raises OutputUnwritable
    for a folder that cannot be used, UsageError for a link in the place of ``.takes``, and while
    another program has these takes open."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, folder / TAKES_NAME
        # Whoever can write into the folder must not choose where recordings go.
        if os.path.islink(self.place):  # noqa: PTH114 -- Path.is_symlink raises
            raise UsageError(f"{self.place} is a link: remove it")
        self._made = [] if storage.is_there(folder) else [folder]
        storage.output_folder(self.place)
        self._lock = contextlib.ExitStack()
        if not self._lock.enter_context(system.locked(self.place)):
            self._lock.close()
            raise UsageError(f"Another page records into {folder}: close that one first")
        for part in self.place.glob("*.part*"):  # Of a server that was killed.
            part.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder of the takes if it is empty, also one of a server that was killed; and
        then the person's, if it was made: a run would miss files there."""
        with self._lock, contextlib.suppress(OSError):
            for each in (self.place, *self._made):
                each.rmdir()

    def all(self) -> list[Take]:
        """Every take that can be read, the oldest first."""
        found = []
        for path in self.place.iterdir():
            if _FOUND.fullmatch(path.name) and not path.is_symlink():
                with contextlib.suppress(OSError, ValidationError):
                    found.append(Take.model_validate_json(path.read_bytes()))
        return sorted(found, key=lambda each: each.number)

    def begin(self, role: Role, by: By) -> Take:
        """A new take with the next number. Its file is still to come."""
        matched = filter(None, (_FOUND.fullmatch(each.name) for each in self.place.iterdir()))
        number = max((int(each[1]) for each in matched), default=0) + 1
        take = Take(number=number, role=role, by=by, name="")
        path = self.place / f"{take.stem}.json"
        # Two pages may begin at once, with the same role or with two.
        with contextlib.suppress(FileExistsError):
            os.close(storage.opener(os.fspath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            if [*self.place.glob(f"{number:03}-*.json")] == [path]:
                return take
            path.unlink()
        return self.begin(role, by)

    def note(self, take: Take) -> Take:
        """Write the take's findings. Raises OSError where the folder was moved away; no second
        one is made."""
        self.place.stat()
        path = self.place / f"{take.stem}.json"
        storage.write_text(path, take.model_dump_json(), lasting=False)
        return take

    def file(self, take: Take) -> Path:
        """The take's file, which is never outside the folder, whatever its name says."""
        return self.place / Path(take.name).name

    def picture(self, take: Take) -> Path:
        return self.place / f"{take.stem}-seen.svg"

    def use(self, take: Take) -> Take:
        """Keep the take as the file of its role, for ``run``. The one kept before stays a take."""
        before = [each for each in self.all() if each.role is take.role and each.kept_as]
        origin = "-from-browser" if take.by is By.BROWSER else ""
        stem, source = self.folder / f"{take.role.value}{origin}", self.file(take)
        target = stem.with_name(stem.name + source.suffix)
        if not (target.is_file() and target.samefile(source)):  # Of a server that was killed.
            target = fixes.second_name(source, stem, source.suffix)
        name = target.name
        people.write_setting(self.folder, take.role.value, name, table="files")
        for each in before:
            old = self.folder / Path(each.kept_as or "").name
            if old.name != name and old.is_file() and old.samefile(self.file(each)):
                old.unlink()
            self.note(each.model_copy(update={"kept_as": None}))
        return self.note(take.model_copy(update={"kept_as": name}))


def judged(take: Take, report: Report, profile: Profile, language: str = "en") -> Take:
    """The take with the verdict and the findings of its report, without findings that ``run`` can
    fix."""
    if report.error is not None:
        # No run can use it, so it has no file.
        ask = ask_of(report.error.code, language, report.error.message)
        return take.failed(ask.why, ask.advice).model_copy(update={"name": ""})
    mended = answered(report, profile)
    failed, warned = (
        [each for each in report.told(outcome) if each.id not in mended]
        for outcome in (Outcome.FAIL, Outcome.WARN)
    )
    asked = (ask_of(each.id, language, report.why(each), each.advice) for each in failed)
    decides = take.role is Role.CONSENT_VIDEO and not failed
    doubts = consent.consent_doubts(report.checks, report.consent) if decides else ()
    known = {said for each in doubts for said in (each.check, each.sentence)}
    others = (each for each in warned if not known & {each.id, each.sentence})
    findings = (
        *(Finding(outcome=Outcome.FAIL, sentence=each.why, advice=each.advice) for each in asked),
        *(Finding(outcome=Outcome.WARN, sentence=each.sentence) for each in doubts),
        *(Finding.model_validate(each, from_attributes=True) for each in others),
    )
    verdict = "again" if failed else "decide" if doubts else "good"
    return take.model_copy(update={"verdict": verdict, "findings": findings})
