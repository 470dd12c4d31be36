"""Rules of an image file: format, size, colour and what it carries along.

What the image shows is judged in the modules ``portrait_*``.
"""

from __future__ import annotations

from typing import Final

from palprep.media import ImageFacts
from palprep.rules.needs import IMAGE
from palprep.rules.rule import Measured, Rule
from palprep.rules.sentences import ByLevel, Sentences

_METADATA: Final = {
    "comment": "a comment",
    "exif": "data of the camera (EXIF)",
    "gps": "the place (GPS)",
    "iptc": "captions and authors (IPTC)",
    "thumbnail": "a small copy of the image as it was",
    "xmp": "notes of an editor (XMP)",
}
"""What is found, by its kind."""


class ImageFormat(Rule[ImageFacts]):
    """The validator reads JPEG, PNG, WebP, HEIC and HEIF, told apart by content."""

    needs = IMAGE
    id = "image_format"
    label = "Image format"
    predicts = "mimeType of the face image validation"
    sentences = Sentences(
        "The format of the image is {format}.",
        otherwise="The format of the image is {format}, which is not accepted.",
    )
    advice = "Convert it to JPEG. palprep fix does so."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.format, words={"format": image.format.upper()})


class ImageTrainingFormat(Rule[ImageFacts]):
    """Training from an image URL is safest with JPEG or PNG, though the validator takes more."""

    needs = IMAGE
    id = "image_training_format"
    label = "Format safe for training"
    predicts = "training of an image-to-replica"
    sentences = Sentences(
        "The format of the image is {format}.",
        otherwise="The format of the image is {format}, which training may not read.",
    )
    advice = "Convert it to JPEG. palprep fix does so."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.format, words={"format": image.format.upper()})


class ImageMemory(Rule[ImageFacts]):
    """An image of some kilobytes can ask for gigabytes of memory. One that takes more than the
    limit is not decoded.
    """

    needs = IMAGE
    id = "image_memory"
    label = "Memory to decode"
    unit = "MB"
    sentences = Sentences(
        "Decoding the image takes {measured} of memory.",
        above="The image was not looked at: decoding it takes {measured} of memory.",
    )
    advice = "Export it smaller, and as a JPEG that is not progressive."

    def measure(self, image: ImageFacts) -> Measured | None:
        if image.decoding_mb is None:
            return None
        return Measured(value=image.decoding_mb, shown=f"{image.decoding_mb:,.0f} MB")


class ImageBase64Length(Rule[ImageFacts]):
    """The image travels as base64 in a JSON body: 4 characters for every 3 bytes, without line
    breaks. This limit is reached before the one of the whole body, 30 MiB.
    """

    needs = IMAGE
    id = "image_base64_length"
    label = "Length in base64"
    unit = "characters"
    predicts = "imageBase64 of the face image validation"
    sentences = Sentences(
        "The image has {measured} characters in base64.",
        below="The image holds no data: it has {measured} characters in base64.",
        above="The image is too large to send: it has {measured} characters in base64.",
    )
    advice = "Encode it smaller. palprep fix finds the best quality that fits."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.base64_chars)


class ImageResolution(Rule[ImageFacts]):
    """A replica of the face needs enough pixels on the shorter side. palprep never enlarges."""

    needs = IMAGE
    id = "image_resolution"
    label = "Shorter side"
    unit = "px"
    predicts = "image_quality_acceptable"
    sentences = Sentences(
        "The image has {measured}.",
        below="The image is too small: it has {measured}.",
        above="The image is too large: it has {measured}.",
    )
    advice = "Take or find the image at a higher resolution. Enlarging it adds nothing."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(
            value=min(image.width, image.height), shown=f"{image.width} x {image.height} px"
        )


class ImageLongSide(Rule[ImageFacts]):
    """Beyond this size an image only costs time: more pixels do not make a better replica."""

    needs = IMAGE
    id = "image_long_side"
    label = "Longer side"
    unit = "px"
    sentences = Sentences(
        "The image has {measured}.",
        below="The image is too small: it has {measured}.",
        above=ByLevel(
            fail="The image is too large: it has {measured}.",
            warn="The image is larger than is of use: it has {measured}.",
        ),
    )
    advice = "Scale it down. palprep fix does so."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(
            value=max(image.width, image.height), shown=f"{image.width} x {image.height} px"
        )


class ImageUpright(Rule[ImageFacts]):
    """The pixels are stored upright, so that software that ignores EXIF shows the image right."""

    needs = IMAGE
    id = "image_upright"
    label = "Stored upright"
    predicts = "pose_suitable_for_replica"
    sentences = Sentences(
        "The image is stored upright.",
        otherwise="The image is stored turned: only its EXIF data say which side is up.",
    )
    advice = "Turn the pixels themselves. palprep fix does so."

    def measure(self, image: ImageFacts) -> Measured:
        turned = "upright" if image.orientation == 1 else f"EXIF orientation {image.orientation}"
        return Measured(value=image.orientation == 1, shown=turned)


class ImageSrgb(Rule[ImageFacts]):
    """The image is 8-bit RGB or grey, in sRGB. Other colours look wrong in software that ignores
    the colour profile."""

    needs = IMAGE
    id = "image_srgb"
    label = "8-bit sRGB"
    predicts = "image_quality_acceptable"
    sentences = Sentences(
        "The colours are 8-bit sRGB.",
        otherwise="The colours are not 8-bit sRGB. They are stored as {measured}.",
    )
    advice = "Convert it to 8-bit sRGB. palprep fix does so."

    def measure(self, image: ImageFacts) -> Measured:
        plain = (
            image.mode in {"RGB", "RGBA", "L", "LA", "P", "PA", "1"}
            and image.bits_per_channel <= 8
            and image.icc_is_srgb is not False
        )
        profile = image.icc_profile or "no ICC profile"
        return Measured(value=plain, shown=f"{image.mode}, {image.bits_per_channel} bit, {profile}")


class ImageAlpha(Rule[ImageFacts]):
    """Transparency has no meaning in a portrait, and each program fills it differently."""

    needs = IMAGE
    id = "image_alpha"
    label = "No transparency"
    sentences = Sentences(
        "The image is opaque.", otherwise="The image has a channel of transparency."
    )
    advice = "Flatten it onto white. palprep fix does so."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=not image.has_alpha, shown="alpha" if image.has_alpha else "opaque")


class ImageFrames(Rule[ImageFacts]):
    """The file holds one image, not an animation or a burst: only the first frame is looked at."""

    needs = IMAGE
    id = "image_frames"
    label = "Single frame"
    unit = "frame"
    sentences = Sentences(
        "The file holds a single image.",
        otherwise="The file holds {measured} images, of which only one is used.",
        above="The file holds too many images: {measured}.",
    )
    advice = "Keep one frame. palprep fix keeps the first."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.frames)


class ImageMetadata(Rule[ImageFacts]):
    """Metadata reveal more than the image: the camera, the place, a thumbnail of what was cut."""

    needs = IMAGE
    id = "image_metadata"
    label = "No private metadata"
    sentences = Sentences(
        "The image carries no private metadata.",
        otherwise="The image carries private metadata: {kinds}.",
    )
    advice = "Remove them. palprep fix removes all metadata."

    def measure(self, image: ImageFacts) -> Measured:
        private = [kind for kind in image.metadata if kind != "icc"]
        return Measured(
            value=not private,
            shown=", ".join(private) or "none",
            words={"kinds": ", ".join(_METADATA[kind] for kind in private)},
        )
