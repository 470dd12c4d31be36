"""What a caller allows and asks for, and what all steps of one run share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from palprep.batch.engines.cluster import files_of
from palprep.batch.engines.files import Files
from palprep.batch.people.selection import Selection
from palprep.batch.work.aside import Stop
from palprep.batch.work.connection import Connection
from palprep.batch.work.decision import KnownProfile
from palprep.batch.work.pace import Pace
from palprep.batch.work.progress import Reporter, Tell
from palprep.journal import Journal
from palprep.vocabulary import DEFAULT_PROFILE
from palprep.workers import Engine, Limits


@dataclass(frozen=True)
class RunOptions:
    """How a run works, and what it may do."""

    select: Selection = field(default_factory=Selection)
    """Who of the people is worked on. The others stay in the results and on the page as the runs
    before left them, if those were for the same service. A shard has an output folder of its own
    within the run's, such as shard-1-of-4."""
    connection: Connection = field(default_factory=Connection)
    """To the service; by default to a sandbox that the run starts for itself."""
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
    profile: str = DEFAULT_PROFILE
    """A profile of palprep's, or the path of one of your own."""
    dry_run: bool = False
    """Everything is prepared and judged, and nothing is sent."""
    without_consent: bool = False
    """Consent that is missing or in doubt stops nothing. That goes on record: in the journal, the
    dossiers, the results and the page."""
    keep_sources: bool = False
    """Files that were fetched stay, in sources/. Otherwise they go when they are prepared."""
    whisper_model: Path | None = None
    """The folder of a Whisper model that listens for consent, on this machine and
    under the same path on each worker; without it, the one that palprep brings."""


@dataclass(frozen=True)
class RunContext:
    """What all steps of one run share. ``place`` is the output folder."""

    options: RunOptions
    place: Path
    journal: Journal
    engine: Engine
    profiles: Mapping[str, KnownProfile]
    """The run's own, and those of the models that people may name."""
    tell: Tell
    stop: Stop

    @property
    def files(self) -> Files:
        """Where the prepared files are."""
        return files_of(self.engine)

    @property
    def model(self) -> str:
        """The model that replicas are made for, unless the person names another."""
        return self.profiles[self.options.profile].model

    def reporter(self, person: str, people: int) -> Reporter:
        """Tells of this person's steps, one of so many people."""
        return Reporter(person, self.tell, self.stop, people)
