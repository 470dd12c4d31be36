"""The consent gate: whether a replica may be made of a video, and what goes on file about it.

Consent is given in the opening of the training video, or in a video of its own. The
statement must have been heard without a doubt, and the files must show one person.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from palprep.dossier import keep_dossier, read_dossier, waive
from palprep.journal import ConsentWaived, DossierKept, Journal
from palprep.preflight import Asset, Prepared
from palprep.rules import CONSENT_DOUBTS, Check, consent_doubts, lacks_consent
from palprep.values import Outcome

Judged = Asset | Prepared
"""A file of the user's with the report that counts."""


class Gate(NamedTuple):
    """What keeps a replica from being made, in sentences. Only a waiver passes over it."""

    missing: tuple[str, ...]
    """What is missing of the consent; empty when it was heard and matches."""
    doubts: tuple[str, ...]
    """What a person must decide about a consent of which nothing is missing."""

    @property
    def against(self) -> tuple[str, ...]:
        """Either; empty when the gate is open."""
        return self.missing or self.doubts


def consent_gate(video: Judged | None, apart: Judged | None) -> Gate:
    """Whether a replica may be made of a ``video``, whose consent may be in a video ``apart``.

    What fails in either is missing, and a doubt in either holds it, also where the other one would
    do: what was listened for is never passed over. Without ``video`` nothing is trained, and
    nothing has to be heard.
    """
    judged = [each for each in (video, apart) if each is not None]
    missing = [
        f"{named(each)}: {check.message}"
        for each in judged
        for check in each.report.having(Outcome.FAIL)
        if check.id in CONSENT_DOUBTS
    ]
    if video is not None and not missing:
        lacking = lacks_consent(video.report, apart.report if apart else None)
        missing = [f"{named(video)}: {lacking}"] if lacking else []
    if missing:
        return Gate(tuple(missing), ())
    doubts = (f"{named(each)}: {doubt}" for each in judged for doubt in consent_doubts(each.report))
    return Gate((), tuple(doubts))


def different_people(compared: Iterable[Check]) -> tuple[str, ...]:
    """Which files show different people, one sentence each; empty when none are known to."""
    return tuple(check.message for check in compared if check.outcome is Outcome.FAIL)


def named(judged: Judged) -> str:
    """The file as its owner knows it, with its role."""
    role = judged.report.role
    name = Path(judged.source).name
    return f"{name} ({role.value})" if role else name


def keep_evidence(
    journal: Journal,
    person: str,
    files: Iterable[Prepared],
    *,
    compared: Iterable[Check] = (),
    waived: tuple[str, ...] = (),
    key: str | None = None,
) -> None:
    """Put on file what was heard of the consent to a person's files, whether or not it suffices.

    Each file in which the statement was listened for gets a dossier next to it, which the journal
    keeps, too. ``compared`` holds the checks that compare the faces in the files. ``waived`` says
    what is missing of the consent or in doubt, where the work goes on regardless: the journal
    records that, under the ``key`` of the replica where it is known, and so do the dossiers.

    Raises DossierUnusable for a dossier that was changed, and OutputUnwritable.
    """
    if waived:
        journal.append(ConsentWaived(why=waived), person=person, key=key)
    now, compared = journal.now(), tuple(compared)
    for file in files:
        path = keep_dossier(file, person=person, written_at=now, compared=compared)
        if path is None:
            continue
        if waived:
            waive(path, written_at=now, note=" ".join(waived))
        kept = DossierKept(path=_place(path, journal), dossier=read_dossier(path).to_json())
        journal.append(kept, person=person)


def _place(path: Path, journal: Journal) -> str:
    """The path as the journal names it: from its own folder, where the file lies in there."""
    whole = path.resolve()
    root = journal.path and journal.path.parent.resolve()
    within = root is not None and whole.is_relative_to(root)
    return (whole.relative_to(root) if root and within else whole).as_posix()
