"""The values that steps give and the journal keeps."""

from __future__ import annotations

from typing import Any, Literal, get_args

from palprep.values import Value

What = Literal["voice", "replica"]

ResourceStatus = Literal["started", "completed", "error"]
"""Of a voice or a replica, as the specification names it."""

PersonStatus = Literal["done", "refused", "failed", "in_doubt", "waiting"]


class Snapshot(Value):
    """The state of one voice or replica, as the service told it at one moment."""

    id: str
    status: ResourceStatus
    error_message: str | None = None

    @classmethod
    def told(cls, resource_id: str, status: Any, error_message: Any) -> Snapshot:
        """What the service told. A status that the specification does not know has not ended
        the training: it counts as started."""
        known = status if status in get_args(ResourceStatus) else "started"
        said = None if error_message is None else str(error_message)
        return cls(id=resource_id, status=known, error_message=said)

    @property
    def ended(self) -> bool:
        """True when its training is over, well or not."""
        return self.status != "started"


class FaceCheck(Value):
    """One check of the service's own verdict."""

    id: str
    label: str
    passed: bool


class FaceVerdict(Value):
    """What the service says about a portrait, for the given model."""

    passed: bool
    message: str
    model: str
    checks: tuple[FaceCheck, ...]


class PersonOutcome(Value):
    """How the work for one person ended.

    ``complete``: everything that was to be created has been asked for. What arrives later can
    then turn ``waiting`` into ``done`` without another run. ``at_service``: the service
    refused, or could not be reached.

    ``not_made`` says why the voice or the replica is not made, where the other one is. Such a
    person ends as refused. ``notes`` says what was decided on the way: which image was picked,
    which file was left out.
    """

    status: PersonStatus
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    complete: bool = False
    at_service: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """Everything that there is to say of it: first why it is how it is."""
        return (*self.reasons, *self.not_made, *self.notes)

    def ended_well(self) -> PersonOutcome:
        """The outcome once everything that was asked for is ready."""
        status: PersonStatus = "refused" if self.not_made else "done"
        return self.model_copy(update={"status": status, "reasons": ()})


def refused(*reasons: str, notes: tuple[str, ...] = (), at_service: bool = False) -> PersonOutcome:
    """Nothing is made for this person, for these reasons."""
    return PersonOutcome(status="refused", reasons=reasons, notes=notes, at_service=at_service)


def failed(reason: str, *, at_service: bool = False) -> PersonOutcome:
    """The work for this person broke off."""
    return PersonOutcome(status="failed", reasons=(reason,), at_service=at_service)
