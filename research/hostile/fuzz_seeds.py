"""Small files of every format that palprep accepts, made by code: what the fuzzer starts from."""

from __future__ import annotations

import random
import struct
import wave
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import Image

SAMPLES = Path(__file__).resolve().parents[2] / "sample_media"
_LARGEST_SAMPLE_BYTES = 1_000_000

_RATE = 16_000
_SOUNDS = {
    "a.mp3": "libmp3lame",
    "a.m4a": "aac",
    "a.flac": "flac",
    "opus.ogg": "libopus",
    "vorbis.ogg": "vorbis",
    "sound.webm": "libopus",
    "a.aiff": "pcm_s16be",
    "a.caf": "pcm_s16le",
    "sound.3gp": "aac",
}
_VIDEOS = {
    "a.mp4": ("libx264", "aac"),
    "hevc.mov": ("libx265", "pcm_s16le"),
    "a.webm": ("libvpx", "libopus"),
    "a.mkv": ("libx264", "ac3"),
    "a.avi": ("mpeg4", "mp2"),
    "a.mpg": ("mpeg2video", "mp2"),
    "a.mts": ("libx264", "ac3"),
    "a.3gp": ("libx264", "aac"),
}


def seeds(folder: Path) -> Iterator[Path]:
    """The files, written to the folder where they are not among the project's own."""
    for sample in sorted(SAMPLES.rglob("*")):
        media = sample.suffix not in {".md", ".toml", ".py", ".pyc"}
        if media and sample.is_file() and sample.stat().st_size <= _LARGEST_SAMPLE_BYTES:
            yield sample
    yield from _images(folder)
    yield from _pcm(folder)
    for name, codec in _SOUNDS.items():
        yield encoded(folder / name, sound=codec)
    for name, (picture, sound) in _VIDEOS.items():
        yield encoded(folder / name, picture=picture, sound=sound)


def _images(folder: Path) -> Iterator[Path]:
    picture = Image.fromarray(_frame(0, 160, 120))
    exif = Image.Exif()
    exif[0x0112] = 6
    alpha = picture.convert("RGBA")
    alpha.putalpha(128)
    deep = Image.fromarray(np.full((60, 80), 0x8000, np.uint16))
    second = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    for name, image, options in (
        ("a.jpg", picture, {"exif": exif}),
        ("progressive.jpg", picture, {"progressive": True}),
        ("cmyk.jpg", picture.convert("CMYK"), {}),
        ("a.png", picture, {"exif": exif}),
        ("alpha.png", alpha, {}),
        ("palette.png", picture.convert("P"), {}),
        ("deep.png", deep, {}),
        ("animated.png", picture, {"save_all": True, "append_images": [second]}),
        ("a.webp", picture, {"exif": exif}),
        ("lossless.webp", alpha, {"lossless": True}),
        ("animated.webp", picture, {"save_all": True, "append_images": [second]}),
    ):
        image.save(folder / name, **options)
        yield folder / name
    pillow_heif.from_pillow(alpha).save(folder / "a.heic", quality=60)
    yield folder / "a.heic"


def _pcm(folder: Path) -> Iterator[Path]:
    path = folder / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes((np.repeat(_sound(), 2) * 20_000).astype("<i2").tobytes())
    yield path
    data = _sound().astype("<f4").tobytes()
    form = struct.pack("<HHIIHH", 3, 1, _RATE, 4 * _RATE, 4, 32)
    floats = folder / "float.wav"
    chunks = ((b"fmt ", form), (b"data", data))
    body = b"".join(name + struct.pack("<I", len(part)) + part for name, part in chunks)
    floats.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)
    yield floats
    phone = folder / "a.amr"
    phone.write_bytes(b"#!AMR\n" + 25 * (b"\x3c" + random.Random(1).randbytes(31)))  # noqa: S311
    yield phone


def encoded(path: Path, *, sound: str, picture: str | None = None) -> Path:
    """Half a second of one tone, with a picture or without, written there; returns the path."""
    rate = 48_000
    with av.open(str(path), "w", format="mpegts" if path.suffix == ".mts" else None) as out:
        video: Any = None
        if picture is not None:
            quiet = {"x265-params": "log-level=error"} if picture == "libx265" else {}
            video = out.add_stream(picture, rate=25, options=quiet)
            video.width, video.height, video.pix_fmt = 160, 120, "yuv420p"
        # FFmpeg calls its own Vorbis encoder experimental.
        audio: Any = out.add_stream(
            sound, rate=rate, layout="stereo", options={"strict": "experimental"}
        )
        if video is not None:
            for number in range(13):
                frame = av.VideoFrame.from_ndarray(_frame(number, 160, 120), format="rgb24")
                frame.pts, frame.time_base = number, Fraction(1, 25)
                out.mux(video.encode(frame))
            out.mux(video.encode(None))
        samples = np.stack([_sound(rate)] * 2)
        block = av.AudioFrame.from_ndarray(samples, format="fltp", layout="stereo")
        block.sample_rate, block.pts = rate, 0
        converter = av.AudioResampler(audio.format.name, "stereo", rate)
        fifo = av.AudioFifo()
        for part in converter.resample(block):
            fifo.write(part)
        for part in fifo.read_many(audio.frame_size or 1024, partial=True):
            out.mux(audio.encode(part))
        out.mux(audio.encode(None))
    return path


def _frame(number: int, width: int, height: int) -> NDArray[np.uint8]:
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 255, width, dtype=np.uint8)
    pixels[..., 1] = np.linspace(0, 255, height, dtype=np.uint8)[:, None]
    pixels[:20, 8 * number % width :][:, :20] = 255
    return pixels


def _sound(rate: int = _RATE) -> NDArray[np.float32]:
    times = np.arange(rate // 2) / rate
    tone = np.sin(2 * np.pi * 220 * times) * (1 + np.sin(2 * np.pi * 4 * times)) / 4
    return np.asarray(tone, np.float32)
