"""One person's way from files to a voice and a replica.

    media steps        prepare, compare faces, the consent gate; decide what is made: what is
                       unfit ends here, before anything leaves the machine
    service steps      the service's verdict on the portrait; publish, create and wait for
                       the voice; the same for the replica

Every step looks into the journal first, and continues where an earlier run ended. Every step
returns how it ended.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from palprep.batch.media_steps import MediaSteps
from palprep.batch.people import Person
from palprep.batch.progress import Reporter, Stopped
from palprep.batch.service_steps import ServiceSteps
from palprep.errors import AT_SERVICE, JournalError, OutputUnwritable, PalprepError
from palprep.journal.results import PersonOutcome, failed

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PersonSteps:
    """The steps that every person takes. ``service`` is None in a dry run; ``profile`` is for
    people whose settings name none.
    """

    media: MediaSteps
    service: ServiceSteps | None
    profile: str

    def work_on(self, person: Person, reporter: Reporter) -> PersonOutcome:
        """Take all steps, and say how it ended.

        Errors of this person's files or requests are this person's outcome. Raises only what
        concerns everybody: a journal or an output folder that cannot be written.
        """
        try:
            return self._steps(person, reporter)
        except (JournalError, OutputUnwritable):
            raise
        except Stopped as stopped:
            return PersonOutcome(status="waiting", reasons=(stopped.message,))
        except PalprepError as error:
            return failed(error.message, at_service=isinstance(error, AT_SERVICE))
        except Exception as error:  # noqa: BLE001 -- a defect at one person's files is not everybody's
            _log.exception("unexpected error at %s", person.slug)
            return failed(f"Unexpected {type(error).__name__}: {error}. Please report this")

    def _steps(self, person: Person, reporter: Reporter) -> PersonOutcome:
        ready = self.media.prepare(person, self.profile, reporter)
        if isinstance(ready, PersonOutcome):
            return ready
        if self.service is None:
            told = f"Dry run, nothing was sent: {ready.requests.words} would be created"
            outcome = PersonOutcome(
                status="refused" if ready.not_made else "waiting", reasons=(told,)
            )
        else:
            outcome = self.service.carry_out(person, ready, reporter)
        whole = outcome.model_copy(
            update={
                "notes": (*ready.notes, *outcome.notes),
                "not_made": (*ready.not_made, *outcome.not_made),
            }
        )
        return whole.ended_well() if whole.status == "done" else whole
