"""Synthesise readings of the consent statement and of altered ones, to evaluate against.

Needs piper-tts and a voice in the environment that runs it (neither is a dependency of
palprep), and espeak-ng on the PATH for the robot voices:

    python scripts/synthesise_consent.py --piper en_US-joe-medium.onnx --into DIR

Writes 16 kHz WAV files and ``index.json``: file, key, name, voice, condition, exact.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
SPEECH_RMS = 0.07
GIVES = (
    "I, {n}, am currently speaking and give my consent to create an AI clone of me by using "
    "the audio and video samples I provide."
)
KNOWS = "I understand that this AI clone can be used to create videos that look and sound like me."
EXACT = f"{GIVES} {KNOWS}"
NAMES = (
    *("Jane Doe", "Robert Miller", "Ada Lovelace", "Siobhan O'Neill", "Nguyen Thi Minh"),
    *("Priya Raghunathan", "Jean-Luc Picard", "Mohammed Al Fayed", "Maria Garcia Lopez"),
    *("Wojciech Kowalski", "Stephen Smythe", "Li Wei"),
)
CHANGES = {
    "not_speaking": ("am currently", "am not currently"),
    "dont": ("and give my", "and don't give my"),
    "never": ("and give my", "and never give my"),
    "refuse": ("and give my", "and refuse my"),
    "revoke": ("and give my", "and revoke my"),
    "wont": ("and give my", "and will not give my"),
    "no_consent": ("give my consent", "give no consent"),
    "cant": ("can be used", "can't be used"),
    "may_not": ("can be used", "may not be used"),
    "could": ("can be used", "could be used"),
    "only_once": ("can be used", "can only be used once"),
    "not_understand": ("I understand", "I do not understand"),
    "voice": ("AI clone of me", "voice clone of me"),
    "of_him": ("clone of me", "clone of him"),
    "of_wife": ("clone of me", "clone of my wife"),
    "like_him": ("sound like me", "sound like him"),
    "unlike": ("look and sound like me", "look and sound unlike me"),
    "look_only": ("look and sound like me", "look like me"),
    "video_only": ("audio and video samples", "video samples"),
    "text": ("audio and video samples", "audio and text samples"),
    "last_year": ("samples I provide", "samples I provided last year"),
    "not_provided": (" I provide", ""),
    "not_current": ("am currently speaking and", ""),
    "may_give": ("and give my consent", "and may give my consent"),
    "months": ("can be used", "can be used for three months"),
    "images": ("create videos", "create images"),
    "agree": ("give my consent", "agree"),
    "permission": ("consent", "permission"),
    "sister": ("my consent", "my sister's consent"),
    "without": ("by using", "without using"),
    "john": ("{n}", "John Doe"),
    "first_name": ("{n}", "Jane"),
    "other_surname": ("{n}", "Jane Smith"),
    "jill": ("{n}", "Jill Doe"),
}
OTHERS = {
    "second_only": KNOWS,
    "first_twice": f"{GIVES} {GIVES}",
    "swapped": f"{KNOWS} {GIVES}",
    "withdrawn_after": f"{EXACT} But I withdraw my consent.",
    "taken_back": f"{EXACT} Actually no, I do not agree to this.",
    "quoted": f"I will not say the following. {EXACT}",
    "news": "The prime minister said on Monday that the government would review its plans.",
    "about_consent": (
        "Today I want to explain why consent matters when companies create an AI clone of a "
        "person, and why audio and video samples must be handled with care."
    ),
}

Samples = NDArray[np.float32]
Voice = Callable[[str], tuple[Samples, int]]


class Reading(NamedTuple):
    """One file to make."""

    key: str
    text: str
    name: str
    voice: str
    condition: str
    exact: bool


def plan() -> Iterator[Reading]:
    """Every reading: the exact ones widely, the altered ones by four voices each."""
    for voice in ("joe", "slow", "fast", "high", "low", "robot_us", "robot_f"):
        for condition in CONDITIONS:
            yield Reading("exact", EXACT, "Jane Doe", voice, condition, exact=True)
    for name in NAMES[1:]:
        for voice in ("joe", "slow", "fast", "high", "low"):
            yield Reading("exact", EXACT, name, voice, "clean", exact=True)
    changed = {key: EXACT.replace(*change) for key, change in CHANGES.items()}
    for key, text in (changed | OTHERS).items():
        for voice, condition in (
            *(("joe", "clean"), ("high", "room"), ("fast", "noise15"), ("low", "telephone")),
        ):
            yield Reading(key, text, "Jane Doe", voice, condition, exact=False)


def voices(piper_voice: Path) -> dict[str, Voice]:
    """Piper at several speeds and pitches, and two of espeak-ng's voices."""
    from piper import PiperVoice, SynthesisConfig  # noqa: PLC0415 - not a dependency

    model = PiperVoice.load(str(piper_voice))

    def piper(speed: float, pitch: float) -> Voice:
        def say(text: str) -> tuple[Samples, int]:
            config = SynthesisConfig(length_scale=pitch / speed)
            parts = [chunk.audio_float_array for chunk in model.synthesize(text, config)]
            return np.concatenate(parts).astype(np.float32), int(model.config.sample_rate * pitch)

        return say

    return {
        "joe": piper(1.0, 1.0),
        "slow": piper(0.77, 1.0),
        "fast": piper(1.25, 1.0),
        "high": piper(1.0, 1.18),
        "low": piper(1.0, 0.88),
        "robot_us": lambda text: espeak(text, "en-us"),
        "robot_f": lambda text: espeak(text, "en-us+f3"),
    }


def espeak(text: str, voice: str) -> tuple[Samples, int]:
    """One of espeak-ng's voices."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", "150", "-w", path, text], check=True)
        with wave.open(str(path)) as file:
            data = file.readframes(file.getnframes())
            return np.frombuffer(data, "<i2").astype(np.float32) / 32768, file.getframerate()


def noise15(said: Samples, random: np.random.Generator) -> Samples:
    """White noise 15 dB under the speech."""
    return said + SPEECH_RMS * 10 ** (-15 / 20) * random.standard_normal(len(said))


def rumble8(said: Samples, random: np.random.Generator) -> Samples:
    """Street-like noise 8 dB under the speech."""
    walk = np.cumsum(random.standard_normal(len(said)))
    walk -= np.convolve(walk, np.ones(200) / 200, "same")
    return said + SPEECH_RMS * 10 ** (-8 / 20) * walk / walk.std()


def room(said: Samples, random: np.random.Generator) -> Samples:
    """A reverberation of 0.4 s."""
    time = np.arange(int(0.4 * RATE_HZ)) / RATE_HZ
    tail = random.standard_normal(len(time)) * np.exp(-time * 6.9 / 0.4)
    tail *= 0.5 / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    return np.convolve(said, tail)[: len(said)]


def telephone(said: Samples, random: np.random.Generator) -> Samples:  # noqa: ARG001
    """300 Hz to 3.4 kHz."""
    spectrum = np.fft.rfft(said)
    frequency = np.fft.rfftfreq(len(said), 1 / RATE_HZ)
    spectrum[(frequency < 300) | (frequency > 3400)] = 0
    return np.fft.irfft(spectrum, len(said))


def lead_in(said: Samples, random: np.random.Generator) -> Samples:
    """Four seconds of a quiet room first."""
    return np.concatenate((random.standard_normal(RATE_HZ * 4) * 0.0005, said))


CONDITIONS: dict[str, Callable[[Samples, np.random.Generator], Samples]] = {
    "clean": lambda said, random: said,  # noqa: ARG005
    "noise15": noise15,
    "rumble8": rumble8,
    "room": room,
    "telephone": telephone,
    "lead_in": lead_in,
}


def at_16_khz(said: Samples, rate: int) -> Samples:
    """Low-passed and interpolated: good enough for a listener that hears up to 8 kHz."""
    taps = np.sinc(np.arange(-32, 33) * min(1.0, RATE_HZ / rate)) * np.hanning(65)
    smooth = np.convolve(said, taps / taps.sum(), "same")
    count = int(len(said) * RATE_HZ / rate)
    found = np.interp(np.arange(count) * rate / RATE_HZ, np.arange(len(said)), smooth)
    return (SPEECH_RMS * found / np.sqrt((found**2).mean())).astype(np.float32)


def main() -> None:
    """Make what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--piper", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    speak = voices(arguments.piper)
    random = np.random.default_rng(1)
    index: list[dict[str, Any]] = []
    for one in plan():
        name = one.name.replace(" ", "_")
        path = arguments.into / f"{one.key}.{name}.{one.voice}.{one.condition}.wav"
        if not path.exists():
            said = at_16_khz(*speak[one.voice](one.text.replace("{n}", one.name)))
            heard = np.clip(CONDITIONS[one.condition](said, random), -1, 1)
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE_HZ)
                file.writeframes((heard * 32767).astype("<i2").tobytes())
        index.append({"file": path.name, **one._asdict()})
    (arguments.into / "index.json").write_text(json.dumps(index, indent=1), "utf-8")
    print(f"{len(index)} readings in {arguments.into}")


if __name__ == "__main__":
    main()
