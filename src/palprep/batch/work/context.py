"""What a caller allows and asks for, what all steps of one run share, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from palprep.batch.engines.cluster import DaskEngine
from palprep.batch.engines.files import Files
from palprep.batch.people.person import Person
from palprep.batch.people.selection import Selection
from palprep.batch.work.connection import Connection
from palprep.batch.work.pace import Pace
from palprep.journal import Journal
from palprep.journal.creations import CUT_OFF, Creation, CreationState
from palprep.journal.runs import PersonOutcome
from palprep.rules import Profile
from palprep.values import Value, typed_fields
from palprep.views.terminal import Progress
from palprep.vocabulary import DEFAULT_PROFILE
from palprep.workers import Engine, Limits, WorkStopped

PREPARED_NAME = "prepared"
"""The folder of a run that takes prepared files, by person and role."""


@typed_fields
@dataclass(frozen=True)
class RunOptions:
    """How a run works, and what it may do."""

    select: Selection = field(default_factory=Selection)
    """Who of the people is worked on. The others stay in the results and on the page as earlier
    runs left them, if these used the same service. A shard has an output folder of its own within
    the run's, such as shard-1-of-4."""
    connection: Connection = field(default_factory=Connection)
    """To the service; by default to that of PALPREP_BASE_URL, or to a sandbox of the run's own."""
    pace: Pace = field(default_factory=Pace)
    """How much may be asked for, and how long trainings are waited for."""
    engine: Engine | str = "local"
    """``local``, ``dask://HOST:PORT`` or an engine of your own. Your own is closed only when the
    run is interrupted."""
    jobs: int | None = None
    """How many local worker processes there are; by default as many as suit this machine."""
    store: str | None = None
    """The URL of a bucket, through which files go to the workers of a cluster and back."""
    limits: Limits | None = None
    """What the work at one file may take."""
    profile: str | Path = DEFAULT_PROFILE
    """A profile of palprep's, or the path of one of your own."""
    dry_run: bool = False
    """Everything is prepared and judged, and nothing is sent."""
    without_consent: bool = False
    """Consent that is missing or in doubt stops nothing. That goes on record: in the journal, the
    dossiers, the results and the page."""
    keep_sources: bool = False
    """Fetched files stay, in sources/. Otherwise they are removed when they are prepared."""
    retain_s: float | None = None
    """Prepared files of people who are done are removed so many seconds after the end of the work
    and of the trainings. None: never."""
    whisper_model: Path | str | None = None
    """The folder of a Whisper model that listens for consent, on this machine and under the same
    path on each worker. Without it, palprep's own model listens."""


Tell = Callable[[Progress], object]
"""Takes progress; called from several threads."""


class Note(Value):
    """One sentence about what was found before the work begins, what was removed after it, or a
    worker of a cluster that could not do its work. ``person`` is None where it concerns several."""

    person: str | None
    text: str
    about: Literal[
        "role",
        "guess",
        "unused",
        "unchanged",
        "gone",
        "forgotten",
        "removed",
        "lacking",
        "shared",
        "bucket",
        "service",
        "worker",
    ]


TakeNote = Callable[[Note], object]


def tell_no_one(_: object) -> None:
    """Stands in for a ``Tell`` or ``TakeNote`` that was not given."""


class Stop:
    """The flag for the work to stop. A signal handler sets it: an event has a lock, which the
    thread that was interrupted may hold."""

    is_set = False

    def set(self) -> None:
        self.is_set = True


@dataclass(frozen=True)
class Reporter:
    """Tells of one person's steps, and takes none once the run is being stopped."""

    person: str
    tell: Tell
    stop: Stop
    people: int = 0

    def begin(self, step: str) -> None:
        """Tell which step comes next. Raises WorkStopped."""
        self.go_on()
        self.tell_step(step)

    def tell_step(self, step: str) -> None:
        self.tell(Progress(person=self.person, step=step, people=self.people))

    def go_on(self) -> None:
        """Raises WorkStopped when the run is being stopped."""
        if self.stop.is_set:
            raise WorkStopped(*CUT_OFF.reasons)

    def end(self, outcome: PersonOutcome) -> None:
        """Tell how the work for the person ended; nothing when the run is being stopped, since the
        work is then not finished."""
        if not self.stop.is_set:
            ended = {"status": outcome.status, "reasons": outcome.words}
            self.tell(Progress(person=self.person, step="end", people=self.people, **ended))


@dataclass(frozen=True)
class RunContext:
    """What all steps of one run share. ``place`` is the output folder."""

    options: RunOptions
    place: Path
    journal: Journal
    engine: Engine
    profiles: Mapping[str | Path, Profile]
    """The run's own, and those of the models that people may name."""
    tell: Tell
    stop: Stop

    @property
    def files(self) -> Files:
        return self.engine.files if isinstance(self.engine, DaskEngine) else Files()

    def profile_of(self, person: Person) -> Profile:
        """What a person's files are judged by."""
        return self.profiles[person.settings.model or self.options.profile]

    def still_there(self, person: str, fits: Callable[[Creation], bool]) -> tuple[str, ...]:
        """A sentence for each voice and replica that the run's service still has, of those that
        were made for this person alone and that ``fits`` accepts. Failed trainings do not count."""
        target, keys = self.options.connection.target, self.journal.made_for(person).keys
        return tuple(
            f"The {each.what} {each.id} was made before: the service still has it."
            for each in self.journal.creations_of(keys)
            if each.id and each.state is not CreationState.ERROR
            if each.request.get("target") == target and fits(each)
        )
