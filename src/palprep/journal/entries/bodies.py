"""The entries of a journal: one frozen class for each kind, the values in them, and how a stored
one is read.

An entry is an envelope (:class:`Entry`) around a body. There are two families of bodies.
:class:`AboutRun` says what a run did: the work can be done again. :class:`AboutCreation` says
what is known of a voice or replica: nothing can bring that back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, get_args

from pydantic import ValidationError, model_validator

from palprep.api import mask_links
from palprep.consent.wording import PLACEHOLDER, FreshCode
from palprep.errors import JournalError, UsageError
from palprep.journal.runs.outcome import PersonOutcome
from palprep.preflight import Asset
from palprep.rules import Check
from palprep.rules.consent import ConsentDecision, ConsentEvidence
from palprep.values import Value

V = TypeVar("V", bound=Value)

What = Literal["voice", "replica"]

ResourceStatus = Literal["started", "completed", "error"]
"""The status of a voice or a replica, in the specification's words."""

EndedStatus = Literal["completed", "error"]


class Snapshot(Value):
    """The state of one voice or replica, as the service told it at one moment."""

    id: str
    status: ResourceStatus
    error_message: str | None = None

    @classmethod
    def told(cls, resource_id: str, status: Any, error_message: Any) -> Snapshot:
        """The snapshot from the fields of a reply or a callback. A status that the specification
        does not know has not ended the training: it counts as started."""
        known = status if status in get_args(ResourceStatus) else "started"
        message = None if error_message is None else mask_links(str(error_message))
        return cls(id=resource_id, status=known, error_message=message)

    @property
    def ended(self) -> bool:
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


class Body(Value):
    """What an entry says. ``kind`` is its name in the journal: that of its class."""

    kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = re.sub(r"\B(?=[A-Z])", "_", cls.__name__).lower()

    def relocated(self, place: Callable[[Path], Path]) -> Body:
        """The same, with every file where it lies by ``place``."""
        del place
        return self


B_co = TypeVar("B_co", bound=Body, covariant=True)


@dataclass(frozen=True)
class Entry(Generic[B_co]):
    """One line of the journal, which never changes. ``at`` is in UTC, ISO 8601. ``person`` is a
    person's slug. ``key`` names a creation, or the input of a stage."""

    seq: int
    at: str
    person: str | None
    key: str | None
    body: B_co


class AboutRun(Body):
    """Says what a run did."""


class AboutCreation(Body):
    """Says what is known of the creation under the entry's key."""


class PersonNames(Value):
    """One person of a run, and the ``language`` of letters to them (ISO 639-1), if it is known."""

    slug: str
    name: str
    full_name: str
    language: str | None = None
    own_statement: str | None = None
    """The words of a consent statement of their own; None for palprep's template."""


class SandboxStatement(Value):
    """A statement that a sandbox accepts as consent. Raises UsageError for one without
    ``{full_name}``."""

    text: str
    language: str = "en"
    model: Path | None = None
    """The folder of the Whisper model that listens for it; None for the one that palprep brings."""

    @model_validator(mode="after")
    def _leaves_the_name_open(self) -> Self:
        if PLACEHOLDER not in self.text:
            raise UsageError(
                f"The statement “{self.text}” leaves no place for a name: "
                f"write {PLACEHOLDER} where it is said"
            )
        return self


class RunStarted(AboutRun):
    """A run begins. Later entries with a person belong to it, up to the next run."""

    people: tuple[PersonNames, ...]
    """Everybody whom the results show."""
    only: tuple[str, ...] | None = None
    """The slugs of those who are worked on; None means everybody. The others stand as earlier runs
    left them."""
    target: str
    """Where voices and replicas are made: a base URL, or ``embedded sandbox``."""
    profile: str
    dry_run: bool
    without_consent: bool = False
    source: str | None = None
    """The folder, manifest or bucket of the people; None for rows that a program gave."""
    statements: tuple[SandboxStatement, ...] = ()
    """palprep's template and people's own statements. Empty means the template alone."""
    palprep_version: str


class FileFetched(AboutRun):
    """A file was fetched from ``url``, which holds no secret. The key names it in that state."""

    url: str
    sha256: str
    size_bytes: int


class AssetPrepared(AboutRun):
    """A file was prepared, or could not be. The key is :attr:`KEY`, the SHA-256 of its content,
    and a digest of the task."""

    KEY: ClassVar[str] = "prepared-"

    asset: Asset

    def relocated(self, place: Callable[[Path], Path]) -> AssetPrepared:
        return AssetPrepared(asset=self.asset.relocated(place))


class PortraitPicked(AboutRun):
    """Of several images the fittest was picked. The key names their contents."""

    sha256: str
    """Of the picked image."""


class FileGlimpsed(AboutRun):
    """What tells a file's role: the length that its header gives; whether it is one half of a live
    photo; whether the statement is heard in its opening, None where no one listened; for how long
    somebody speaks in a recording, None for a video; and the words in its opening ``against`` a
    consent. The key names its content."""

    length_s: float
    with_still: bool
    stated: bool | None
    spoken_s: float | None = None
    against: str = ""


class FacesCompared(AboutRun):
    """The faces and voices in a person's files were compared. The key names the files' contents."""

    checks: tuple[Check, ...]


class FaceValidated(AboutRun):
    """The service gave its own verdict on a portrait. The key names service, file and model."""

    verdict: FaceVerdict


class Reused(AboutRun):
    """The entry ``seq`` of an earlier run counts for this run too, in the same slot."""

    seq: int
    slot: str | None


class ConsentWaived(AboutRun):
    """The work goes on although consent is missing; ``why`` says what is missing. The key names the
    replica; a run also records a waiver without one, before it knows which replica is made."""

    why: tuple[str, ...]


class CodeGiven(AboutRun):
    """A fresh code was given out, to be spoken by whoever has this name. The key is the name's
    (:func:`palprep.journal.forgetting.name_key`)."""

    full_name: str
    code: FreshCode


class ProcessingAgreed(AboutRun):
    """Whoever has this name agreed, on the recording page, that they are recorded and that files of
    them are kept, in these words. The key is that of :class:`CodeGiven`."""

    full_name: str
    words: str


class FileJudged(AboutRun):
    """A file is judged for the first time since a code was given out for the name; or, with the
    words ``spoken``, the code was heard in it. The key is that of :class:`CodeGiven`."""

    name: str
    sha256: str
    spoken: tuple[str, ...] = ()


class ConsentFound(AboutRun):
    """What was found of the person's consent, whether or not anything is made under it."""

    evidence: ConsentEvidence


class ConsentDecided(AboutRun):
    """A person decided about doubts of the consent, until a later one, from run to run."""

    decision: ConsentDecision


class DossierKept(AboutRun):
    """A consent dossier lies at ``path`` in the output folder. The journal keeps its whole content,
    so that a dossier that was written anew differs from it. The key is the SHA-256 of the source
    that holds the consent, where it is known. An entry under another key lets the dossiers of
    refused and revoked consents be found."""

    path: str
    dossier: Mapping[str, Any]


class FilesRemoved(AboutRun):
    """The person's prepared files were removed on purpose, ``retain_s`` seconds after the end."""

    retain_s: float


class CreationUsed(AboutRun):
    """The person's voice or replica is the creation under the key, made now or before."""

    what: What


class PersonEnded(AboutRun):
    """The run's work for the person has ended."""

    outcome: PersonOutcome
    state: str | None = None
    """A digest of what the outcome depends on: files, settings, options. A later run skips a person
    whose digest is the same. None where a change could go unnoticed."""


class Intent(AboutCreation):
    """The request is about to leave: ``request`` is what will be sent, without addresses. From here
    on the resource may exist."""

    what: What
    request: Mapping[str, Any]


class Created(AboutCreation):
    """The service answered the request with the resource's id."""

    snapshot: Snapshot


class NotCreated(AboutCreation):
    """It is certain that the request created nothing; ``code`` and ``message`` say why."""

    code: str
    message: str


class Doubt(AboutCreation):
    """The request was sent, and its outcome is not known."""

    code: str
    message: str


class Polled(AboutCreation):
    """The service was asked, and told the resource's state."""

    snapshot: Snapshot


class CalledBack(AboutCreation):
    """The service called back. ``received`` is the body, without secrets; ``snapshot`` is None
    when it says nothing of a voice or replica. Without a key it belongs to nothing known here."""

    snapshot: Snapshot | None = None
    received: Any = None


class Resolved(AboutCreation):
    """A person decided a doubt, or let a training that ended in error be tried again. ``found_id``
    is the id under which the resource was found; None: it may be created. ``status`` is how its
    training ended, if it has."""

    found_id: str | None = None
    status: EndedStatus | None = None


KINDS: Mapping[str, type[Body]] = {
    each.kind: each for family in (AboutRun, AboutCreation) for each in family.__subclasses__()
}


def from_stored(kind: type[V], stored: str) -> V:
    """The value in a stored JSON text. Raises ValueError where it cannot be read."""
    try:
        return kind.model_validate_json(stored)
    except ValidationError:  # Pydantic's own reader refuses lone surrogates, and much nesting.
        return kind.model_validate(json.loads(stored))


def read_body(kind: str, stored: str) -> Body:
    """The body of a stored entry, from its JSON. Raises JournalError where it cannot be read."""
    try:
        return from_stored(KINDS[kind], stored)
    except (KeyError, ValueError):
        raise JournalError(
            f"The journal holds an entry {kind!r} that this palprep cannot read. What is known of "
            "creations must not be lost: use the palprep that wrote it"
        ) from None
