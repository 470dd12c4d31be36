"""A small image of a file, for pages and notebooks."""

from __future__ import annotations

import io
from fractions import Fraction

from PIL import Image

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.container import limit_frames, open_container, video_streams
from palprep.media.display import upright
from palprep.media.image import load_image
from palprep.media.source import Source
from palprep.values import Kind

_QUALITY = 82
_INTO = 0.1
"""How far into a video its thumbnail is taken: the very first frame is often black."""


def thumbnail(source: Source, *, max_side: int = 480) -> bytes:
    """A JPEG, upright and at most ``max_side`` pixels long, of an image or a video.

    Raises UnsupportedMedia for audio, DamagedMedia when none decodes.
    """
    match source.type.kind:
        case Kind.IMAGE:
            picture = load_image(source, max_side=max_side)
        case Kind.VIDEO:
            picture = _video_frame(source, max_side)
        case _:
            raise UnsupportedMedia(f"{source.name} has no image to show")
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=_QUALITY)
    return data.getvalue()


def _video_frame(source: Source, max_side: int) -> Image.Image:
    with open_container(source) as container:
        streams = video_streams(container)
        if not streams:
            raise UnsupportedMedia(f"{source.name} has no video stream")
        limit_frames(streams[0])
        if container.duration and container.duration > 0:
            container.seek(int(container.duration * _INTO), any_frame=False)
        frame = next(container.decode(streams[0]), None)
        if frame is None:
            raise DamagedMedia(f"No frame of {source.name} decodes; export or record it again")
        aspect = streams[0].sample_aspect_ratio or Fraction(1)
        return Image.fromarray(upright(frame, aspect, max_side))
