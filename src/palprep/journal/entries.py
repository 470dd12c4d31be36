"""The entries of a journal: one frozen class for each kind, and how a stored one is read.

An entry is an envelope (:class:`Entry`) around a body. There are two families of bodies.
:class:`AboutRun` says what a run did; its results can be had again by doing the work again.
:class:`AboutCreation` says what is known of a voice or replica; nothing can bring that back,
so it is read whole or the journal is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import Field, TypeAdapter, ValidationError

from palprep.errors import JournalError
from palprep.journal.results import FaceVerdict, PersonOutcome, Snapshot, What
from palprep.preflight.asset import Asset
from palprep.rules.report import Check
from palprep.values import Value

VERSION = 2
"""Of the bodies below. Every entry is stored with the version that wrote it."""


class Body(Value):
    """What an entry says. ``kind`` is its name in the journal."""

    kind: str

    @property
    def slot(self) -> str | None:
        """What it is the news of, in a run and for one person: a later entry of the same slot
        takes its place. None where no view of a run shows it.
        """
        return None

    def stored(self) -> dict[str, Any]:
        """As JSON that, with the kind, reads back into an equal value."""
        return self.model_dump(mode="json", round_trip=True, exclude={"kind"})


B_co = TypeVar("B_co", bound=Body, covariant=True)


@dataclass(frozen=True)
class Entry(Generic[B_co]):
    """One line of the journal. Entries are appended and never change.

    ``at`` is in UTC, ISO 8601. ``person`` is a person's slug. ``key`` names a creation, or
    the input of a stage.
    """

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
    """One person of a run."""

    slug: str
    name: str
    full_name: str


class SandboxStatement(Value):
    """A statement that an embedded sandbox takes for consent, ``{full_name}`` in it."""

    text: str
    language: str
    model: Path | None = None
    """The folder of the Whisper model that listens for it; None for the one that palprep brings."""


class RunStarted(AboutRun):
    """A run begins. Later entries with a person belong to it, up to the next run."""

    kind: Literal["run_started"] = "run_started"
    people: tuple[PersonNames, ...]
    """Everybody whom the results show."""
    only: tuple[str, ...] | None = None
    """The slugs of those who are worked on. The others stand as the runs before left them. None:
    everybody is."""
    target: str
    """Where voices and replicas are made: a base URL, or ``embedded sandbox``."""
    profile: str
    dry_run: bool
    without_consent: bool = False
    statements: tuple[SandboxStatement, ...] = ()
    """palprep's template, and what people brought along. Empty: the template alone."""
    palprep_version: str


class FileFetched(AboutRun):
    """A file was fetched from ``url``, which holds no secret. The key names it in that state."""

    kind: Literal["file_fetched"] = "file_fetched"
    url: str
    sha256: str
    size_bytes: int


class AssetPrepared(AboutRun):
    """A file was prepared, or could not be. The key names its content and the task."""

    kind: Literal["asset_prepared"] = "asset_prepared"
    asset: Asset

    @property
    def slot(self) -> str:
        """See :attr:`Body.slot`."""
        return f"asset:{self.asset.role.value}"


class PortraitPicked(AboutRun):
    """Of several images the fittest was picked. The key names their contents."""

    kind: Literal["portrait_picked"] = "portrait_picked"
    sha256: str
    """Of the picked image."""


class FacesCompared(AboutRun):
    """The faces in a person's files were compared. The key names the files' contents."""

    kind: Literal["faces_compared"] = "faces_compared"
    checks: tuple[Check, ...]


class FaceValidated(AboutRun):
    """The service gave its own verdict on a portrait. The key names service, file and model."""

    kind: Literal["face_validated"] = "face_validated"
    verdict: FaceVerdict

    @property
    def slot(self) -> str:
        """See :attr:`Body.slot`."""
        return self.kind


class Reused(AboutRun):
    """The entry ``seq`` of an earlier run counts for this run too."""

    kind: Literal["reused"] = "reused"
    seq: int


class ConsentWaived(AboutRun):
    """The work goes on although consent is missing; ``why`` says what is missing.

    The key is that of the replica that is made all the same. A run also records it without a key,
    before it looks at anything else of the person.
    """

    kind: Literal["consent_waived"] = "consent_waived"
    why: tuple[str, ...]

    @property
    def slot(self) -> str:
        """See :attr:`Body.slot`."""
        return self.kind


class DossierKept(AboutRun):
    """A consent dossier stands in the output folder at ``path``, with this content.

    The journal keeps the content whole and does not look into it. So a dossier that was
    written anew is told from the one that was kept.
    """

    kind: Literal["dossier_kept"] = "dossier_kept"
    path: str
    dossier: Mapping[str, Any]


class CreationUsed(AboutRun):
    """The person's voice or replica is the creation under the key, made now or before."""

    kind: Literal["creation_used"] = "creation_used"
    what: What

    @property
    def slot(self) -> str:
        """See :attr:`Body.slot`."""
        return f"creation:{self.what}"


class PersonEnded(AboutRun):
    """The run is through with the person."""

    kind: Literal["person_ended"] = "person_ended"
    outcome: PersonOutcome
    state: str | None = None
    """A digest of what the outcome came from: files, settings, options. A run that finds all of it
    as it was need not look further. None where nobody could tell."""

    @property
    def slot(self) -> str:
        """See :attr:`Body.slot`."""
        return self.kind


class Intent(AboutCreation):
    """The request is about to leave. From here on the resource may exist.

    ``request`` is what will be sent, without addresses.
    """

    kind: Literal["intent"] = "intent"
    what: What
    request: Mapping[str, Any]


class Created(AboutCreation):
    """The service answered the request with the resource's id."""

    kind: Literal["created"] = "created"
    snapshot: Snapshot


class NotCreated(AboutCreation):
    """It is certain that the request created nothing; ``code`` and ``message`` say why."""

    kind: Literal["not_created"] = "not_created"
    code: str
    message: str


class Doubt(AboutCreation):
    """The request was sent, and what became of it is not known."""

    kind: Literal["doubt"] = "doubt"
    code: str
    message: str


class Polled(AboutCreation):
    """The service was asked, and told the resource's state."""

    kind: Literal["polled"] = "polled"
    snapshot: Snapshot


class CalledBack(AboutCreation):
    """The service called back. ``received`` is the body as it came.

    ``snapshot`` is None when the body says nothing of a voice or replica. Without a key the
    callback belongs to nothing that this journal knows.
    """

    kind: Literal["called_back"] = "called_back"
    snapshot: Snapshot | None = None
    received: Any = None


class Resolved(AboutCreation):
    """A person decided a doubt, or let a training that ended in error be tried again.

    ``found_id`` is the id under which the resource was found. None: it may be created.
    """

    kind: Literal["resolved"] = "resolved"
    found_id: str | None = None


class Former(Body):
    """An entry of a run that another version of palprep recorded in a way that this one does
    not read. It is never written. The work is done again.
    """

    kind: Literal["former"] = "former"
    was: str

    @property
    def slot(self) -> str:
        """See :attr:`Body.slot`. A view that meets it says that the run cannot be read."""
        return f"former:{self.was}"


AnyBody = Annotated[
    RunStarted
    | FileFetched
    | AssetPrepared
    | PortraitPicked
    | FacesCompared
    | FaceValidated
    | Reused
    | ConsentWaived
    | DossierKept
    | CreationUsed
    | PersonEnded
    | Intent
    | Created
    | NotCreated
    | Doubt
    | Polled
    | CalledBack
    | Resolved,
    Field(discriminator="kind"),
]
"""Every kind that is written."""

_ADAPTER: TypeAdapter[Body] = TypeAdapter(AnyBody)

KINDS: Mapping[str, type[Body]] = {
    each.model_fields["kind"].default: each for each in get_args(get_args(AnyBody)[0])
}
"""The class of each kind."""


def read_body(kind: str, data: Mapping[str, Any]) -> Body:
    """The body of a stored entry of this version.

    Raises JournalError for knowledge of a creation that cannot be read.
    """
    try:
        return _ADAPTER.validate_python({**data, "kind": kind})
    except ValidationError:
        if issubclass(KINDS.get(kind, AboutCreation), AboutRun):
            return Former(was=kind)
    raise JournalError(
        f"The journal holds an entry {kind!r} that this palprep cannot read. What it says of a "
        "creation must not be lost: use the palprep that wrote it"
    )
