"""Face images, checked before a face is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from palprep.api.call import Effect, Endpoint
from palprep.api.fields import MAX_IMAGE_BODY_BYTES, FaceModel, ImageBase64, ImageMime
from palprep.api.records import FaceValidation
from palprep.api.stream import Base64Stream
from palprep.api.wire import UNSET, AccountSettings, Named, Request, Streamed, Unset
from palprep.errors import Problem


@dataclass(frozen=True)
class ValidateFaceImage(Request):
    """Check an image before face creation; creates nothing.

    The image travels as base64 without a data-URL prefix, 1 to 29,360,128 characters, in a
    body of at most 30 MiB. palprep's clients take the image as a path, as bytes or as a binary
    file of at most 22,020,096 bytes. They find its type by content unless ``mime_type`` gives
    it. Without a type the service takes ``image/jpeg``, without a model ``core-4``: give the
    ``model`` that the face will be made with. A reply means that the check was made: read its
    ``passed``.
    """

    image_base64: Annotated[
        ImageBase64, Named("imageBase64"), Streamed(argument="image", type_field="mime_type")
    ]
    _: KW_ONLY
    model: FaceModel | Unset = UNSET
    mime_type: Annotated[ImageMime | Unset, Named("mimeType")] = UNSET

    def problems(self, settings: AccountSettings) -> Iterator[Problem]:
        """A file of a type that the service does not take is not sent as a JPEG."""
        del settings
        image: object = self.image_base64
        if isinstance(image, Base64Stream) and self.mime_type is UNSET:
            yield Problem(
                "mimeType",
                "unknown_type",
                f"cannot be told: {image.name} is no JPEG, PNG, WebP, HEIC or HEIF image. "
                "Convert it, or give mime_type",
            )


@dataclass(frozen=True)
class ValidateReplicaImage(ValidateFaceImage):
    """Check an image on the legacy route; ``faces.validate_image`` is the current one."""


validate_face_image = Endpoint(
    "faces.validate_image",
    "POST",
    "/v2/faces/image-validation",
    ValidateFaceImage,
    FaceValidation,
    Effect.READS,
    status=200,
    max_body_bytes=MAX_IMAGE_BODY_BYTES,
)
validate_replica_image = Endpoint(
    "replicas.validate_image",
    "POST",
    "/v2/replicas/image-validation",
    ValidateReplicaImage,
    FaceValidation,
    Effect.READS,
    status=200,
    max_body_bytes=MAX_IMAGE_BODY_BYTES,
    deprecated=True,
)
