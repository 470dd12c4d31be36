"""Rules of a still picture's file: format, size, colour and what it carries along.

What the picture shows is judged in :mod:`palprep.rules.face`.
"""

from __future__ import annotations

from palprep.facts.facts import Facts
from palprep.media.facts import ImageFacts
from palprep.rules.rule import Measured, Rule


class ImageRule(Rule):
    """A rule that needs nothing but the still's own facts."""

    def measure(self, facts: Facts) -> Measured | None:
        return None if facts.image is None else self.measure_image(facts.image)

    def measure_image(self, still: ImageFacts) -> Measured:
        """The measure of a still; every subclass gives one."""
        raise NotImplementedError


class ImageFormat(ImageRule):
    """The validator reads JPEG, PNG, WebP, HEIC and HEIF, told apart by content."""

    id = "image_format"
    label = "Image format"
    predicts = "mimeType of the face image validation"
    advice = "Convert it to JPEG: palprep fix does."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(value=still.format)


class ImageTrainingFormat(ImageRule):
    """Training from an image URL is safest with JPEG or PNG, though the validator takes more."""

    id = "image_training_format"
    label = "Format safe for training"
    predicts = "training of an image-to-replica"
    advice = "Convert it to JPEG: palprep fix does."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(value=still.format)


class ImageBase64Length(ImageRule):
    """The picture travels as base64 in a JSON body: 4 characters for every 3 bytes, no line breaks.

    29,360,128 characters are 22,020,096 bytes; the 30 MiB body limit leaves room beyond that,
    so this limit binds first.
    """

    id = "image_base64_length"
    label = "Length in base64"
    unit = "characters"
    predicts = "imageBase64 of the face image validation"
    advice = "Re-encode it smaller: palprep fix finds the best quality that fits."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(value=still.base64_chars)


class ImageResolution(ImageRule):
    """The shorter side needs enough pixels for a face to be rebuilt from. Nothing upscales it."""

    id = "image_resolution"
    label = "Shorter side"
    unit = "px"
    predicts = "image_quality_acceptable"
    advice = "Take or find the picture at a higher resolution; enlarging it adds nothing."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(
            value=min(still.width, still.height), shown=f"{still.width} x {still.height} px"
        )


class ImageLongSide(ImageRule):
    """Beyond this the picture only costs time: a face fills a part of a 4K frame at the most."""

    id = "image_long_side"
    label = "Longer side"
    unit = "px"
    advice = "Scale it down: palprep fix does."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(
            value=max(still.width, still.height), shown=f"{still.width} x {still.height} px"
        )


class ImageUpright(ImageRule):
    """The picture is stored as it is shown, so that a reader that ignores EXIF sees it upright."""

    id = "image_upright"
    label = "Stored upright"
    predicts = "pose_suitable_for_replica"
    advice = "Apply the orientation to the pixels: palprep fix does."

    def measure_image(self, still: ImageFacts) -> Measured:
        turned = "upright" if still.orientation == 1 else f"EXIF orientation {still.orientation}"
        return Measured(value=still.orientation == 1, shown=turned)


class ImageColour(ImageRule):
    """Plain 8-bit RGB or grey in sRGB: colours of anything else shift where that is ignored."""

    id = "image_colour"
    label = "8-bit sRGB"
    predicts = "image_quality_acceptable"
    advice = "Convert it to 8-bit sRGB: palprep fix does."

    def measure_image(self, still: ImageFacts) -> Measured:
        plain = (
            still.mode in {"RGB", "RGBA", "L", "LA", "P", "PA", "1"}
            and still.bits_per_channel <= 8
            and still.icc_is_srgb is not False
        )
        profile = still.icc_profile or "no ICC profile"
        return Measured(value=plain, shown=f"{still.mode}, {still.bits_per_channel} bit, {profile}")


class ImageAlpha(ImageRule):
    """Transparency has no meaning in a portrait, and each reader fills it differently."""

    id = "image_alpha"
    label = "No transparency"
    advice = "Flatten it onto white: palprep fix does."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(value=not still.has_alpha, shown="alpha" if still.has_alpha else "opaque")


class ImageFrames(ImageRule):
    """One picture, not an animation or a burst; only the first frame would be looked at."""

    id = "image_frames"
    label = "Single frame"
    unit = "frame"
    advice = "Keep one frame: palprep fix keeps the first."

    def measure_image(self, still: ImageFacts) -> Measured:
        return Measured(value=still.frames)


class ImageMetadata(ImageRule):
    """Camera data, places and thumbnails of the uncropped picture leave the house with the file."""

    id = "image_metadata"
    label = "No private metadata"
    advice = "Remove it: palprep fix removes all metadata."

    def measure_image(self, still: ImageFacts) -> Measured:
        private = tuple(kind for kind in still.metadata if kind != "icc")
        return Measured(value=not private, shown=", ".join(private) or "none")


IMAGE_RULES: tuple[type[Rule], ...] = (
    ImageFormat,
    ImageTrainingFormat,
    ImageBase64Length,
    ImageResolution,
    ImageLongSide,
    ImageUpright,
    ImageColour,
    ImageAlpha,
    ImageFrames,
    ImageMetadata,
)
