"""The takes of one person: every try at a file, what was found of it, and which one is kept.

A take lies in the hidden folder ``.takes`` of the person's folder, which no run looks into, with
what was found of it beside it. The take that is kept has a second name in the person's folder, and
person.toml names that for its role. So the folder is all the state there is.
"""

from __future__ import annotations

import contextlib
import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from palprep import fixes, storage
from palprep.batch import people
from palprep.errors import UsageError
from palprep.rules import Profile, Report, consent
from palprep.rules.plans import answered
from palprep.rules.texts import ask_of
from palprep.values import Outcome, Role, Value

TAKES_NAME = ".takes"


class By(StrEnum):
    """Who wrote it: the browser; or a camera or another program, whose file was dropped in."""

    BROWSER = "browser"
    FILE = "file"


_FOUND = re.compile(r"(\d{3,})-([a-z-]+)\.json")


class Finding(Value):
    outcome: Outcome
    sentence: str
    advice: str | None = None


class Take(Value):
    """One try. ``verdict`` says whether it is ``good``; whether a person must ``decide`` about the
    consent; or that it must be made ``again``. It is None while it is being checked.
    """

    number: int
    role: Role
    by: By
    name: str
    """Of its file in :data:`TAKES_NAME`; empty for what was no media, or cannot be used."""
    verdict: Literal["good", "decide", "again"] | None = None
    findings: tuple[Finding, ...] = ()
    picture: bool = False
    kept_as: str | None = None
    """Its name in the person's folder, where it is the one that is kept."""

    @property
    def stem(self) -> str:
        return f"{self.number:03}-{self.role.value}"

    def failed(self, why: str, advice: str | None = None) -> Take:
        told = (Finding(outcome=Outcome.FAIL, sentence=why, advice=advice),)
        return self.model_copy(update={"verdict": "again", "findings": told})


class Takes:
    """The takes in a person's ``folder``, which is made if it is missing. Raises OutputUnwritable
    for one that cannot be used, UsageError for a link in its place."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, folder / TAKES_NAME
        # Who can write into the folder must not choose where recordings go.
        if os.path.islink(self.place):  # noqa: PTH114 -- Path.is_symlink raises
            raise UsageError(f"{self.place} is a link: remove it")
        self._made = [each for each in (self.place, folder) if not storage.is_there(each)]
        storage.output_folder(self.place)
        for part in self.place.glob("*.part*"):  # Of a server that was killed.
            part.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folders that were made and hold nothing: a run would miss its files there."""
        with contextlib.suppress(OSError):
            for each in self._made:
                each.rmdir()

    def all(self) -> list[Take]:
        """Every take, the oldest first. What cannot be read is none."""
        found = []
        for path in self.place.iterdir():
            if _FOUND.fullmatch(path.name) and not path.is_symlink():
                with contextlib.suppress(OSError, ValidationError):
                    found.append(Take.model_validate_json(path.read_bytes()))
        return sorted(found, key=lambda each: each.number)

    def begin(self, role: Role, by: By) -> Take:
        """A take with a number of its own, of which there is no file yet."""
        matched = filter(None, (_FOUND.fullmatch(each.name) for each in self.place.iterdir()))
        number = max((int(each[1]) for each in matched), default=0) + 1
        take = Take(number=number, role=role, by=by, name="")
        try:
            path = os.fspath(self.place / f"{take.stem}.json")
            os.close(storage.opener(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:  # Two pages begin at once.
            return self.begin(role, by)
        return take

    def note(self, take: Take) -> Take:
        path = self.place / f"{take.stem}.json"
        storage.write_text(path, take.model_dump_json(), lasting=False)
        return take

    def file(self, take: Take) -> Path:
        """Where its file is: never outside of the folder, whatever was written down."""
        return self.place / Path(take.name).name

    def picture(self, take: Take) -> Path:
        return self.place / f"{take.stem}-seen.svg"

    def use(self, take: Take) -> Take:
        """Keep the take as the file of its role, for ``run``. What was kept before stays a take."""
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
    """The take with what its report comes to, without what a fix of ``run`` will put right."""
    if report.error is not None:
        # No run can use it, whoever keeps it.
        said = ask_of(report.error.code, language, report.error.message)
        return take.failed(said.why, said.advice).model_copy(update={"name": ""})
    mended = answered(report, profile)
    failed, warned = (
        [each for each in report.told(outcome) if each.id not in mended]
        for outcome in (Outcome.FAIL, Outcome.WARN)
    )
    asked = (ask_of(each.id, language, report.why(each), each.advice) for each in failed)
    told = [
        *(Finding(outcome=Outcome.FAIL, sentence=each.why, advice=each.advice) for each in asked),
        *(Finding.model_validate(each, from_attributes=True) for each in warned),
    ]
    verdict: Literal["good", "decide", "again"] = "good"
    if failed:
        verdict = "again"
    elif take.role is Role.CONSENT_VIDEO and (
        doubts := consent.consent_doubts(report.checks, report.consent)
    ):
        verdict = "decide"
        known = {each.sentence for each in doubts}
        told = [
            *(Finding(outcome=Outcome.WARN, sentence=each.sentence) for each in doubts),
            *(each for each in told if each.sentence not in known),
        ]
    return take.model_copy(update={"verdict": verdict, "findings": tuple(told)})
