"""Rules of an image file: format, size, colour and what it carries along.

What the image shows is judged in the modules ``portrait_*``.
"""

from __future__ import annotations

from palprep.media.facts import ImageFacts
from palprep.rules.needs import IMAGE
from palprep.rules.rule import Measured, Rule


class ImageFormat(Rule[ImageFacts]):
    """The validator reads JPEG, PNG, WebP, HEIC and HEIF, told apart by content."""

    needs = IMAGE
    id = "image_format"
    label = "Image format"
    predicts = "mimeType of the face image validation"
    advice = "Convert it to JPEG: palprep fix does."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.format)


class ImageTrainingFormat(Rule[ImageFacts]):
    """Training from an image URL is safest with JPEG or PNG, though the validator takes more."""

    needs = IMAGE
    id = "image_training_format"
    label = "Format safe for training"
    predicts = "training of an image-to-replica"
    advice = "Convert it to JPEG: palprep fix does."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.format)


class ImageBase64Length(Rule[ImageFacts]):
    """The image travels as base64 in a JSON body: 4 characters for every 3 bytes, without line
    breaks. This limit is reached before the one of the whole body, 30 MiB.
    """

    needs = IMAGE
    id = "image_base64_length"
    label = "Length in base64"
    unit = "characters"
    predicts = "imageBase64 of the face image validation"
    advice = "Re-encode it smaller: palprep fix finds the best quality that fits."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.base64_chars)


class ImageResolution(Rule[ImageFacts]):
    """A replica of the face needs enough pixels on the shorter side. palprep never enlarges."""

    needs = IMAGE
    id = "image_resolution"
    label = "Shorter side"
    unit = "px"
    predicts = "image_quality_acceptable"
    advice = "Take or find the image at a higher resolution; enlarging it adds nothing."

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
    advice = "Scale it down: palprep fix does."

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
    advice = "Apply the orientation to the pixels: palprep fix does."

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
    advice = "Convert it to 8-bit sRGB: palprep fix does."

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
    advice = "Flatten it onto white: palprep fix does."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=not image.has_alpha, shown="alpha" if image.has_alpha else "opaque")


class ImageFrames(Rule[ImageFacts]):
    """The file holds one image, not an animation or a burst: only the first frame is looked at."""

    needs = IMAGE
    id = "image_frames"
    label = "Single frame"
    unit = "frame"
    advice = "Keep one frame: palprep fix keeps the first."

    def measure(self, image: ImageFacts) -> Measured:
        return Measured(value=image.frames)


class ImageMetadata(Rule[ImageFacts]):
    """Metadata reveal more than the image: the camera, the place, a thumbnail of what was cut."""

    needs = IMAGE
    id = "image_metadata"
    label = "No private metadata"
    advice = "Remove it: palprep fix removes all metadata."

    def measure(self, image: ImageFacts) -> Measured:
        private = tuple(kind for kind in image.metadata if kind != "icc")
        return Measured(value=not private, shown=", ".join(private) or "none")
