"""Rules of a file as such, and of an image file: format, size, colour, what it carries along.

What the image shows is judged in :mod:`palprep.rules.portrait`.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from palprep.media import FileFacts, ImageFacts
from palprep.rules.needs import FILE, IMAGE
from palprep.rules.rule import Measured, Rule, plain, rule, sides


@rule(FILE)
def file_extension(file: FileFacts) -> Measured | None:
    if not file.has_name:
        return None
    extension = PurePath(file.name).suffix.lower()
    wanted = file.type.extensions
    return Measured(
        value=extension in wanted,
        shown=extension or "no extension",
        way=None if extension else "bare",
        words={"extension": extension, "content": f"{file.type.description} ({', '.join(wanted)})"},
    )


@rule(FILE)
def file_size(file: FileFacts) -> Measured:
    size_mb = file.size_bytes / 1e6  # Not rounded: a service counts bytes.
    return Measured(value=size_mb, shown=f"{size_mb:,.1f} MB")


_METADATA: Final = {
    "comment": "a comment",
    "exif": "data of the camera (EXIF)",
    "gps": "the place (GPS)",
    "iptc": "captions and authors (IPTC)",
    "thumbnail": "a small copy of the image as it was",
    "xmp": "notes of an editor (XMP)",
}
"""The words of metadata, by its kind."""


@rule(IMAGE)
def image_format(image: ImageFacts) -> Measured:
    return Measured(value=image.format, words={"format": image.format.upper()})


image_training_format = Rule("image_training_format", image_format.measure)
image_memory = plain("image_memory", IMAGE, lambda image: image.decoding_mb, "{:,.0f} MB")
image_base64_length = plain("image_base64_length", IMAGE, lambda image: image.base64_chars)
image_frames = plain("image_frames", IMAGE, lambda image: image.frames)
image_alpha = plain("image_alpha", IMAGE, lambda image: not image.has_alpha, ("opaque", "alpha"))
image_resolution = sides("image_resolution", IMAGE, min)
image_long_side = sides("image_long_side", IMAGE, max)


@rule(IMAGE)
def image_upright(image: ImageFacts) -> Measured:
    turned = "upright" if image.orientation == 1 else f"EXIF orientation {image.orientation}"
    return Measured(value=image.orientation == 1, shown=turned)


@rule(IMAGE)
def image_srgb(image: ImageFacts) -> Measured:
    plain = (
        image.mode in {"RGB", "RGBA", "L", "LA", "P", "PA", "1"}
        and image.bits_per_channel <= 8
        and image.icc_is_srgb is not False
    )
    profile = image.icc_profile or "no ICC profile"
    return Measured(value=plain, shown=f"{image.mode}, {image.bits_per_channel} bit, {profile}")


@rule(IMAGE)
def image_metadata(image: ImageFacts) -> Measured:
    private = [kind for kind in image.metadata if kind != "icc"]
    return Measured(
        value=not private,
        shown=", ".join(private) or "none",
        words={"kinds": ", ".join(_METADATA[kind] for kind in private)},
    )
