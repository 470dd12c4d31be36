"""How a run's work for one person ended, and what that becomes when trainings end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, Self

from palprep.rules.consent import ConsentState
from palprep.values import Role, Value

PersonStatus = Literal[
    "done", "voice_only", "needs_answer", "redo", "failed", "in_doubt", "needs_decision", "waiting"
]

READY: Final = frozenset[PersonStatus]({"done", "voice_only"})

_EXIT_CODES: Final[Mapping[int, frozenset[str]]] = {
    4: frozenset({"in_doubt", "needs_decision"}),
    3: frozenset({"failed"}),
    1: frozenset({"redo", "needs_answer"}),
    5: frozenset({"waiting", "cut_off"}),
}
"""The endings that lead to each code, the gravest first."""


def exit_code(endings: Collection[str], *, rehearsed: bool) -> int:
    """The code of the gravest of these statuses of people, or 0. In a dry run, which only
    ``rehearsed``, the status ``waiting`` has no code of its own."""
    grave = {*endings} - ({"waiting"} if rehearsed else set())
    return next((code for code, each in _EXIT_CODES.items() if not each.isdisjoint(grave)), 0)


class PersonOutcome(Value):
    """How the work for one person ended.

    ``complete``: everything that was to be created has been asked for; what arrives later can then
    turn ``waiting`` into ``done``. ``not_made`` says why the voice or the replica is not made,
    where the other one is: there is something to redo; or to decide where it is ``held`` by a doubt
    about the consent alone. ``notes`` says what was decided on the way. ``blocked_by`` holds the
    ids of what keeps something from being made, the one that leads first: see
    :func:`palprep.rules.texts.blocker_words`. ``asked`` holds the names of the files that a
    question among the reasons leaves for a role.
    """

    status: PersonStatus
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    complete: bool = False
    held: bool = False
    blocked_by: tuple[str, ...] = ()
    asked: Mapping[Role, tuple[str, ...]] = {}

    @classmethod
    def needs_answer(cls, *reasons: str, blocked_by: tuple[str, ...], **more: Any) -> Self:
        """Nothing is made before whoever runs this has answered or added something."""
        return cls(status="needs_answer", reasons=reasons, blocked_by=blocked_by, **more)

    @classmethod
    def failed(cls, reason: str, code: str) -> Self:
        """The work broke off: at a tool, or at the service, with an error of that code."""
        return cls(status="failed", reasons=(reason,), blocked_by=(code,))

    @property
    def words(self) -> tuple[str, ...]:
        # One finding may speak against a file and against the consent in it.
        return tuple(dict.fromkeys((*self.reasons, *self.not_made, *self.notes)))

    def becomes(self, now: PersonOutcome) -> PersonOutcome:
        """The outcome ``now``, with what was decided on the way."""
        both = {name: (*getattr(self, name), *getattr(now, name)) for name in ("notes", "not_made")}
        both["blocked_by"] = (*now.blocked_by, *self.blocked_by)
        return now.model_copy(update={**both, "held": self.held})

    def decided(self, consent: ConsentState, *, made: bool) -> PersonOutcome:
        """The outcome after a person has decided about the doubt that held the replica. After a
        refusal there is something to redo, also where the replica was ``made``."""
        if consent.state == "holds" and self.held:
            now = PersonOutcome(status="waiting", reasons=("The next run goes on with it",))
        elif consent.state == "refused" and (self.held or made):
            by = ("consent_refused",)
            now = PersonOutcome(status="redo", reasons=consent.reasons, blocked_by=by)
        else:
            return self
        if self.status in READY | {"needs_decision"}:
            return now.model_copy(update={"notes": self.notes})
        not_made = now.reasons if now.status == "redo" else ()
        update = {"held": False, "not_made": not_made, "blocked_by": now.blocked_by}
        return self.model_copy(update=update)

    def ended_well(self, *, replica: bool) -> PersonOutcome:
        """The outcome once all that was asked for is ready, with or without a ``replica``."""
        status: PersonStatus = "done" if replica else "voice_only"
        if self.held:
            status = "needs_decision"
        elif self.not_made:
            status = "redo"
        return self.model_copy(update={"status": status, "reasons": ()})
