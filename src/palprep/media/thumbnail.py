"""Small images of a file, for pages and notebooks."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from fractions import Fraction

from PIL import Image

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.container import limit_frames, open_container, video_streams
from palprep.media.display import upright
from palprep.media.frames import sample_frames
from palprep.media.image import load_image
from palprep.media.source import Source
from palprep.values import Kind

_QUALITY = 82
_INTO = 0.1
"""How far into a video its thumbnail is taken: the very first frame is often black."""

_LOOKS_PER_S = 4.0


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
    return _jpeg(picture)


def frames_at(
    source: Source, times_s: Sequence[float], *, max_side: int = 240
) -> tuple[tuple[float, bytes], ...]:
    """The frames that a video shows at these ascending times: the time of each, and a JPEG,
    upright and at most ``max_side`` pixels long.

    Exact to a few tenths of a second. Times past the end have no frame. Decodes from the start
    up to the last of them. Raises MediaError, as :func:`palprep.media.frames.sample_frames`.
    """
    waiting = list(times_s)
    found: list[tuple[float, bytes]] = []
    frames = sample_frames(source, per_second=_LOOKS_PER_S, max_side=max_side)
    with contextlib.closing(frames):
        while waiting and (frame := next(frames, None)) is not None:
            if frame.at_s < waiting[0]:
                continue
            found.append((frame.at_s, _jpeg(Image.fromarray(frame.rgb))))
            waiting = [at_s for at_s in waiting if at_s > frame.at_s]
    return tuple(found)


def _jpeg(picture: Image.Image) -> bytes:
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
