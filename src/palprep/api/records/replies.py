"""The records that the service returns and the events that it posts to callback URLs, with the
types that the specification states. It shows only the payload of the voice event. Callbacks about
replicas and documents are recognised by the id that they must carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from annotated_types import MaxLen
from pydantic import Field

from palprep.api.records import fields
from palprep.api.reply import Reply, read_leniently
from palprep.errors import UnexpectedReply

_SECOND = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)"
_DAY = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
VoiceMoment = Annotated[str, Field(pattern=rf"{_DAY}T{_SECOND}\.\d{{6}}$")]
"""``YYYY-MM-DDTHH:MM:SS.ffffff``."""
Moment = Annotated[
    str, Field(pattern=rf"{_DAY}[T ]{_SECOND}([.,]\d+)?(Z|[+-][01]\d(:?[0-5]\d)?)?$")
]
"""An ISO 8601 timestamp."""

TrainingStatus = Literal["started", "completed", "error"]
DocumentStatus = Literal["started", "processing", "ready", "error", "recrawling"]


class Voice(Reply):
    """A cloned or catalogue voice."""

    voice_id: str
    voice_name: fields.VoiceName | None = None
    description: fields.VoiceDescription | None = None
    voice_type: Literal["user", "system"] | None = None
    status: TrainingStatus
    error_message: str | None = None
    """Present only when ``status`` is ``error``."""
    tags: Annotated[tuple[fields.Tag, ...], MaxLen(50)] = ()
    created_at: VoiceMoment | None = None


class Voices(Reply):
    """A list of voices. The specification mentions the list and does not show its shape."""

    data: tuple[Voice, ...]


class Tool(Reply):
    """A function that a PAL can call in a conversation or run once after it."""

    tool_id: str
    owner_id: int | None = None
    """None for built-in system tools."""
    name: fields.ToolName
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    delivery: Annotated[fields.Delivery | None, Field(repr=False)] = None
    """As it was sent; it may hold credentials."""
    is_system_tool: bool = False
    trigger_type: fields.TriggerType = "in_call"
    origin: fields.Origin | None = None
    on_call: fields.OnCall | None = None
    on_resolve: fields.OnResolve | None = None
    static_filler: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None


class Tools(Reply):
    """A list of tools. The specification mentions the list and does not show its shape."""

    data: tuple[Tool, ...]


FACE_CHECKS: Final[Mapping[str, str]] = {
    "image_quality_acceptable": "Image quality is acceptable",
    "human_like_subject": "Subject is human-like",
    "appears_under_18": "Subject does not appear to be under 18",
    "only_one_person_visible": "Only one person is visible",
    "person_centered": "Person is centered",
    "head_fully_in_frame": "Head is fully in frame",
    "looking_straight_at_camera": "Looking straight at the camera",
    "pose_suitable_for_replica": "Pose is suitable",
    "face_substantially_obscured": "Face is not substantially obscured",
    "chest_up_framing_acceptable": "Chest-up framing is acceptable",
    "no_nudity": "No nudity",
    "celebrity_or_copyright_character": "Not a celebrity or copyright character",
}
"""The service's checks of a face image, in the specification's order: each id with its label."""

FACE_PROBLEMS: Final = frozenset(
    {"appears_under_18", "face_substantially_obscured", "celebrity_or_copyright_character"}
)
"""Ids under which ``details`` describes a problem: true where the check did not pass."""


class ImageCheck(Reply):
    """One of the service's checks of a face image."""

    id: str
    label: str | None = None
    passed: bool


class FaceValidation(Reply):
    """The service's verdict on a face image. A reply alone is not a pass: read ``passed``."""

    passed: bool
    message: str | None = None
    checks: tuple[ImageCheck, ...] = ()
    details: Mapping[str, Any] = Field(default_factory=dict)
    """Observations. Some name a problem, so that true does not always mean acceptable."""

    @property
    def pose_suitable(self) -> bool | None:
        """The pose observation under either of its two names, None when there is none."""
        names = ("pose_suitable_for_face", "pose_suitable_for_replica")
        found = (self.details.get(name) for name in names)
        return next((each for each in found if isinstance(each, bool)), None)


class Replica(Reply):
    """A likeness in training or trained. The specification shows these two members as the
    result of creation; ``error_message`` is read where it is sent."""

    replica_id: str
    status: TrainingStatus
    error_message: str | None = None


class Deployment(Reply):
    """A published front-end of a PAL."""

    deployment_id: str
    pal_id: str | None = None
    channel: Literal["widget", "embed", "landing-page"] | None = None
    status: Literal["draft", "active", "inactive"]
    name: str | None = None
    has_password: bool | None = None
    customization: Mapping[str, Any] | None = None
    thumbnail_video_url: str | None = None
    thumbnail_image_url: str | None = None
    limits: Mapping[str, Any] | None = None
    allowed_origins: tuple[str, ...] | None = None
    usage_total: int | None = None
    usage_today: int | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None

    @property
    def etag(self) -> str | None:
        """The ``ETag`` header, which ``if_match`` takes."""
        return self.response_headers.get("etag")


class CrawlConfig(Reply):
    """How far a website is crawled."""

    depth: int | None = None
    max_pages: int | None = None


class Document(Reply):
    """A file or a crawled website that a PAL knows."""

    document_id: str
    document_name: str | None = None
    document_url: str | None = None
    status: DocumentStatus
    progress: Annotated[float, Field(ge=0, le=100)] | None = None
    """Percent; None before processing starts and after it is complete."""
    error_message: str | None = None
    """An error code such as ``file_empty``; present only when ``status`` is ``error``."""
    created_at: Moment | None = None
    updated_at: Moment | None = None
    callback_url: str | None = None
    tags: tuple[str, ...] = ()
    crawl_config: CrawlConfig | None = None
    crawled_urls: tuple[str, ...] | None = None
    last_crawled_at: Moment | None = None
    crawl_count: int | None = None


class PronunciationRule(Reply):
    """How one text is spoken. ``alias`` is the one ``type`` that the specification shows."""

    text: str
    pronunciation: str | None = None
    type: str | None = None
    case_sensitive: bool | None = None
    word_boundaries: bool | None = None


class PronunciationDictionary(Reply):
    """A list of pronunciation rules."""

    pronunciation_dictionary_id: str
    name: str | None = None
    rules: tuple[PronunciationRule, ...] = ()
    rules_count: int | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None


class ConnectorError(Reply):
    """The error of the connector's server, or of its token endpoint."""

    http_status: int | None = None
    message: Annotated[str, Field(max_length=500)] = ""


class ConnectorCheck(Reply):
    """Whether a conversation could list the connector's tools, just now."""

    ok: bool
    tool_count: int = 0
    tool_names: tuple[str, ...] = ()
    latency_ms: int | None = None
    error: ConnectorError | None = None


class PalSkills(Reply):
    """A PAL's complete skill attachments by skill id."""

    data: Mapping[str, Any]


class Event(Reply):
    """A snapshot of one resource's state. ``payload`` is everything that arrived."""

    kind: str
    status: str
    error_message: str | None = None
    updated_at: str | None = None
    """The time of this state, if the service says it."""
    payload: Mapping[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def resource_id(self) -> str:
        return str(getattr(self, self.id_member() or ""))


class VoiceStatusChanged(Event):
    """``application.voice_status_changed``: the training of a voice ended."""

    kind: Literal["voice"] = "voice"
    voice_id: str
    voice_name: str | None = None
    status: TrainingStatus


class ReplicaTraining(Event):
    """The training of a replica ended. Its payload is not specified."""

    kind: Literal["replica"] = "replica"
    replica_id: str
    status: TrainingStatus


class DocumentChanged(Event):
    """A document's status moved. Its payload is not specified."""

    kind: Literal["document"] = "document"
    document_id: str
    status: DocumentStatus
    progress: float | None = None


AnyEvent = VoiceStatusChanged | ReplicaTraining | DocumentChanged

EVENTS: tuple[type[AnyEvent], ...] = (VoiceStatusChanged, ReplicaTraining, DocumentChanged)


def parse_event(payload: Any) -> AnyEvent:
    """The event in a callback's body, which is parsed JSON. An unknown status is kept as it came.
    Raises :class:`~palprep.errors.UnexpectedReply` unless it is a JSON object with a known id."""
    if not isinstance(payload, Mapping):
        raise UnexpectedReply("The callback's body is not a JSON object.", body=payload)
    for kind in EVENTS:
        if isinstance(payload.get(kind.id_member() or ""), str | int):
            known = kind.model_fields.keys() - {"kind"}
            members = {name: payload[name] for name in known if name in payload}
            return read_leniently(kind, members | {"payload": dict(payload)})
    raise UnexpectedReply(
        "The callback is about no voice, replica or document: it has none of voice_id, "
        "replica_id and document_id.",
        body=dict(payload),
    )
