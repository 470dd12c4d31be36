"""The consent dossier: what can be shown to anyone who asks whether a person agreed.

A dossier is a chain of entries. Each entry holds the SHA-256 of the one before, so the chain
breaks when anything is changed, removed or inserted. Entries are only added. The first one records
the evidence; :data:`EntryKind` says what later ones record.

Pure values: the time and the hashes of the files are arguments, and the caller writes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, AwareDatetime

from palprep import rules
from palprep.consent import ConsentFacts
from palprep.rules import texts
from palprep.rules.consent import (
    ConsentDecision,
    ConsentEvidence,
    ConsentFile,
    ConsentState,
    consent_doubts,
    consent_failures,
    consent_state,
    files_doubts,
)
from palprep.values import Outcome, Value

_START = "0" * 64

REPLACED = "Another video took its place."
"""The note of a removal, where a new video of the same name replaced the old one."""

EntryKind = Literal["evidence", "decision", "lapse", "expiry", "revocation", "waiver", "removal"]
"""What an entry records.

The last evidence counts: the same video may be judged again, for another name or by another model.
The last decision counts, until a lapse says that it no longer does; and the last expiry. A
revocation counts from when it is written. No entry takes it back: a new statement is a new dossier.
A waiver is the decision to go on although consent was not heard as required; its note says what was
missing. It does not put consent in force.
"""

_Time = Annotated[AwareDatetime, AfterValidator(lambda each: each.astimezone(dt.UTC))]


def _without_folders(name: str) -> str:
    if name in {"", ".."} or PurePath(name).name != name:
        raise ValueError(f"{name!r} is not the name of a file")
    return name


class FileProof(Value):
    """A file as it was when the entry was written."""

    name: Annotated[str, AfterValidator(_without_folders)]
    sha256: str
    size_bytes: int | None
    """None for a file that was not on the machine that wrote the entry."""


class ConsentCheck(Value):
    """A check beyond the words, for example that one face is seen and is the same."""

    id: str
    outcome: Outcome
    sentence: str
    """What the check found, as the report says it."""


class Entry(Value):
    """One entry. ``sha256`` is over all other fields in canonical JSON."""

    schema_name: Literal["palprep-consent-dossier/3"] = "palprep-consent-dossier/3"
    """It changes with what an entry holds."""
    number: int
    kind: EntryKind
    written_at: _Time
    previous_sha256: str
    person: str
    consent: ConsentFacts | None = None
    """The statement as required and as heard, with the timeline of its words."""
    source: FileProof | None = None
    output: FileProof | None = None
    code: FileProof | None = None
    """The video with statement and fresh code in one take, where the code was cut from the output.
    """
    checks: tuple[ConsentCheck, ...] = ()
    tools: Mapping[str, str] = {}
    """Versions of what measured, package name to version; and the ``profile`` that judged."""
    decision: ConsentDecision | None = None
    expires_at: _Time | None = None
    revoked_at: _Time | None = None
    note: str | None = None
    sha256: str


class Dossier(Value):
    """All entries about one person and one prepared file, oldest first."""

    entries: tuple[Entry, ...]

    def _last(self, *kinds: EntryKind) -> Entry | None:
        return next((each for each in reversed(self.entries) if each.kind in kinds), None)

    @property
    def evidence(self) -> Entry:
        """What was found when the video was judged last."""
        return self._last("evidence") or self.entries[0]

    @property
    def waivers(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind == "waiver")

    @property
    def removal(self) -> Entry | None:
        """The last record that the video was removed on purpose; its note says why."""
        return self._last("removal")

    @property
    def decision(self) -> ConsentDecision | None:
        """The last decision; None where there is none, or where a lapse follows it."""
        last = self._last("decision", "lapse")
        return last.decision if last else None

    @property
    def consent(self) -> ConsentState:
        """Whether consent holds by the evidence and the decision that counts. Expiry and revocation
        are left aside."""
        entry, decision = self.evidence, self.decision
        checks = [rules.Check(label=each.id, **dict(each)) for each in entry.checks]
        against = tuple(
            each.sentence
            for each in checks
            if each.id in rules.PAIR_CHECKS and each.outcome is Outcome.FAIL
        )
        missing = consent_failures(checks)
        if not missing and (entry.consent is None or not entry.consent.outcome.passed):
            missing = ["The statement of consent was not heard as required."]
        files: tuple[ConsentFile, ...] = ()
        if (video := entry.output) is not None:
            file = ConsentFile(role=None, path=video.name, sha256=video.sha256, source_sha256=None)
            files = (file,)
        evidence = ConsentEvidence(
            files=files,
            against=against,
            missing=tuple(missing),
            doubts=(*consent_doubts(checks, entry.consent), *files_doubts(checks)),
            refused=(decision.words,) if decision and not decision.accepted else (),
        )
        return consent_state(evidence, decision)

    def in_force(self, now: dt.datetime) -> bool:
        """Whether consent holds, and has neither expired nor been taken back."""
        return self.consent.state == "holds" and not self.ended(now)

    def is_open(self, now: dt.datetime) -> bool:
        """Whether only a doubt keeps the consent from being in force: a person must decide."""
        return self.consent.state == "open" and not self.ended(now)

    def ended(self, now: dt.datetime) -> tuple[str, ...]:
        """Why the consent has ended, in sentences: it was taken back, or it expired. What was taken
        back stays so under a clock that was set back since."""
        expires = self.expires_at
        ends = {
            "The person took the consent back": self.revoked_at,
            "The consent expired": expires if expires and expires <= now else None,
        }
        return tuple(f"{why} on {texts.stamp(at)}." for why, at in ends.items() if at)

    @property
    def expires_at(self) -> dt.datetime | None:
        """The expiry that was recorded last, which counts."""
        return next((each.expires_at for each in reversed(self.entries) if each.expires_at), None)

    @property
    def revoked_at(self) -> dt.datetime | None:
        return min((each.revoked_at for each in self.entries if each.revoked_at), default=None)


class Flaw(NamedTuple):
    """A reason why a dossier does not prove what it says."""

    entry: int | None
    problem: str


def extended(
    dossier: Dossier, *, kind: EntryKind, written_at: dt.datetime, **fields: Any
) -> Dossier:
    """The dossier with one more entry, which has these ``fields``. Times need a time zone. A
    revocation is dated ``written_at``, unless the fields name another time."""
    entries = dossier.entries
    if kind == "revocation":
        fields.setdefault("revoked_at", written_at)
    if entries:
        fields["person"] = dossier.evidence.person
    draft = Entry(
        number=len(entries) + 1,
        kind=kind,
        written_at=written_at,
        previous_sha256=entries[-1].sha256 if entries else _START,
        sha256="",
        **fields,
    )
    return Dossier(entries=(*entries, draft.model_copy(update={"sha256": _digest(draft)})))


def verify_dossier(dossier: Dossier) -> tuple[Flaw, ...]:
    """Every flaw of the chain; empty when it is intact. The files are not looked at."""
    flaws = []
    previous = _START
    for place, entry in enumerate(dossier.entries, start=1):
        if entry.number != place:
            flaws.append(Flaw(entry.number, f"stands in place {place}: an entry is missing"))
        if entry.previous_sha256 != previous:
            flaws.append(Flaw(entry.number, "does not follow the entry before it"))
        if _digest(entry) != entry.sha256:
            flaws.append(Flaw(entry.number, "was changed after it was written"))
        previous = entry.sha256
    if not dossier.entries or dossier.entries[0].kind != "evidence":
        flaws.append(Flaw(None, "the dossier does not begin with its evidence"))
    return tuple(flaws)


def _digest(entry: Entry) -> str:
    data = entry.model_dump(mode="json", exclude={"sha256"})
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
