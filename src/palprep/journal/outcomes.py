"""How the work for a person stands today: as it was recorded, and what has arrived since."""

from __future__ import annotations

from collections.abc import Sequence

from palprep.journal.creations import Creation, CreationState, doubt_words, error_words
from palprep.journal.results import PersonOutcome

CUT_OFF = PersonOutcome(
    status="waiting",
    reasons=("The run ended before this person was finished: run the same command again",),
)
AT_WORK = PersonOutcome(
    status="waiting", reasons=("A run is at work, and this person is not finished yet",)
)
RESOLVED = PersonOutcome(
    status="waiting", reasons=("The doubt is resolved: run the same command again",)
)
IN_TRAINING = PersonOutcome(
    status="waiting", reasons=("The end of the training is not known yet",), complete=True
)


def up_to_date(
    recorded: PersonOutcome | None, creations: Sequence[Creation], *, running: bool = False
) -> PersonOutcome:
    """The recorded outcome, changed by what has arrived since.

    ``creations`` are the person's own, as they stand now. ``running``: a run is at work. What
    would be in doubt without it may be a request under way.
    """
    if recorded is None and running:
        return AT_WORK
    doubts = tuple(doubt_words(c) for c in creations if c.state is CreationState.IN_DOUBT)
    if doubts:
        before = recorded or PersonOutcome(status="in_doubt")
        reasons = tuple(dict.fromkeys((*before.reasons, *doubts)))
        return before.model_copy(update={"status": "in_doubt", "reasons": reasons})
    if recorded is None:
        return CUT_OFF
    if recorded.complete and recorded.status in {"waiting", "in_doubt"}:
        return _as_trained(recorded, creations)
    # The doubt that ended the work is resolved; what was left to do is not done yet.
    return _changed(recorded, RESOLVED) if recorded.status == "in_doubt" else recorded


def _as_trained(recorded: PersonOutcome, creations: Sequence[Creation]) -> PersonOutcome:
    """The outcome that follows from how the trainings stand."""
    if any(c.state is CreationState.ABSENT for c in creations):
        return _changed(recorded, RESOLVED)
    errors = tuple(error_words(c) for c in creations if c.state is CreationState.ERROR)
    if errors:
        return _changed(
            recorded, PersonOutcome(status="failed", reasons=errors, complete=True, at_service=True)
        )
    if creations and all(c.state is CreationState.COMPLETED for c in creations):
        return recorded.ended_well()
    return (
        _still_waiting(recorded, creations)
        if recorded.status == "waiting"
        else _changed(recorded, IN_TRAINING)
    )


def _still_waiting(recorded: PersonOutcome, creations: Sequence[Creation]) -> PersonOutcome:
    """Without what was said of a training that has ended since."""
    ended = [c.id for c in creations if c.state is CreationState.COMPLETED and c.id]
    left = tuple(each for each in recorded.reasons if not any(one in each for one in ended))
    return recorded.model_copy(update={"reasons": left})


def _changed(recorded: PersonOutcome, now: PersonOutcome) -> PersonOutcome:
    """What holds now, with what was decided on the way."""
    return now.model_copy(update={"notes": recorded.notes, "not_made": recorded.not_made})
