"""Voices and replicas, which are made of people's media, and the check of a face image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar

from palprep.api.bodies import Base64Stream
from palprep.api.call import Endpoint
from palprep.api.records import fields
from palprep.api.records.replies import FaceValidation, Replica, Voice, Voices
from palprep.api.request import UNSET, Place, Request, Unset
from palprep.errors import Problem


class CreateVoice(Request):
    """Clone a voice from a recording, or from the audio track of a video.

    Returns at once with status ``started``. Needs a user-scoped key, and the right to the
    voice in the recording. Which members are required is not specified.
    """

    _: KW_ONLY
    voice_name: fields.VoiceName | Unset = UNSET
    training_audio_url: fields.ShortLink | Unset = UNSET
    description: fields.VoiceDescription | Unset = UNSET
    callback_url: fields.ShortLink | Unset = UNSET
    tags: fields.Tags | Unset = UNSET


class GetVoice(Request):
    """Read one voice with its current status."""

    voice_id: str


class UpdateVoice(Request):
    """Change a voice's name, description or tags.

    At least one must be given. ``description=None`` clears the description; the others
    cannot be null.
    """

    voice_id: str
    _: KW_ONLY
    voice_name: fields.VoiceName | Unset = UNSET
    description: fields.VoiceDescription | Unset | None = UNSET
    tags: fields.Tags | Unset = UNSET

    json_schema: ClassVar[Mapping[str, Any]] = {"minProperties": 1}

    def problems(self) -> Iterable[Problem]:
        if self.voice_name is UNSET and self.description is UNSET and self.tags is UNSET:
            yield Problem("", "empty", "must hold voice_name, description or tags")


class ListVoices(Request):
    """List the account's voices, or those with ``tag``.

    The specification mentions the list with its ``tag`` and does not show it.
    """

    _: KW_ONLY
    tag: Annotated[str | Unset, Place("query")] = UNSET


create_voice = Endpoint("voices.create", "POST", "/v2/voices", CreateVoice, Voice)
get_voice = Endpoint("voices.get", "GET", "/v2/voices/{voice_id}", GetVoice, Voice)
update_voice = Endpoint(
    "voices.update", "PATCH", "/v2/voices/{voice_id}", UpdateVoice, Voice, idempotent=True
)
list_voices = Endpoint("voices.list", "GET", "/v2/voices", ListVoices, Voices, unspecified=True)


class CreateReplica(Request):
    """Train a replica from a video or from an image.

    Without ``consent_video_url`` the training video must open with the consent statement.
    ``train_image_url`` needs ``voice_name``, the slug of a stock replica's voice. The
    service trains with ``core-4`` when ``model_name`` is not given.
    """

    _: KW_ONLY
    replica_name: str | Unset = UNSET
    callback_url: fields.Link | Unset = UNSET
    train_video_url: fields.Link | Unset = UNSET
    consent_video_url: fields.Link | Unset = UNSET
    train_image_url: fields.Link | Unset = UNSET
    voice_name: str | Unset = UNSET
    auto_fix_training_image: bool | Unset = UNSET
    model_name: str | Unset = UNSET
    properties: Mapping[str, Any] | Unset = UNSET

    json_schema: ClassVar[Mapping[str, Any]] = {
        "dependentRequired": {"train_image_url": ["voice_name"]},
        "not": {"required": ["train_video_url", "train_image_url"]},
    }

    def problems(self) -> Iterable[Problem]:
        if self.train_image_url is UNSET:
            return
        if self.train_video_url is not UNSET:
            yield Problem(
                "train_image_url", "exclusive", "must not be sent together with train_video_url"
            )
        if self.voice_name is UNSET:
            yield Problem("voice_name", "missing", "is required with train_image_url")


class GetReplica(Request):
    """Read one replica with its training status.

    The specification does not show this operation.
    """

    replica_id: str


create_replica = Endpoint("replicas.create", "POST", "/v2/replicas", CreateReplica, Replica)
get_replica = Endpoint(
    "replicas.get", "GET", "/v2/replicas/{replica_id}", GetReplica, Replica, unspecified=True
)


class ValidateFaceImage(Request):
    """Check an image before face creation; creates nothing.

    The image travels as base64 without a data-URL prefix, 1 to 29,360,128 characters, in a body of
    at most 30 MiB. palprep's clients take the image as a path, as bytes or as a binary file of at
    most 22,020,096 bytes. They find its type by content unless ``mime_type`` gives it. Without a
    type the service takes ``image/jpeg``, without a model ``core-4``: give the ``model`` that the
    face will be made with. A reply means that the check was made: read its ``passed``.
    """

    image_base64: Annotated[fields.ImageBase64, Place("member", "imageBase64")]
    _: KW_ONLY
    model: fields.FaceModel | Unset = UNSET
    mime_type: Annotated[fields.ImageMime | Unset, Place("member", "mimeType")] = UNSET

    streamed = ("image_base64", "image", "mime_type")

    def problems(self) -> Iterator[Problem]:
        """Keep a file of an unknown type from being sent as a JPEG."""
        image: object = self.image_base64
        if isinstance(image, Base64Stream) and self.mime_type is UNSET:
            yield Problem(
                "mimeType",
                "unknown_type",
                f"cannot be told: {image.name} is no JPEG, PNG, WebP, HEIC or HEIF image. "
                "Convert it, or give mime_type",
            )


class ValidateReplicaImage(ValidateFaceImage):
    """Check an image on the legacy route; ``faces.validate_image`` is the current one."""


validate_face_image = Endpoint(
    "faces.validate_image",
    "POST",
    "/v2/faces/image-validation",
    ValidateFaceImage,
    FaceValidation,
    idempotent=True,
    max_body_bytes=fields.MAX_IMAGE_BODY_BYTES,
)
validate_replica_image = replace(
    validate_face_image,
    name="replicas.validate_image",
    path="/v2/replicas/image-validation",
    request=ValidateReplicaImage,
    deprecated=True,
)
