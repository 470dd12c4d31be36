"""Face images, checked before a face is made of them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from palprep.api.call import Effect, Endpoint
from palprep.api.fields import MAX_IMAGE_BODY_BYTES, FaceModel, ImageBase64, ImageMime
from palprep.api.records import FaceValidation
from palprep.api.wire import UNSET, Named, Request, Unset


@dataclass(frozen=True)
class ValidateFaceImage(Request):
    """Check an image before face creation; creates nothing.

    The image travels as base64 without a data-URL prefix, 1 to 29,360,128 characters, in a
    body of at most 30 MiB. The service takes ``image/jpeg`` and ``core-4`` when the type and
    the model are not given. A reply means that the check was made: read its ``passed``.
    """

    image_base64: Annotated[ImageBase64, Named("imageBase64")]
    _: KW_ONLY
    mime_type: Annotated[ImageMime | Unset, Named("mimeType")] = UNSET
    model: FaceModel | Unset = UNSET


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
    ValidateFaceImage,
    FaceValidation,
    Effect.READS,
    status=200,
    max_body_bytes=MAX_IMAGE_BODY_BYTES,
    deprecated=True,
)
