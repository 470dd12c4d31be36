"""One person's way from files to a voice and a replica.

    prepare, and listen for the consent statement
    -> refused here, before anything leaves the machine
    -> the service's own verdict on the portrait -> publish and create the voice -> wait
    -> publish and create the replica -> wait for its callback

Every step looks into the journal first, and continues where an earlier run ended.
"""

from __future__ import annotations

import logging

from palprep.batch.context import Ended, Progress, RunContext
from palprep.batch.media_steps import prepare_files
from palprep.batch.people import Person
from palprep.batch.requests import Wishes, wishes
from palprep.batch.service_steps import Errand
from palprep.errors import AT_SERVICE, JournalError, OutputUnwritable, PalprepError
from palprep.journal.creations import Creation
from palprep.journal.run_view import Status, failure

_log = logging.getLogger(__name__)

_NOTHING_TO_MAKE = (
    "Nothing can be made of these files: add a recording or a training video; or, for a replica "
    "from the portrait, the name of a stock voice (stock_voice in person.toml)"
)


def work_on(person: Person, bench: RunContext) -> Status:
    """All steps of one person, with the outcome in the journal.

    Errors of this person's files or requests are this person's outcome. Raises only what
    concerns everybody: a journal or an output folder that cannot be written.
    """
    bench.note(person, "person", {"name": person.name, "full_name": person.full_name})
    try:
        ended = _steps(person, bench)
    except Ended as early:
        ended = early
    except (JournalError, OutputUnwritable):
        raise
    except PalprepError as error:
        ended = Ended("failed", error.message, at_service=isinstance(error, AT_SERVICE))
    except Exception as error:  # noqa: BLE001 -- a defect at one person's files is not everybody's
        _log.exception("unexpected error at %s", person.slug)
        ended = Ended("failed", f"Unexpected {type(error).__name__}: {error}. Please report this")
    body = {
        "status": ended.status,
        "reasons": list(ended.reasons),
        "complete": ended.complete,
        "at_service": ended.at_service,
    }
    bench.note(person, "outcome", body)
    bench.tell(Progress(person=person.slug, step="end", status=ended.status))
    return ended.status


def _steps(person: Person, bench: RunContext) -> Ended:
    assets = prepare_files(person, bench)
    wanted = wishes(person, assets, bench.model_for(person))
    if wanted.voice is None and wanted.replica is None:
        return Ended("refused", _NOTHING_TO_MAKE)
    if bench.remote is None:
        return Ended("waiting", _would(wanted))
    return _carry_out(Errand(person, bench, bench.remote, assets), wanted)


def _carry_out(errand: Errand, wanted: Wishes) -> Ended:
    errand.ask_about_face()
    made: list[Creation] = []
    if wanted.voice is not None:
        voice = errand.await_voice(errand.make_voice(wanted.voice))
        if voice.status == "error":
            return Ended("failed", failure(voice), at_service=True)
        made.append(voice)
    if wanted.replica is not None:
        replica = errand.make_replica(wanted.replica, wanted.replica_roles)
        replica = errand.await_replica(replica)
        if replica.status == "error":
            return Ended("failed", failure(replica), complete=True, at_service=True)
        made.append(replica)
    open_ends = tuple(_open_end(errand, creation) for creation in made if not creation.settled)
    return Ended("waiting" if open_ends else "done", *open_ends, complete=True)


def _would(wanted: Wishes) -> str:
    parts = []
    if wanted.voice is not None:
        parts.append(f"a voice named {wanted.voice.voice_name}")
    if wanted.replica is not None:
        files = " and ".join(role.value for role in wanted.replica_roles)
        parts.append(f"a replica named {wanted.replica.replica_name} from the {files}")
    return f"Dry run, nothing was sent: {' and '.join(parts)} would be created"


def _open_end(errand: Errand, creation: Creation) -> str:
    named = f"The {creation.what} {creation.id} is still in training"
    if creation.what == "voice":
        return f"{named}: run the same command again to look at it"
    own = errand.person.settings.callback_url
    if own is not None:
        return f"{named}: the service will tell {own}"
    if not errand.hears_of(creation):
        return (
            f"{named}: the service shows no way to ask for it and cannot call this machine; next "
            "time give --callback-url with `palprep listen` behind it"
        )
    return f"{named}: its callback has not come yet; run the same command again to wait for it"
