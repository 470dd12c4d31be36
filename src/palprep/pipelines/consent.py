"""The consent gate: whether a replica may be made of a video, and what goes on file about it.

Consent is given in the opening of the training video, or in a video of its own. The
statement must have been heard, the files must show one person and hold one voice, and what is left
in doubt a named person must have accepted.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from palprep import dossier as dossiers, journal as journals, rules
from palprep.errors import UsageError
from palprep.journal import entries
from palprep.media.sources import sha256_of
from palprep.preflight import Asset, Prepared
from palprep.rules import consent
from palprep.values import Outcome, typed

Judged = Asset | Prepared
"""A file of the user's with the report that counts."""

_STOPPED = "stopped"
"""The key under which a dossier that tells of a refusal or a revocation is found for whomever."""

_TAKE = "That was said of the same take, in another file or beside other files."


def consent_evidence(
    video: Judged | None,
    apart: Judged | None,
    compared: Sequence[rules.Check] = (),
    recording: Judged | None = None,
) -> consent.ConsentEvidence:
    """What is known of the consent to a replica of a ``video``, which may be in a video ``apart``.
    What fails in either is missing, and a doubt in either holds it, also where the other one would
    do. Without ``video`` nothing is trained, and nothing has to be heard. ``compared`` holds the
    checks that compare these files; a ``recording`` is evidence, too, where they leave a doubt.
    """
    judged = [each for each in (video, apart) if each is not None]
    missing = [
        f"{named(each)}: {failed}"
        for each in judged
        for failed in consent.consent_failures(each.report.checks)
    ]
    if video is not None and not missing:
        lacking = consent.lacks_consent(video.report, apart.report if apart else None)
        missing = [f"{named(video)}: {lacking}"] if lacking else []
    doubts = [
        doubt
        for each in judged
        for doubt in consent.consent_doubts(each.report.checks, each.report.consent, named(each))
    ]
    if unlike := consent.likeness_doubts(compared):
        doubts += unlike
        judged += [recording] if recording is not None else []
    return consent.ConsentEvidence(
        files=tuple(map(_file, judged)),
        against=tuple(check.message for check in compared if check.outcome is Outcome.FAIL),
        missing=tuple(missing),
        doubts=() if missing else tuple(doubts),
    )


def _file(judged: Judged) -> consent.ConsentFile:
    made = judged.prepared if isinstance(judged, Asset) else judged
    return consent.ConsentFile(
        role=judged.report.role,
        path=str(made.path if made else judged.source),
        sha256=made.sha256 if made else judged.source_sha256 or "",
        source_sha256=judged.source_sha256,
    )


@typed("journal", "person", "by", "because")
def decide(
    journal: journals.Journal | str | Path, person: str, *, accept: bool, by: str, because: str
) -> consent.ConsentDecision:
    """Record that somebody decided about the doubts of a person's consent, in the journal and in
    the dossiers, after which evidence: files, doubts, and the seconds that are in doubt.

    ``journal`` is an open journal, or the folder of one; ``person`` the name of the person's
    folder, the name or the full name. ``by`` is a claim: nothing proves who decides. The next
    ``run`` or :func:`make_replica` goes by it, until a file changes, or there is a new doubt. A
    later decision takes its place; both stay on record.

    Raises UsageError if nobody or more than one has this name, if ``by`` or ``because`` has neither
    letter nor digit, if nothing is in doubt, if something fails, which no decision changes, or if a
    file was changed since. Raises JournalError without a journal, and DossierUnusable.
    """
    by, because = by.strip(), because.strip()
    if not all(any(map(str.isalnum, each)) for each in (by, because)):
        raise UsageError("A decision needs the name of who decides (by), and a reason (because)")
    with contextlib.ExitStack() as until_recorded:
        if not isinstance(journal, journals.Journal):
            journal = until_recorded.enter_context(journals.Journal.of(journal))
        root = journal.path.parent if journal.path else Path()
        slug = journals.find_person(journal, person)
        if slug is None:
            raise journals.nobody(journal, person)
        told = journal.standing("consent_found", people=[slug])
        found = [each.body.evidence for each in told if isinstance(each.body, entries.ConsentFound)]
        evidence = _decidable(found[-1] if found else consent.ConsentEvidence(), slug, root)
        kept = {root / each.body.path for each in journal.entries(entries.DossierKept, person=slug)}
        # The others wait here, so that journal and dossiers tell the decisions in one order.
        writers = {
            path: until_recorded.enter_context(dossiers.sole_writer(path))
            for path in sorted(kept)
            if path.is_file() and evidence.is_about(dossiers.read_dossier(path).consent.evidence)
        }
        now = journal.now()
        decision = consent.ConsentDecision(
            accepted=accept, by=by, because=because, decided_at=now, evidence=evidence
        )
        journal.append(entries.ConsentDecided(decision=decision), person=slug)
        for path, add in writers.items():
            keep_in_journal(
                journal, slug, path, add(kind="decision", written_at=now, decision=decision)
            )
        return decision


def _decidable(
    evidence: consent.ConsentEvidence, person: str, root: Path
) -> consent.ConsentEvidence:
    """The evidence, where there is something to decide about, and its files are as they were."""
    if missing := (*evidence.against, *evidence.missing, *evidence.ended):
        raise UsageError(
            f"No decision gives {person} the consent that is missing. {' '.join(missing)} Have the "
            "statement recorded again"
        )
    if not (evidence.doubts or evidence.refused):
        raise UsageError(f"There is nothing to decide about {person}: no consent is in doubt")
    for file in evidence.files:
        path = root / file.path
        if path.is_file() and sha256_of(path) != file.sha256:
            raise UsageError(f"{path} has changed since it was judged: run it again, then decide")
    return evidence


def named(judged: Judged) -> str:
    """The file as its owner knows it, with its role."""
    role = judged.report.role
    name = Path(judged.source).name
    return f"{name} ({role.value})" if role else name


@dataclass(frozen=True)
class ConsentGate:
    """Whether a replica may be made of a person's ``files``: by the ``evidence`` and by what has
    been decided. Files of different people are told apart from it: the caller sees to them. To
    ``waive`` is to go on whatever is missing or in doubt, but not over a refusal or an end.
    """

    journal: journals.Journal
    person: str
    files: tuple[Prepared, ...]
    evidence: consent.ConsentEvidence
    waive: bool

    def now(self) -> consent.ConsentState:
        """What the evidence comes to now: somebody may have decided, or taken a consent back, since
        it was settled. Nothing is put on file."""
        state = consent.consent_state(*self._looked_up(_kept(self.journal, person=self.person)))
        return state.waived() if self.waive else state

    def settle(
        self, compared: tuple[rules.Check, ...], key: str | None = None
    ) -> consent.ConsentState:
        """What the evidence comes to with the last decision, put on file whether or not it
        suffices.

        Each file in which the statement was listened for gets a dossier next to it, which the
        journal keeps, too, and puts back where it has gone. A consent that its dossier, or that of
        another file made of the same source, for whomever, or of the same take, says was taken
        back, or has expired, has ended. ``compared`` holds the checks that compare the files. The
        journal records a waiver, under the ``key`` of the replica where it is known, and so do the
        dossiers, as they record a decision that counts for this evidence, or counts no more.

        Raises DossierUnusable for a dossier that was changed, or is not the one that the journal
        keeps, and OutputUnwritable.
        """
        journal, person, now = self.journal, self.person, self.journal.now()
        kept = _kept(journal, person=person)
        evidence, decision = self._looked_up(kept)
        state = consent.consent_state(evidence.model_copy(update={"against": ()}), decision)
        waived = evidence.waivable if self.waive and state.state in {"open", "fails"} else ()
        if waived:
            journal.append(entries.ConsentWaived(why=waived), person=person, key=key)
        if (
            evidence.against
            or evidence.waivable
            or evidence.ended
            or journal.standing("consent_found", people=[person])
        ):
            placed = tuple(
                each.model_copy(update={"path": journal.named(Path(each.path)).as_posix()})
                for each in evidence.files
            )
            found = evidence.model_copy(update={"files": placed})
            journal.append(entries.ConsentFound(evidence=found), person=person)
        for file in self.files:
            path = dossiers.keep_dossier(file, person=person, written_at=now, compared=compared)
            if path is None:
                continue
            dossier = dossiers.read_dossier(path)
            if evidence.ended and not dossier.ended(now):
                ended = (each for each in self._about(file, kept) if each.ended(now))
                if (first := next(ended, None)) is not None:
                    dossier = dossiers.add_end(path, first, written_at=now)
            counts = decision if decision is not None and decision.covers(evidence) else None
            if dossier.decision != counts:
                dossier = dossiers.add_entry(
                    path, kind="decision" if counts else "lapse", written_at=now, decision=counts
                )
            why = " ".join(waived)
            if why and all(each.note != why for each in dossier.waivers):
                dossier = dossiers.add_entry(path, kind="waiver", written_at=now, note=why)
            keep_in_journal(journal, person, path, dossier)
            self._replaced(path, dossier, kept)
        return state.waived() if self.waive else state

    def _looked_up(
        self, kept: Mapping[str, dossiers.Dossier]
    ) -> tuple[consent.ConsentEvidence, consent.ConsentDecision | None]:
        """The evidence with what dossiers say of an end of the consent or of a refusal, and the
        last decision."""
        journal, evidence = self.journal, self.evidence
        told = journal.entries(entries.ConsentDecided, person=self.person)
        last = told[-1].body.decision if told else None
        said = {} if last is None or not last.covers(evidence) else {last.decided_at: (last, "")}
        ended = list[str]()
        # A waiver passes over no end: not where nobody listens now to the file that says it, nor
        # where that is gone.
        gone_on = self.waive and bool(evidence.missing)
        # By the dossiers that an earlier run wrote. What was said in a file that nobody listens to
        # now does not count: another one holds the statement.
        for file in self.files:
            heard = file.report.consent
            if heard is None and not gone_on:
                continue
            for dossier in self._about(file, kept):
                ended += (f"{named(file)}: {why}" for why in dossier.ended(journal.now()))
                counts = heard is None or heard.outcome.passed
                decisions = (each.decision for each in dossier.entries if counts)
                for each in filter(None, decisions):
                    words = f"{named(file)}: {each.words} {_TAKE}"
                    said.setdefault(each.decided_at, (each, words))
        in_force = any(each.in_force(journal.now()) for each in kept.values())
        if gone_on and not (ended or in_force):
            ended += (why for each in kept.values() for why in each.ended(journal.now()))
        if ended:
            over = tuple(dict.fromkeys(ended))
            evidence = evidence.model_copy(update={"ended": over, "doubts": ()})
        if said:
            latest, words = said[max(said)]
            if words and not latest.accepted:
                return evidence.model_copy(update={"refused": (words,)}), latest
        return evidence, last

    def _about(
        self, file: Prepared, kept: Mapping[str, dossiers.Dossier]
    ) -> list[dossiers.Dossier]:
        """The dossier of a file, and those of what was made of the same source before, for
        whomever: a folder of another name is no other consent. Nor is the same take in another
        file: by what is ``kept`` of the person, and of whomever where it was taken back or refused.
        Its own is put back where the journal alone still has it: what it records is not undone with
        the file. Where it says when the consent ends, no other says that."""
        journal, path = self.journal, dossiers.dossier_path(file)
        recorded = kept.get(journal.named(path).as_posix())
        if recorded is not None:
            dossiers.put_back(path, recorded)
        own = [dossiers.read_dossier(path)] if path.exists() else []
        dated = any(each.expires_at for each in own)
        heard = file.report.consent
        # Hundreds may have been stopped, and each file of a run is held against all of them.
        last = journal.latest(entries.DossierKept, _STOPPED, lambda each: (each.path, _read(each)))
        takes = [each for each in {**last, **kept}.values() if each]
        others = [
            *_kept(journal, key=file.source_sha256).values(),
            *(each for each in takes if heard and heard.same_take(each.evidence.consent)),
        ]
        return [
            *own,
            *(each for each in others if each.revoked_at or not (dated and each.expires_at)),
        ]

    def _replaced(
        self, path: Path, dossier: dossiers.Dossier, kept: Mapping[str, dossiers.Dossier]
    ) -> None:
        """Record in the dossiers of earlier videos that the one with this dossier took their
        place."""
        own, video = self.journal.named(path), dossier.evidence.output
        root = self.journal.path.parent if self.journal.path else Path()
        for name, earlier in kept.items():
            place, output = root / name, earlier.evidence.output
            beside = Path(name) != own and Path(name).parent == own.parent
            same = video is not None and output is not None and output.name == video.name
            if beside and same and earlier.removal is None and place.is_file():
                now, note = self.journal.now(), dossiers.REPLACED
                added = dossiers.add_entry(place, kind="removal", written_at=now, note=note)
                keep_in_journal(self.journal, self.person, place, added)


def journal_above(path: Path) -> Path | None:
    """The nearest folder above a file that holds a journal."""
    folders = path.resolve().parents
    return next((each for each in folders if (each / journals.JOURNAL_NAME).is_file()), None)


def add_to_dossier(path: Path, folder: Path | None = None, **entry: Any) -> None:
    """Add an entry as :func:`palprep.dossier.add_entry`. The journal that keeps the dossier, in
    ``folder`` or above it, keeps the entry, too: an older copy that is put into its place is told
    by that."""
    added, place = dossiers.add_entry(path, **entry), path.resolve()
    root = journal_above(path) if folder is None else folder.resolve()
    if root is None:
        return
    with journals.Journal.of(root) as journal:
        kept = journal.entries(entries.DossierKept)
        person = next((each.person for each in kept if root / each.body.path == place), None)
        if person is not None:
            keep_in_journal(journal, person, place, added)


def _kept(journal: journals.Journal, **of: str) -> dict[str, dossiers.Dossier]:
    """The dossiers of a ``person``, or of a source by its sha256, the ``key``, as the journal keeps
    them, by the paths that it gives them. Those of another version are left out: their files say
    so."""
    told = {each.body.path: each.body for each in journal.entries(entries.DossierKept, **of)}
    return {path: read for path, last in told.items() if (read := _read(last)) is not None}


def _read(kept: entries.DossierKept) -> dossiers.Dossier | None:
    with contextlib.suppress(ValidationError):
        dossier = dossiers.Dossier.model_validate(kept.dossier)
        return dossier if dossier.entries else None
    return None


def stopped_at(journal: journals.Journal) -> dict[str, dt.datetime]:
    """When each person's consent was taken back, or refused, last; of whom neither was recorded,
    nothing."""
    found: dict[str, dt.datetime] = {}
    for kept in journal.entries(entries.DossierKept, key=_STOPPED):
        dossier, person = _read(kept.body), kept.person or ""
        for each in dossier.entries if dossier else ():
            if each.revoked_at or (each.decision and not each.decision.accepted):
                found[person] = max(each.written_at, found.get(person, each.written_at))
    return found


def keep_in_journal(
    journal: journals.Journal, person: str, path: Path, dossier: dossiers.Dossier
) -> None:
    """Record what a dossier in a file holds now, under every key that it is found by."""
    kept = entries.DossierKept(path=journal.named(path).as_posix(), dossier=dossier.to_json())
    source = dossier.evidence.source
    journal.append(kept, person=person, key=source.sha256 if source else None)
    refused = any(each.decision and not each.decision.accepted for each in dossier.entries)
    if refused or dossier.revoked_at:
        journal.append(kept, person=person, key=_STOPPED)
