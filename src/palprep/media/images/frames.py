"""Frames of a video: sampled and shown as a player shows them, the luma of every decoded one, and
small images for pages and notebooks."""

from __future__ import annotations

import contextlib
import io
import math
import os
import struct
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import av
import numpy as np
from av.packet import Packet
from av.sidedata.sidedata import SideData, SideDataContainer
from av.video.frame import VideoFrame
from numpy.typing import NDArray
from PIL import Image

from palprep.media.container import Packets, decoded, no_frame, open_container, video_stream
from palprep.media.images.light import HLG, PQ, Pixels, as_srgb
from palprep.media.images.stills import open_image
from palprep.media.sources.source import Source
from palprep.system import trim_heap
from palprep.values import Kind

_BT709, _UNSPECIFIED, _HD_HEIGHT = 1, 2, 720
"""Code points of ITU-T H.273, and from where on a video is in high definition."""


class DisplayMatrix(NamedTuple):
    """What a display matrix asks for: first mirror left and right, then turn."""

    quarters: int
    """Quarter turns counter-clockwise, 0 to 3."""
    mirrored: bool

    @classmethod
    def of(cls, frame: VideoFrame) -> DisplayMatrix:
        """The turn of a frame; players round to quarters."""
        quarters = round(frame.rotation / 90) % 4
        # A container of our own: the one that ``frame.side_data`` makes and the frame hold each
        # other, so that every frame's pixels would stay until Python collects cycles.
        data = SideDataContainer(frame)  # type: ignore[call-arg]  # its stub has no constructor
        matrix = data.get("DISPLAYMATRIX")
        if not isinstance(matrix, SideData):
            return cls(quarters, mirrored=False)
        # FFmpeg's own angle leaves mirroring out, and is off by a half turn where it mirrors
        # left and right.
        a, b, _, c, d = struct.unpack_from("=5i", bytes(matrix))
        if a * d - b * c >= 0:
            return cls(quarters, mirrored=False)
        if abs(c) > abs(d):
            return cls(1 if c > 0 else 3, mirrored=True)
        return cls(0 if d > 0 else 2, mirrored=True)

    def applied(self, pixels: Pixels) -> Pixels:
        """Pixels (height, width, ...) as shown; a view where nothing else is needed."""
        return np.rot90(pixels[:, ::-1] if self.mirrored else pixels, self.quarters)


def upright(frame: VideoFrame, aspect: Fraction, max_side: int | None) -> Pixels:
    """A frame as RGB (height, width, 3), as shown, with sides of ``max_side`` at the most.

    ``aspect`` is the sample aspect ratio, width over height of a pixel.
    """
    width, height = max(1, round(frame.width * aspect)), frame.height
    if max_side is not None and max(width, height) > max_side:
        scale = max_side / max(width, height)
        width, height = max(1, round(width * scale)), max(1, round(height * scale))
    # Where the file states no matrix, swscale takes that of standard definition, for HD too.
    guessed = frame.colorspace == _UNSPECIFIED and frame.height >= _HD_HEIGHT
    hdr = frame.color_trc in {PQ, HLG}
    rgb: NDArray[Any] = frame.to_ndarray(
        format="rgb48le" if hdr else "rgb24",
        width=width,
        height=height,
        interpolation="AREA" if width < frame.width else "BILINEAR",
        src_colorspace=_BT709 if guessed else None,
    )
    if hdr:
        rgb = as_srgb(rgb, int(frame.color_trc), int(frame.color_primaries))
    return np.ascontiguousarray(DisplayMatrix.of(frame).applied(rgb), dtype=np.uint8)


_MOST_THREADS = 4
"""Every decoder thread holds frames of its own: with more, 4K would take too much memory."""

_LARGE_PIXELS = 4_500_000
"""Above 2560x1440 the decoder runs alone: each further thread would hold some frames of 12 MB
and more, while the other cores have sound and faces to work on."""

_DECODED_ALONE = frozenset({"theora"})
"""FFmpeg's threads show a frame that an empty packet repeats before it is whole: 1 of 400 times."""

_REORDERED = 2
"""So many frames are shown before one that is decoded first and that they may refer to (x264)."""

_LUMA_SIDE = 160
"""Longer side, about, of the luma that an observer gets."""


class SampledFrame(NamedTuple):
    """One frame: presentation time in seconds, pixels (height, width, 3) as RGB, upright."""

    at_s: float
    rgb: Pixels


def sample_frames(
    source: Source,
    *,
    per_second: float = 1.0,
    max_side: int | None = None,
    key_frames_only: bool = False,
    on_luma: Callable[[float, Pixels], None] | None = None,
    from_s: float = -math.inf,
    most_s: float | None = None,
) -> Generator[SampledFrame, None, None]:
    """Frames at about ``per_second``, in order; one decode serves all who look at them.

    Frames that no other frame needs are not decoded: every second one of an x264 encode with its
    default pyramid, and none of a phone's, which references all. Freezes and black last a second,
    cuts and exposure step, and shake is told over fifths of a second: half the rate shows them as
    well. With ``key_frames_only`` only those key frames are decoded that are due. ``on_luma`` is
    given the time and a small copy of the luma (height, width) as stored, 0 to 255, of every frame
    that is decoded, the unsampled ones too. Frames before the presentation time ``from_s`` and
    after ``most_s`` are left out. The longer side has at most ``max_side`` pixels.

    Raises MediaError, when the iteration starts or meets it, as ``open_container`` does;
    UnsupportedMedia without a video stream, DamagedMedia when nothing decodes.
    """
    last_s = math.inf if most_s is None else most_s
    step, due = 1.0 / per_second, None
    # What networks took while they were loaded goes before a decoder takes as much again.
    trim_heap()
    try:
        # Where no frame is marked as a key frame, some encoders refresh the image bit by bit.
        for keys_alone in (True, False) if key_frames_only else (False,):
            with contextlib.closing(_decoded_frames(source, step, keys_alone=keys_alone)) as frames:
                for at, frame, aspect in frames:
                    if at > last_s and due is not None:
                        break
                    if on_luma is not None:
                        on_luma(at, small_luma(frame))
                    if at >= (from_s if due is None else due):
                        due = _next_due(due, at, step)
                        yield SampledFrame(at, upright(frame, aspect, max_side))
                    # Not kept until the next one is decoded: of 4K it takes 12 MB and more.
                    del frame
            if due is not None:
                return
    finally:
        trim_heap()
    raise no_frame(source)


def _decoded_frames(
    source: Source, step: float, *, keys_alone: bool
) -> Generator[tuple[float, VideoFrame, Fraction], None, None]:
    shown = -math.inf
    for frame, aspect in _decoded_by(decoder_threads(), source, step, keys_alone=keys_alone):
        # Where parts follow one another, time begins anew: as one it has no order.
        if frame.time is not None and frame.time > shown:
            shown = frame.time
            yield shown, frame, aspect
        del frame


def _decoded_by(
    threads: int, source: Source, step: float, *, keys_alone: bool
) -> Generator[tuple[VideoFrame, Fraction], None, None]:
    """Several threads make other pixels of a damaged video each time: from the first corrupt frame
    on one thread makes all once more, those before it, too."""
    with open_container(source) as container:
        stream = video_stream(container, source)
        context = stream.codec_context
        if is_large(context.width, context.height) or context.name in _DECODED_ALONE:
            threads = 1
        context.thread_type, context.thread_count = "AUTO", threads
        context.skip_frame = "NONKEY" if keys_alone else "NONREF"
        aspect = stream.sample_aspect_ratio or Fraction(1)
        packets: Iterable[Packet[Any]] = Packets(container, stream)
        waiting, corrupt = deque[VideoFrame](), False
        for frame in _frames_of(_due_keys(packets, step) if keys_alone else packets):
            if corrupt := threads > 1 and frame.is_corrupt:
                break
            waiting.append(frame)
            del frame
            if len(waiting) > (_REORDERED if threads > 1 else 0):
                yield waiting.popleft(), aspect
        while waiting and not corrupt:
            yield waiting.popleft(), aspect
    if corrupt:
        yield from _decoded_by(1, source, step, keys_alone=keys_alone)


def _frames_of(packets: Iterable[Packet[Any]]) -> Iterator[VideoFrame]:
    return (frame for packet in packets for frame in decoded(packet))


def _due_keys(packets: Iterable[Packet[Any]], step: float) -> Iterator[Packet[Any]]:
    """The first key frame of every step; also the empty packet that ends a stream."""
    due: float | None = None
    for packet in packets:
        time = packet.pts if packet.pts is not None else packet.dts
        if not packet.size or (packet.is_keyframe and time is None):
            yield packet
        elif packet.is_keyframe and time is not None:
            at = float(time * packet.time_base)
            if due is None or at >= due:
                due = _next_due(due, at, step)
                yield packet


def _next_due(due: float | None, at: float, step: float) -> float:
    """The next time on a grid from the first frame, so that delays do not add up."""
    return step + (at if due is None else due + step * math.floor((at - due) / step))


def small_luma(frame: VideoFrame) -> Pixels:
    """About :data:`_LUMA_SIDE` luma samples along the longer side, as stored.

    Picked, not averaged, from a plane that is there anyway: a scaler would cost more than
    everything that is measured of the result.
    """
    pixels = frame.format
    luma = pixels.components[0]
    if pixels.is_rgb or not pixels.is_planar or luma.bits > 16:
        frame = frame.reformat(format="gray")
        luma = frame.format.components[0]
    wide = luma.bits > 8
    samples = np.frombuffer(memoryview(frame.planes[0]), np.dtype("u2" if wide else "u1"))
    rows = samples.reshape(frame.height, -1)
    step = max(1, max(frame.width, frame.height) // _LUMA_SIDE)
    top, left = min(step, frame.height) // 2, min(step, frame.width) // 2
    picked = rows[top : frame.height : step, left : frame.width : step]
    return (picked >> (luma.bits - 8)).astype(np.uint8) if wide else np.ascontiguousarray(picked)


def is_large(width: int, height: int) -> bool:
    """Whether a decoder of a video with these sides takes so much memory that it runs alone."""
    return width * height > _LARGE_PIXELS


def decoder_threads() -> int:
    return min(_MOST_THREADS, os.cpu_count() or 1)


Item = TypeVar("Item")


def prefetch(items: Iterable[Item]) -> Iterator[Item]:
    """The same items in their order, made in a thread of their own while the last one is looked at,
    at most two waiting.

    Worth it where making an item leaves Python's lock alone, as decoders do. What making them
    raises is raised here. Closing the iterator ends the thread after the item that it makes.
    """
    source = iter(items)
    with ThreadPoolExecutor(max_workers=1) as maker:
        # Those that may wait, and the one that is being made. None is made at the end.
        making = deque(maker.submit(list, islice(source, 1)) for _ in range(3))
        try:
            while made := making.popleft().result():
                making.append(maker.submit(list, islice(source, 1)))
                yield from made
        finally:
            for each in making:
                each.cancel()


_JPEG_QUALITY = 82
_EXACT_PER_S = 4.0


def thumbnail(source: Source, *, max_side: int = 480) -> bytes:
    """A JPEG, upright and at most ``max_side`` pixels long, of an image or from the middle of a
    video: the very first frame is often black.

    Raises UnsupportedMedia for audio, DamagedMedia when none decodes.
    """
    if source.type.kind is Kind.IMAGE:
        return _jpeg(open_image(source, max_side=max_side)[1])
    frame = next(spread_frames(source, 1, max_side=max_side))
    return _jpeg(Image.fromarray(frame.rgb))


def spread_frames(
    source: Source, count: int, *, max_side: int | None = None
) -> Iterator[SampledFrame]:
    """Frames of all parts of a video: one a second where it is short or its length is not stated,
    else ``count`` at even distances. Of those the key frame before a moment is taken, which costs
    least; where that was shown already, the frame at that moment.

    Raises MediaError, as :func:`sample_frames`.
    """
    shown = -math.inf
    with open_container(source) as container:
        stream = video_stream(container, source)
        aspect = stream.sample_aspect_ratio or Fraction(1)
        length = container.duration or 0
        parts = count if length > 2 * count * av.time_base else 0
        for part in range(parts):
            moment = (container.start_time or 0) + length * (2 * part + 1) // (2 * count)
            container.seek(moment)
            for at, frame in enumerate(_frames_of(Packets(container, stream))):
                time = frame.time
                if time is not None and time > shown and (at == 0 or time * av.time_base >= moment):
                    shown = time
                    yield SampledFrame(time, upright(frame, aspect, max_side))
                    break
    if shown == -math.inf:  # Also where the file is cut off before the first of these moments.
        yield from sample_frames(source, max_side=max_side)


def frames_at(
    source: Source, times_s: Sequence[float], *, max_side: int = 240
) -> tuple[tuple[float, bytes], ...]:
    """The frames that a video shows at these ascending presentation times, one for each: its own
    time, and a JPEG, upright and at most ``max_side`` pixels long.

    Exact to a few tenths of a second. Times past the end have no frame. Decodes from the start
    up to the last of them. Raises MediaError, as :func:`palprep.media.images.frames.sample_frames`.
    """
    waiting = list(times_s)
    found: list[tuple[float, bytes]] = []
    with contextlib.closing(
        sample_frames(source, per_second=_EXACT_PER_S, max_side=max_side)
    ) as frames:
        while waiting and (frame := next(frames, None)) is not None:
            if due := sum(at_s <= frame.at_s for at_s in waiting):
                found += [(frame.at_s, _jpeg(Image.fromarray(frame.rgb)))] * due
                waiting = waiting[due:]
    return tuple(found)


def _jpeg(picture: Image.Image) -> bytes:
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=_JPEG_QUALITY)
    return data.getvalue()
