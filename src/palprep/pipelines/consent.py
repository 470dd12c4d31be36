"""The consent gate: whether a replica may be made of a video, and what is recorded about that.

Consent is given in the opening of the training video, or in a video of its own. The
statement must have been heard, the files must show one person and hold one voice, and what is left
in doubt a named person must have accepted.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from palprep import dossier as dossiers, journal as journals, rules
from palprep.errors import DossierUnusable, UsageError
from palprep.journal import entries
from palprep.media.sources import sha256_of
from palprep.preflight import Asset, Prepared
from palprep.rules import consent
from palprep.values import Outcome, typed

Judged = Asset | Prepared
"""A file of the user's with the report that counts."""

_STOPPED = "stopped"
"""The key of the entries about dossiers with a refusal or a revocation, of all people."""

_TAKE = "That was said of the same take, in another file or beside other files."


def consent_evidence(
    video: Judged | None,
    apart: Judged | None,
    compared: Sequence[rules.Check] = (),
    recording: Judged | None = None,
) -> consent.ConsentEvidence:
    """The evidence of consent to a replica of a ``video``; ``apart`` is the consent video, if there
    is one. What fails in either video is missing, and a doubt in either counts, even where the
    other video would suffice. Without ``video`` nothing is trained, and no statement is needed.
    ``compared`` holds the checks that compare the files. Where these leave a doubt, the
    ``recording`` belongs to the evidence, too."""
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
    if unlike := consent.files_doubts(compared):
        doubts += unlike
        judged += [recording] if recording is not None else []
    return consent.ConsentEvidence(
        files=tuple(map(_file, judged)),
        against=tuple(check.message for check in compared if check.outcome is Outcome.FAIL),
        missing=tuple(missing),
        doubts=() if missing else tuple(doubts),
    )


def _file(judged: Judged) -> consent.ConsentFile:
    prepared = judged.prepared if isinstance(judged, Asset) else judged
    return consent.ConsentFile(
        role=judged.report.role,
        path=str(prepared.path if prepared else judged.source),
        sha256=prepared.sha256 if prepared else judged.source_sha256 or "",
        source_sha256=judged.source_sha256,
    )


@typed("journal", "person", "accept", "by", "because")
def decide(
    journal: journals.Journal | str | Path, person: str, *, accept: bool, by: str, because: str
) -> consent.ConsentDecision:
    """Record a decision about the doubts of a person's consent, in the journal and in the dossiers,
    with its evidence: files, doubts, and the seconds that are in doubt.

    ``journal`` is an open journal, or the folder of one; ``person`` the name of the person's
    folder, the name or the full name. ``by`` is a claim: nothing proves who decides. The next
    ``run`` or :func:`make_replica` follows the decision, until a file changes, or there is a new
    doubt. A later decision takes its place; both stay on record.

    Raises UsageError if nobody or more than one has this name, if ``by`` or ``because`` has neither
    letter nor digit, if nothing is in doubt, if something fails, which no decision changes, or if a
    file has changed since. Raises JournalError without a journal, and DossierUnusable.
    """
    by, because = by.strip(), because.strip()
    if not all(any(map(str.isalnum, each)) for each in (by, because)):
        raise UsageError("A decision needs the name of who decides (by), and a reason (because)")
    with contextlib.ExitStack() as until_recorded:
        if not isinstance(journal, journals.Journal):
            journal = until_recorded.enter_context(journals.Journal.of(journal))
        slug = journals.find_person(journal, person)
        if slug is None:
            raise journals.nobody(journal, person)
        evidence = consent.ConsentEvidence()
        for each in journal.standing("consent_found", people=[slug]):
            if isinstance(each.body, entries.ConsentFound):
                evidence = each.body.evidence
        _require_decidable(evidence, slug, journal)
        kept = {each.body.path for each in journal.entries(entries.DossierKept, person=slug)}
        there = [path for path in map(journal.located, sorted(kept)) if path.is_file()]
        for path in there:
            restore_dossier(journal, slug, path)
        # Other writers wait, so that journal and dossiers hold the decisions in one order.
        writers = {
            path: until_recorded.enter_context(dossiers.sole_writer(path))
            for path in there
            if evidence.is_about(dossiers.read_dossier(path).consent.evidence)
        }
        now = journal.now()
        decision = consent.ConsentDecision(
            accepted=accept, by=by, because=because, decided_at=now, evidence=evidence
        )
        journal.append(entries.ConsentDecided(decision=decision), person=slug)
        for path, add in writers.items():
            add(kind="decision", written_at=now, decision=decision)
            keep_in_journal(journal, slug, path)
        return decision


def _require_decidable(
    evidence: consent.ConsentEvidence, person: str, journal: journals.Journal
) -> None:
    """Raises UsageError where there is nothing to decide about, or a file has changed."""
    if missing := (*evidence.against, *evidence.missing, *evidence.ended):
        raise UsageError(
            f"No decision gives {person} the consent that is missing. {' '.join(missing)} Have the "
            "statement recorded again"
        )
    if not (evidence.doubts or evidence.refused):
        raise UsageError(f"There is nothing to decide about {person}: no consent is in doubt")
    for file in evidence.files:
        path = journal.located(file.path)
        if path.is_file() and sha256_of(path) != file.sha256:
            raise UsageError(f"{path} has changed since it was judged: run it again, then decide")


def named(judged: Judged) -> str:
    """The name that its owner gave the file, with its role."""
    role = judged.report.role
    name = Path(judged.source).name
    return f"{name} ({role.value})" if role else name


@dataclass(frozen=True)
class ConsentGate:
    """Tells whether a replica may be made of a person's ``files``, by the ``evidence`` and by what
    has been decided. With ``waive`` the work goes on whatever is missing or in doubt, but not after
    a refusal or an end of the consent. Files of different people are the caller's concern."""

    journal: journals.Journal
    person: str
    files: tuple[Prepared, ...]
    evidence: consent.ConsentEvidence
    waive: bool

    def now(self) -> consent.ConsentState:
        """The state of the consent now: since it was settled, somebody may have decided, or taken
        the consent back. Nothing is recorded."""
        kept = _kept(self.journal, person=self.person)
        state = consent.consent_state(*self._evidence_and_decision(kept))
        return state.waived() if self.waive else state

    def settle(
        self, compared: tuple[rules.Check, ...], key: str | None = None
    ) -> consent.ConsentState:
        """The state of the consent by the evidence and the last decision. It is recorded, whatever
        it is.

        Each file in which the statement was listened for gets a dossier next to it. The journal
        keeps the dossier, too, and writes it again where the file has gone. A dossier also records
        whether the last decision counts for this evidence, a waiver, and an end of the consent that
        another dossier of the same source or take tells. ``compared`` holds the checks that compare
        the files. The journal records a waiver under the ``key`` of the replica, if it is known.

        Raises DossierUnusable for a dossier that was changed, or is not the one that the journal
        keeps, and OutputUnwritable.
        """
        journal, person, now = self.journal, self.person, self.journal.now()
        kept = _kept(journal, person=person)
        evidence, decision = self._evidence_and_decision(kept)
        counts = decision if decision is not None and decision.covers(evidence) else None
        state = consent.consent_state(evidence.model_copy(update={"against": ()}), decision)
        waived = evidence.waivable if self.waive and state.state in {"open", "fails"} else ()
        if waived:
            journal.append(entries.ConsentWaived(why=waived), person=person, key=key)
        found = (*evidence.against, *evidence.waivable, *evidence.ended, *evidence.refused)
        if found or journal.standing("consent_found", people=[person]):
            placed = tuple(
                each.model_copy(update={"path": journal.named(Path(each.path)).as_posix()})
                for each in evidence.files
            )
            body = entries.ConsentFound(evidence=evidence.model_copy(update={"files": placed}))
            journal.append(body, person=person)
        for file in self.files:
            path = dossiers.keep_dossier(file, person=person, written_at=now, compared=compared)
            if path is None:
                continue
            dossier = dossiers.read_dossier(path)
            if evidence.ended and not dossier.ended(now):
                ended = (each for each in self._dossiers_about(file, kept) if each.ended(now))
                if (first := next(ended, None)) is not None:
                    dossier = dossiers.add_end(path, first, written_at=now)
            if dossier.decision != counts:
                dossier = dossiers.add_entry(
                    path, kind="decision" if counts else "lapse", written_at=now, decision=counts
                )
            why = " ".join(waived)
            if why and all(each.note != why for each in dossier.waivers):
                dossier = dossiers.add_entry(path, kind="waiver", written_at=now, note=why)
            keep_in_journal(journal, person, path)
            self._record_replaced(path, dossier, kept)
        return state.waived() if self.waive else state

    def _evidence_and_decision(
        self, kept: Mapping[str, dossiers.Dossier]
    ) -> tuple[consent.ConsentEvidence, consent.ConsentDecision | None]:
        """The evidence, with an end or a refusal that dossiers record; and the last decision."""
        evidence, now = self.evidence, self.journal.now()
        decided = self.journal.entries(entries.ConsentDecided, person=self.person)
        last = decided[-1].body.decision if decided else None
        # Where another file holds the statement, what was said in a file that nobody listens to now
        # does not count. But a waiver passes over no end, whoever listens to the file that has it.
        waived = self.waive and bool(evidence.missing)
        about = [
            (file, self._dossiers_about(file, kept))
            for file in self.files
            if waived or file.report.consent is not None
        ]
        ended = [
            f"{named(file)}: {why}"
            for file, found in about
            for dossier in found
            for why in dossier.ended(now)
        ]
        # Nor does a waiver pass over the end that is recorded of a file that is gone.
        if waived and not (ended or any(each.in_force(now) for each in kept.values())):
            ended = [why for each in kept.values() for why in each.ended(now)]
        if ended:
            update = {"ended": tuple(dict.fromkeys(ended)), "doubts": ()}
            evidence = evidence.model_copy(update=update)
        decisions = {}
        if last is not None and last.covers(self.evidence):
            decisions[last.decided_at] = last, ""
        for file, found in about:
            if file.report.consent is None or file.report.consent.outcome.passed:
                # Within a dossier the order tells the last: the clock may have been set back.
                told = ([each.decision for each in one.entries if each.decision] for one in found)
                for each in (decided[-1] for decided in told if decided):
                    words = f"{named(file)}: {each.words} {_TAKE}"
                    decisions.setdefault(each.decided_at, (each, words))
        if decisions:
            latest, words = decisions[max(decisions)]
            if words and not latest.accepted:
                return evidence.model_copy(update={"refused": (words,)}), latest
        return evidence, last

    def _dossiers_about(
        self, file: Prepared, kept: Mapping[str, dossiers.Dossier]
    ) -> list[dossiers.Dossier]:
        """The file's own dossier; those of other files made of the same source, of all people,
        since a folder of another name is no other consent; and those of the same take, which are
        the person's ``kept`` ones, and of other people the refused and the revoked. A revoked one
        counts, too, that no journal keeps, but that lies beside the file.

        The own one is written again where only the journal still has it: what it records is not
        undone with the file. Where it says when the consent expires, the others do not count."""
        journal, path = self.journal, dossiers.dossier_path(file)
        recorded = kept.get(journal.named(path).as_posix())
        if recorded is not None:
            dossiers.put_back(path, recorded)
        own = [dossiers.read_dossier(path)] if path.exists() else []
        dated = any(each.expires_at for each in own)
        heard = file.report.consent
        # Hundreds may have been refused or revoked, and each file is compared with all of them.
        last = journal.latest(entries.DossierKept, _STOPPED, lambda each: (each.path, _read(each)))
        # They count also where an older copy was kept since, for another person.
        stopped = [*filter(None, last.values()), *(e for e in _beside(path) if e.revoked_at)]
        takes = (*stopped, *kept.values())
        others = [
            *_kept(journal, key=file.source_sha256).values(),
            *(each for each in stopped if _source_of(each) == file.source_sha256),
            *(each for each in takes if heard and heard.same_take(each.evidence.consent)),
        ]
        return [
            *own,
            *(each for each in others if each.revoked_at or not (dated and each.expires_at)),
        ]

    def _record_replaced(
        self, path: Path, dossier: dossiers.Dossier, kept: Mapping[str, dossiers.Dossier]
    ) -> None:
        """Record in the dossiers of earlier videos that this dossier's video replaced them."""
        own, video = self.journal.named(path), dossier.evidence.output
        for name, earlier in kept.items():
            place, output = self.journal.located(name), earlier.evidence.output
            beside = Path(name) != own and Path(name).parent == own.parent
            same = video is not None and output is not None and output.name == video.name
            if beside and same and earlier.removal is None and place.is_file():
                dossiers.put_back(place, earlier)
                now, note = self.journal.now(), dossiers.REPLACED
                dossiers.add_entry(place, kind="removal", written_at=now, note=note)
                keep_in_journal(self.journal, self.person, place)


def journal_above(path: Path) -> Path | None:
    """The nearest folder above a file that holds a journal."""
    folders = Path(os.path.realpath(path)).parents  # Path.resolve raises for a link to itself.
    return next((each for each in folders if (each / journals.JOURNAL_NAME).is_file()), None)


def add_to_dossier(path: Path, folder: Path | None = None, **entry: Any) -> None:
    """Add an entry as :func:`palprep.dossier.add_entry`, to what the journal in ``folder`` or above
    ``path`` keeps (:func:`restore_dossier`). It keeps the entry, too."""
    place = path.resolve()
    root = journal_above(path) if folder is None else folder.resolve()
    if root is None:
        dossiers.add_entry(path, **entry)
        return
    with journals.Journal.of(root) as journal:
        kept = journal.entries(entries.DossierKept)
        owners = (each.person for each in kept if journal.located(each.body.path) == place)
        person = next(owners, None)
        if person is not None:
            restore_dossier(journal, person, place)
        dossiers.add_entry(path, **entry)
        if person is not None:
            keep_in_journal(journal, person, place)


def restore_dossier(journal: journals.Journal, person: str, path: Path) -> None:
    """Put the dossier that the journal keeps back to ``path``, as :func:`palprep.dossier.put_back`:
    before an entry is added, or the journal would keep an older or a forged chain."""
    kept = _kept(journal, person=person).get(journal.named(path).as_posix())
    if kept is not None:
        dossiers.put_back(path, kept)


def _kept(journal: journals.Journal, **of: str) -> dict[str, dossiers.Dossier]:
    """The dossiers that the journal keeps of a ``person``, or of the source with the SHA-256
    ``key``, by their paths in it. Those of another version are left out: their files tell."""
    last = {each.body.path: each.body for each in journal.entries(entries.DossierKept, **of)}
    return {path: read for path, kept in last.items() if (read := _read(kept)) is not None}


def _read(kept: entries.DossierKept) -> dossiers.Dossier | None:
    with contextlib.suppress(ValidationError):
        dossier = dossiers.Dossier.model_validate(kept.dossier)
        return dossier if dossier.entries else None
    return None


def _beside(path: Path) -> Iterator[dossiers.Dossier]:
    """The other dossiers in the folder of the one at ``path``, as far as they can be read."""
    for each in sorted(path.parent.glob(f"*{dossiers.DOSSIER_SUFFIX}")):
        if each != path:
            with contextlib.suppress(DossierUnusable, UsageError):
                yield dossiers.read_dossier(each)


def _source_of(dossier: dossiers.Dossier) -> str | None:
    source = dossier.evidence.source
    return source.sha256 if source else None


def stopped_at(journal: journals.Journal) -> dict[str, int]:
    """The number of the entry by which the journal learnt last that a person's consent was taken
    back or refused, for those of whom that is recorded. The clock may have been set back since."""
    first: dict[tuple[str, str, int], int] = {}
    for kept in journal.entries(entries.DossierKept, key=_STOPPED):
        dossier = _read(kept.body)
        stops = sum(map(_refuses_or_revokes, dossier.entries)) if dossier else 0
        first.setdefault((kept.person or "", kept.body.path, stops), kept.seq)
    return {person: seq for (person, _, _), seq in first.items()}


def _refuses_or_revokes(entry: dossiers.Entry) -> bool:
    return bool(entry.revoked_at or (entry.decision and not entry.decision.accepted))


def keep_in_journal(journal: journals.Journal, person: str, path: Path) -> None:
    """Record what the dossier at ``path`` holds now, under every key by which it is looked up. It
    is read only now: another program may have added to it."""
    dossier = dossiers.read_dossier(path)
    kept = entries.DossierKept(path=journal.named(path).as_posix(), dossier=dossier.to_json())
    journal.append(kept, person=person, key=_source_of(dossier))
    if any(map(_refuses_or_revokes, dossier.entries)):
        journal.append(kept, person=person, key=_STOPPED)
