"""One person's way from files to a voice and a replica.

    media steps        prepare, compare faces, the consent gate; decide what is made: what is
                       unfit ends here, before anything leaves the machine
    service steps      the service's verdict on the portrait; publish and ask for the voice;
                       the same for the replica
    watch              what was asked for, until its training has ended

Every step looks into the journal first, and continues where an earlier run ended. The watch is
the run's, one for everybody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from palprep.batch.media_steps import MediaSteps, Ready
from palprep.batch.people import Person
from palprep.batch.progress import INTERRUPTED, Reporter, Stopped
from palprep.batch.service_steps import Asked, ServiceSteps
from palprep.errors import AT_SERVICE, DossierUnusable, JournalError, OutputUnwritable, PalprepError
from palprep.journal.results import PersonOutcome, PersonStatus, failed
from palprep.workers.engine import WorkStopped

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PersonSteps:
    """The steps that every person takes. ``service`` is None in a dry run."""

    media: MediaSteps
    service: ServiceSteps | None

    def prepare(self, person: Person, reporter: Reporter) -> Ready | PersonOutcome:
        """Take the media steps: the files to go on with, or how it ended."""
        return guarded(person, lambda: self.media.prepare(person, reporter))

    def ask(self, person: Person, ready: Ready, reporter: Reporter) -> Asked:
        """Take the steps at the service, and say how that ended."""
        asked = guarded(person, lambda: self._asked(person, ready, reporter))
        if isinstance(asked, PersonOutcome):
            asked = Asked(asked)
        outcome = asked.outcome.model_copy(
            update={
                "notes": (*ready.notes, *asked.outcome.notes),
                "not_made": (*ready.not_made, *asked.outcome.not_made),
            }
        )
        return replace(asked, outcome=outcome)

    def _asked(self, person: Person, ready: Ready, reporter: Reporter) -> Asked:
        if self.service is not None:
            return self.service.carry_out(person, ready, reporter)
        told = f"Dry run, nothing was sent: {ready.requests.words} would be created"
        status: PersonStatus = "refused" if ready.not_made else "waiting"
        return Asked(PersonOutcome(status=status, reasons=(told,)))


def guarded(person: Person, steps: Callable[[], T]) -> T | PersonOutcome:
    """What the steps give. Errors of this person's files or requests are this person's outcome.

    Raises only what concerns everybody: a journal or an output folder that cannot be written.
    """
    try:
        return steps()
    except DossierUnusable as error:
        return failed(error.message)
    except (JournalError, OutputUnwritable):
        raise
    except (Stopped, WorkStopped):
        return PersonOutcome(status="waiting", reasons=(INTERRUPTED,))
    except PalprepError as error:
        return failed(error.message, at_service=isinstance(error, AT_SERVICE))
    except Exception as error:  # noqa: BLE001 -- a defect at one person's files is not everybody's
        _log.debug("unexpected error at %s", person.slug, exc_info=True)
        return failed(f"Unexpected {type(error).__name__}: {error}. Please report this")
