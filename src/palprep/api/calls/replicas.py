"""Replicas: likenesses trained from a video or an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

from palprep.api.call import Effect, Endpoint
from palprep.api.fields import Link
from palprep.api.records import Replica
from palprep.api.wire import UNSET, AccountSettings, InPath, Request, Unset
from palprep.errors import Problem


@dataclass(frozen=True)
class CreateReplica(Request):
    """Train a replica from a video or from an image.

    Without ``consent_video_url`` the training video must open with the consent statement.
    ``train_image_url`` needs ``voice_name``, the slug of a stock replica's voice. The
    service trains with ``core-4`` when ``model_name`` is not given.
    """

    _: KW_ONLY
    replica_name: str | Unset = UNSET
    callback_url: Link | Unset = UNSET
    train_video_url: Link | Unset = UNSET
    consent_video_url: Link | Unset = UNSET
    train_image_url: Link | Unset = UNSET
    voice_name: str | Unset = UNSET
    auto_fix_training_image: bool | Unset = UNSET
    model_name: str | Unset = UNSET
    properties: Mapping[str, Any] | Unset = UNSET

    json_schema: ClassVar[Mapping[str, Any]] = {
        "dependentRequired": {"train_image_url": ["voice_name"]},
        "not": {"required": ["train_video_url", "train_image_url"]},
    }

    def problems(self, settings: AccountSettings) -> Iterable[Problem]:
        """One source of training, and a voice for an image."""
        del settings
        if self.train_image_url is UNSET:
            return
        if self.train_video_url is not UNSET:
            yield Problem(
                "train_image_url", "exclusive", "must not be sent together with train_video_url"
            )
        if self.voice_name is UNSET:
            yield Problem("voice_name", "missing", "is required with train_image_url")


@dataclass(frozen=True)
class GetReplica(Request):
    """Read one replica with its training status.

    The specification does not show this operation.
    """

    replica_id: Annotated[str, InPath()]


create_replica = Endpoint(
    "replicas.create", "POST", "/v2/replicas", CreateReplica, Replica, Effect.CREATES
)
get_replica = Endpoint(
    "replicas.get",
    "GET",
    "/v2/replicas/{replica_id}",
    GetReplica,
    Replica,
    Effect.READS,
    unspecified=True,
)
