"""Resources with one endpoint each: videos, documents, pronunciation dictionaries,
connectors and conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from palprep.api.call import Effect, Endpoint, Rate
from palprep.api.records import ConnectorCheck, Document, PronunciationDictionary
from palprep.api.wire import UNSET, InPath, OtherMembers, Request, Unset, Unspecified


@dataclass(frozen=True)
class RenameVideo(Request):
    """Give a generated video another name. The reply is not specified."""

    video_id: Annotated[str, InPath()]
    video_name: str


@dataclass(frozen=True)
class GetDocument(Request):
    """Read one document with its status and progress."""

    document_id: Annotated[str, InPath()]


@dataclass(frozen=True)
class GetPronunciationDictionary(Request):
    """Read one pronunciation dictionary with all its rules."""

    dictionary_id: Annotated[str, InPath()]


@dataclass(frozen=True)
class RuntimeCheckConnector(Request):
    """Check that a conversation can reach the connector's server.

    Lists the server's tools the way a call does and calls none. A server that fails is a
    reply with ``ok`` false, not an error. At most 10 checks a minute, one at a time.
    """

    connector_id: Annotated[str, InPath()]


@dataclass(frozen=True)
class CreateConversation(Request):
    """Start a real-time video call session.

    The specification shows three members and no reply; ``other`` holds further members,
    which are sent as they stand.
    """

    _: KW_ONLY
    face_id: str | Unset = UNSET
    pal_id: str | Unset = UNSET
    conversation_name: str | Unset = UNSET
    other: Annotated[Mapping[str, Any] | Unset, OtherMembers()] = UNSET


rename_video = Endpoint(
    "videos.rename", "PATCH", "/v2/videos/{video_id}/name", RenameVideo, Unspecified, Effect.SETS
)
get_document = Endpoint(
    "documents.get", "GET", "/v2/documents/{document_id}", GetDocument, Document, Effect.READS
)
get_pronunciation_dictionary = Endpoint(
    "pronunciation_dictionaries.get",
    "GET",
    "/v2/pronunciation-dictionaries/{dictionary_id}",
    GetPronunciationDictionary,
    PronunciationDictionary,
    Effect.READS,
)
runtime_check_connector = Endpoint(
    "connectors.runtime_check",
    "POST",
    "/v2/connectors/{connector_id}/runtime_check",
    RuntimeCheckConnector,
    ConnectorCheck,
    Effect.READS,
    status=200,
    rate=Rate(requests=10, seconds=60.0, alone=True),
    failures={
        404: "connector not found",
        409: "OAuth not finished for this connector",
        429: "more than 10 checks in a minute, or another check is still running",
        503: "check not available on this deployment",
    },
)
create_conversation = Endpoint(
    "conversations.create",
    "POST",
    "/v2/conversations",
    CreateConversation,
    Unspecified,
    Effect.CREATES,
)
