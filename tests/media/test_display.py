"""Frames and thumbnails as players show them, whatever the display matrix asks for."""

from __future__ import annotations

import io
import subprocess
import sys
from fractions import Fraction

import av
import imageio_ffmpeg
import numpy as np
import pytest
from heard import heard_video
from PIL import Image

from palprep.media.images import frames
from palprep.media.images.frames import sample_frames, thumbnail, upright
from palprep.media.sources.source import Source

EXE = imageio_ffmpeg.get_ffmpeg_exe()


def ffmpeg(*arguments: object) -> bytes:
    command = [EXE, "-v", "error", "-nostdin", "-y", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("flip", [None, "hflip", "vflip"])
def test_frames_are_turned_and_mirrored_as_ffmpeg_shows_them(make_video, tmp_path, turn, flip):
    plain = make_video(seconds=0.2)
    path = tmp_path / "turned.mp4"
    flips = (f"-display_{flip}:v:0",) if flip else ()
    ffmpeg("-display_rotation:v:0", turn, *flips, "-i", plain, "-c", "copy", path)
    png = ffmpeg("-i", path, "-frames:v", 1, "-f", "image2pipe", "-c:v", "png", "-")
    wanted = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), int)
    frame = next(sample_frames(Source.of(path))).rgb
    assert frame.shape == wanted.shape
    assert np.abs(frame - wanted).mean() < 4
    small = np.asarray(Image.open(io.BytesIO(thumbnail(Source.of(path)))), int)
    assert np.abs(small - wanted).mean() < 8
    facts = heard_video(Source.of(path))
    assert facts.mirrored is (flip is not None)
    assert (facts.height, facts.width) == wanted.shape[:2]


def test_a_frame_that_was_shown_is_given_free_at_once(make_video):
    """Cycles would keep an hour's sampled frames in memory, 12 MB each in 4K."""
    with av.open(str(make_video(seconds=0.2, rotate=90))) as container:
        frame = next(container.decode(video=0))
        held = sys.getrefcount(frame)
        upright(frame, Fraction(1), None)
        assert sys.getrefcount(frame) == held


def test_a_damaged_video_is_decoded_to_the_same_frames_each_time(make_video, monkeypatch):
    """Threads go on from pixels that another one is about to conceal."""
    noise = np.random.default_rng(3).integers(0, 256, (60, 144, 192, 3), np.uint8)
    drift = np.sort(noise.reshape(60, -1), axis=1).reshape(noise.shape)
    path = make_video("a.mp4", frames=[*np.maximum(noise // 4, drift)])
    content = bytearray(path.read_bytes())
    for at in np.random.default_rng(4).integers(len(content) // 9, len(content) * 2 // 3, 40):
        content[at] ^= 16
    path.write_bytes(content)

    def seen(threads: int) -> list[tuple[float, bytes]]:
        monkeypatch.setattr(frames, "decoder_threads", lambda: threads)
        shown = sample_frames(Source.of(path), per_second=25.0)
        return [(frame.at_s, frame.rgb.tobytes()) for frame in shown]

    alone = seen(1)
    assert len(alone) > 20
    assert all(seen(4) == alone for _ in range(5))


def test_a_thumbnail_has_square_pixels(make_video):
    path = make_video(aspect=2, size=(64, 64))
    assert Image.open(io.BytesIO(thumbnail(Source.of(path)))).size == (128, 64)


def test_interlaced_footage_is_told(make_video, tmp_path):
    plain = make_video(seconds=0.4)
    woven = tmp_path / "woven.mp4"
    ffmpeg("-i", plain, "-vf", "tinterlace=interleave_top,fieldorder=tff", "-flags", "+ilme+ildct",
           "-c:v", "libx264", "-x264-params", "tff=1", woven)  # fmt: skip
    assert heard_video(Source.of(woven)).interlaced
    assert not heard_video(Source.of(plain)).interlaced


def test_frames_that_theora_repeats_by_empty_packets_are_shown(tmp_path):
    path = tmp_path / "a.ogg"
    steps = "color=s=64x48:r=10:d=4,geq=lum='60*floor(T)':cb=128:cr=128"
    ffmpeg("-f", "lavfi", "-i", steps, "-c:v", "libtheora", path)
    shown = [round(frame.rgb.mean(), -1) for frame in sample_frames(Source.of(path), per_second=4)]
    assert len({*shown}) == 4
