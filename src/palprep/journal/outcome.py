"""How a run's work for one person ended, and what that becomes when trainings end."""

from __future__ import annotations

from typing import Literal, Self

from palprep.rules import ConsentState
from palprep.values import Value

PersonStatus = Literal["done", "refused", "failed", "in_doubt", "needs_decision", "waiting"]


class PersonOutcome(Value):
    """How the work for one person ended.

    ``complete``: everything that was to be created has been asked for. What arrives later can
    then turn ``waiting`` into ``done`` without another run. ``at_service``: the service
    refused, or could not be reached.

    ``not_made`` says why the voice or the replica is not made, where the other one is. Such a
    person ends as refused; or as one who needs a decision where it is ``held`` by a doubt about the
    consent alone. ``notes`` says what was decided on the way: which image was picked, which file
    was left out.
    """

    status: PersonStatus
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    complete: bool = False
    held: bool = False
    at_service: bool = False

    @classmethod
    def refused(cls, *reasons: str, notes: tuple[str, ...] = (), at_service: bool = False) -> Self:
        """Nothing is made for this person, for these reasons."""
        return cls(status="refused", reasons=reasons, notes=notes, at_service=at_service)

    @classmethod
    def failed(cls, reason: str, *, at_service: bool = False) -> Self:
        """The work for this person broke off."""
        return cls(status="failed", reasons=(reason,), at_service=at_service)

    @property
    def words(self) -> tuple[str, ...]:
        """Everything there is to say about it, the reasons first."""
        return (*self.reasons, *self.not_made, *self.notes)

    def becomes(self, now: PersonOutcome) -> PersonOutcome:
        """The outcome ``now``, with what was decided on the way."""
        kept = {name: getattr(self, name) for name in ("notes", "not_made", "held")}
        return now.model_copy(update=kept)

    def decided(self, consent: ConsentState, *, made: bool) -> PersonOutcome:
        """The outcome with what a person has decided since about a doubt that held the replica; or
        refused when it was ``made``."""
        if consent.state == "holds" and self.held:
            now = PersonOutcome(status="waiting", reasons=("The next run goes on with it",))
        elif consent.state == "refused" and (self.held or made):
            now = PersonOutcome.refused(*consent.reasons)
        else:
            return self
        if self.status in {"needs_decision", "done"}:
            return now.model_copy(update={"notes": self.notes})
        not_made = now.reasons if now.status == "refused" else ()
        return self.model_copy(update={"held": False, "not_made": not_made})

    def ended_well(self) -> PersonOutcome:
        """The outcome once everything that was asked for is ready."""
        status: PersonStatus = "refused" if self.not_made else "done"
        if self.held:
            status = "needs_decision"
        return self.model_copy(update={"status": status, "reasons": ()})
