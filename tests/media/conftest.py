"""Small files that the tests make themselves, with every property known."""

from __future__ import annotations

import wave
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

MakeVideo = Callable[..., Path]


def gradient(width: int = 64, height: int = 48) -> np.ndarray:
    """Red grows to the right, green downwards; the top left corner is blue."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[..., 0] = np.linspace(0, 255, width, dtype=np.uint8)
    picture[..., 1] = np.linspace(0, 255, height, dtype=np.uint8)[:, None]
    picture[: height // 4, : width // 4] = (0, 0, 255)
    return picture


def sine(seconds: float, rate: int = 16_000, *, hz: float = 440.0, peak: float = 0.5) -> np.ndarray:
    """Samples of a sine as float32, full scale at 1."""
    time = np.arange(round(seconds * rate)) / rate
    return (peak * np.sin(2 * np.pi * hz * time)).astype(np.float32)


@pytest.fixture
def picture() -> Image.Image:
    return Image.fromarray(gradient())


@pytest.fixture
def make_wav(tmp_path: Path) -> Callable[..., Path]:
    def make(samples: np.ndarray, rate: int = 16_000, name: str = "a.wav") -> Path:
        path = tmp_path / name
        channels = 1 if samples.ndim == 1 else samples.shape[0]
        with wave.open(str(path), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes((samples.T * 32767).astype("<i2").tobytes())
        return path

    return make


def mux_sound(out: Any, audio: Any, sound: np.ndarray, rate: int) -> None:
    """Encode mono samples in frames of the size that the encoder wants."""
    block = av.AudioFrame.from_ndarray(sound[None, :], format="fltp", layout="mono")
    block.sample_rate = rate
    block.pts = 0
    fifo = av.AudioFifo()
    fifo.write(block)
    for part in fifo.read_many(audio.frame_size or 1024, partial=True):
        out.mux(audio.encode(part))
    out.mux(audio.encode(None))


@pytest.fixture
def make_video(tmp_path: Path) -> MakeVideo:
    """``make_video(name, frames=[arrays] | seconds, rate, times, sound, options)``."""

    def make(
        name: str = "a.mp4",
        *,
        seconds: float = 1.0,
        rate: int = 25,
        size: tuple[int, int] = (64, 48),
        frames: list[np.ndarray] | None = None,
        times: list[int] | None = None,
        codec: str = "libx264",
        sound: np.ndarray | None = None,
        sound_rate: int = 16_000,
        sound_codec: str = "aac",
        rotate: int = 0,
        aspect: Fraction | None = None,
        options: dict[str, str] | None = None,
        pix_fmt: str = "yuv420p",
        color_trc: int | None = None,
        codec_options: dict[str, str] | None = None,
        skip_packets: int = 0,
        form: str | None = None,
    ) -> Path:
        path = tmp_path / name
        pictures = frames or [gradient(*size)] * round(seconds * rate)
        with av.open(str(path), "w", format=form, container_options=options or {}) as out:
            video = out.add_stream(codec, rate=rate, options=codec_options or {})
            video.width, video.height = pictures[0].shape[1], pictures[0].shape[0]
            video.pix_fmt = pix_fmt
            if aspect is not None:
                video.codec_context.sample_aspect_ratio = aspect
            if color_trc is not None:
                video.codec_context.color_trc = color_trc
            if rotate:
                video.set_display_rotation(rotate)
            audio: Any = None
            if sound is not None:
                audio = out.add_stream(sound_codec, rate=sound_rate, layout="mono")
            packets: list[av.Packet] = []
            for index, pixels in enumerate(pictures):
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                frame.pts = times[index] if times else index
                frame.time_base = Fraction(1, rate)
                if color_trc is not None:
                    frame.color_trc = color_trc
                packets += video.encode(frame)
            out.mux([*packets, *video.encode(None)][skip_packets:])
            if audio is not None and sound is not None:
                mux_sound(out, audio, sound, sound_rate)
        return path

    return make


@pytest.fixture
def make_sound(tmp_path: Path) -> Callable[..., Path]:
    def make(
        name: str, samples: np.ndarray, *, codec: str, rate: int = 48_000, **options: str
    ) -> Path:
        path = tmp_path / name
        layout = "mono" if samples.ndim == 1 else {2: "stereo", 8: "7.1"}[samples.shape[0]]
        with av.open(str(path), "w") as out:
            stream = out.add_stream(codec, rate=rate, layout=layout, options=options)
            kind = {"pcm_s16le": "s16", "flac": "s16"}.get(codec, "fltp")
            planar = np.atleast_2d(samples)
            if kind == "s16":
                data = (planar.T.reshape(1, -1) * 32767).astype(np.int16)
            else:
                data = planar.astype(np.float32)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(data), kind, layout)
            frame.sample_rate = rate
            frame.pts = 0
            fifo = av.AudioFifo()
            fifo.write(frame)
            for part in fifo.read_many(stream.frame_size or 1024, partial=True):
                out.mux(stream.encode(part))
            out.mux(stream.encode(None))
        return path

    return make
