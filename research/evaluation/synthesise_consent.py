"""Synthesise readings of the consent statement and of altered ones, to evaluate against.

Needs the speech synthesisers of Debian on the PATH: espeak-ng, flite, Festival (text2wave, with
festvox-kdlpc16k and festvox-us-slt-hts), RHVoice (rhvoice, rhvoice-english), SVOX Pico
(libttspico-utils) and MBROLA (mbrola-us1, -us2, -us3, -en1). With ``--piper`` it also needs
piper-tts in the environment that runs it; neither that nor a voice is a dependency of palprep:

    python -m research.evaluation.synthesise_consent [--piper en_US-joe-medium.onnx] --into DIR
    python -m research.evaluation.synthesise_consent --set reported --into DIR

``--set`` says which readings it makes: those that limits are chosen by (fitting), those that are
reported on though some limits were chosen with sight of them (reported), those in voices and of
names that no limit of the first model had seen (unseen), or that no limit has seen (third); or the
exact statement with a remark beside it (remarks: half of them to choose the rule by, half kept from
it). docs/accuracy.md says more. What is said stands in consent_texts.toml. Writes 16 kHz WAV files
and ``index.json``: file, key, text, name (the one that is required), voice, condition, expected,
statement.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import tempfile
import tomllib
import wave
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
SPEECH_RMS = 0.07
TEXTS = tomllib.loads(Path(__file__).with_name("consent_texts.toml").read_text("utf-8"))
JANE = TEXTS["names"][0]
EXACT = "{gives} {knows}"
PLACE = "{wav}"
"""In a command, the name of the file that it writes."""

Samples = NDArray[np.floating[Any]]
Voice = Callable[[str], tuple[Samples, int]]


class Reading(NamedTuple):
    """One file to make."""

    key: str
    text: str
    name: str
    voice: str
    condition: str
    expected: str
    """``exact``, ``either``, ``altered`` or, for a name much like the required one, ``near``; for
    a remark beside the statement ``harmless`` or ``other``."""
    statement: str
    """The one that is required, with ``{full_name}`` in it."""


def filled(template: str, name: str) -> str:
    """A template with its sentences, the changes in them, and the name put in."""

    def sentence(match: re.Match[str]) -> str:
        text: str = TEXTS[match[1]]
        changes = match[2].removeprefix("|").split("|") if match[2] else []
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert old in text, old  # noqa: S101 - a template that changes nothing is a mistake
            text = text.replace(old, new)
        return text

    whole = re.sub(r"\{(gives|knows|long)((?:\|[^|}]*)*)\}", sentence, template)
    return whole.replace("<name>", name)


def reported(
    voices: Sequence[str], names: Sequence[str], neighbours: Sequence[Sequence[str]]
) -> Iterator[Reading]:
    """What is reported on: every voice says every name, and withdraws its consent."""
    short, long = filled(EXACT, "{full_name}"), filled("{long}", "{full_name}")
    turns = itertools.cycle(voices)
    for name, voice in itertools.product(names, voices):
        yield Reading("exact", filled(EXACT, name), name, voice, "clean", "exact", short)
    for (said, name), _ in itertools.product(neighbours, range(2)):
        key = "said_" + said.replace(" ", "_")
        yield Reading(key, filled(EXACT, said), name, next(turns), "clean", "near", short)
    greeting = TEXTS["exact"]["preamble"]
    for name, voice in ((JANE, voice) for voice in voices):
        for condition in ("noise15", "room", "telephone"):
            yield Reading("exact", filled(EXACT, name), name, voice, condition, "exact", short)
        yield Reading("long", filled("{long}", name), name, voice, "clean", "exact", long)
        yield Reading("preamble", filled(greeting, name), name, voice, "clean", "exact", short)
    for name, _ in itertools.product(names, range(2)):
        voice = next(turns)
        yield Reading("preamble", filled(greeting, name), name, voice, "clean", "exact", short)
    for key, voice, condition in itertools.product(WITHDRAWN, voices, ("clean", "noise15")):
        text = filled(TEXTS["altered"][key], JANE)
        yield Reading(key, text, JANE, voice, condition, "altered", short)
    for key, template in TEXTS["altered"].items():
        if key not in WITHDRAWN:
            required = long if key.startswith("long") else short
            text = filled(template, JANE)
            yield Reading(key, text, JANE, next(turns), "clean", "altered", required)


def fitting(*, piper: bool) -> Iterator[Reading]:
    """What limits are chosen by: every voice in every condition, each name and each altered
    statement by some voices in turn.
    """
    short, long = filled(EXACT, "{full_name}"), filled("{long}", "{full_name}")
    voices = (*FITTING, *PIPER) if piper else FITTING
    for voice, condition in itertools.product(voices, CONDITIONS):
        yield Reading("exact", filled(EXACT, JANE), JANE, voice, condition, "exact", short)
    speakers = itertools.cycle(voices)
    for name, _ in itertools.product(TEXTS["names"][1:], range(SPEAKERS)):
        yield Reading("exact", filled(EXACT, name), name, next(speakers), "clean", "exact", short)
    turns = itertools.cycle(itertools.product(VARYING_CONDITIONS, voices))
    for expected in ("exact", "either", "altered"):
        for key, template in TEXTS[expected].items():
            text = filled(template, JANE)
            required = long if key.startswith("long") else short
            for condition, voice in itertools.islice(turns, SPEAKERS):
                yield Reading(key, text, JANE, voice, condition, expected, required)
    for (said, name), _ in itertools.product(TEXTS["neighbours"], range(SPEAKERS)):
        key = "said_" + said.replace(" ", "_")
        yield Reading(key, filled(EXACT, said), name, next(speakers), "clean", "near", short)


def remarks() -> Iterator[Reading]:
    """The exact statement with a remark before or after it, and alone. The condition of a remark
    is clean; its half stands in its key.
    """
    short, turns = filled(EXACT, "{full_name}"), itertools.cycle(REMARKS)
    for voice, name in REMARKS:
        yield Reading("alone.kept", filled(EXACT, name), name, voice, "clean", "exact", short)
    for kind, places in TEXTS["remarks"].items():
        for place, texts in places.items():
            for index, text in enumerate(texts):
                voice, name = next(turns)
                key = f"{kind}_{place}{index:02}.{('fitted', 'kept')[index % 2]}"
                whole = f"{text} {EXACT}" if place == "before" else f"{EXACT} {text}"
                yield Reading(key, filled(whole, name), name, voice, "clean", kind, short)


REMARKS = (
    ("festival_slt", "Robert Miller"),
    ("robot_us", "Thomas Weber"),
    ("flite_awb", "Emily Clark"),
    ("robot_rp", "Emily Clark"),
    ("festival_ked", "Thomas Weber"),
)
"""Voices, and names that pass in them: so what a remark costs can be told."""
PIPER = ("joe", "slow", "fast", "high", "low", "slower", "faster")
FITTING = (
    *("flite_slt", "flite_rms", "flite_awb", "festival_ked", "festival_slt"),
    *("robot_us", "robot_f", "robot_carib", "robot_midlands"),
    *("slt", "lyubov", "pico_gb"),
)
REPORTED = ("flite_slt", "flite_awb", "flite_kal", "robot_rp", "robot_scots")
"""The first two are for fitting, too."""
UNSEEN = ("alan", "bdl", "clb", "evgeniy", "pico_us", "mbrola_us1")
THIRD = ("mbrola_us2", "mbrola_us3", "mbrola_en1")
SETS = ("fitting", "reported", "unseen", "third", "remarks")
SPEAKERS = 4
"""So many voices say each name, and each altered statement, of those for fitting."""
WITHDRAWN = ("withdrawn_after", "revoked_after", "take_back", "withdrawn_before")
VARYING_CONDITIONS = ("clean", "noise15", "room", "telephone", "babble12")


def command_voices() -> dict[str, Voice]:
    """Voices of flite, Festival, espeak-ng, RHVoice, SVOX Pico and MBROLA."""

    def flite(voice: str) -> Voice:
        return lambda text: run("flite", "-voice", voice, "-t", spelled(text), "-o")

    def festival(voice: str) -> Voice:
        return lambda text: run("text2wave", "-eval", f"(voice_{voice})", "-o", said=spelled(text))

    def robot(voice: str) -> Voice:
        return lambda text: run("espeak-ng", "-v", voice, "-s", "150", text, "-w")

    def rhvoice(voice: str) -> Voice:
        return lambda text: run("RHVoice-test", "-p", voice, "-o", said=text)

    def pico(language: str) -> Voice:
        # pico2wave takes the text last.
        return lambda text: run("pico2wave", "-l", language, f"--wave={PLACE}", text)

    return {
        "flite_slt": flite("slt"),
        "flite_rms": flite("rms"),
        "flite_awb": flite("awb"),
        "flite_kal": flite("kal16"),
        "festival_ked": festival("ked_diphone"),
        "festival_slt": festival("cmu_us_slt_arctic_hts"),
        "robot_us": robot("en-us"),
        "robot_f": robot("en-us+f3"),
        "robot_carib": robot("en-029"),
        "robot_midlands": robot("en-gb-x-gbcwmd+m3"),
        "robot_rp": robot("en-gb-x-rp"),
        "robot_scots": robot("en-gb-scotland+f2"),
        "mbrola_us1": robot("mb-us1"),
        "mbrola_us2": robot("mb-us2"),
        "mbrola_us3": robot("mb-us3"),
        "mbrola_en1": robot("mb-en1"),
        "slt": rhvoice("slt"),
        "lyubov": rhvoice("lyubov"),
        "alan": rhvoice("alan"),
        "bdl": rhvoice("bdl"),
        "clb": rhvoice("clb"),
        "evgeniy": rhvoice("evgeniy-eng"),
        "pico_gb": pico("en-GB"),
        "pico_us": pico("en-US"),
    }


def piper_voices(piper_voice: Path) -> dict[str, Voice]:
    """Piper at several speeds and pitches."""
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
        "slower": piper(0.6, 1.0),
        "faster": piper(1.45, 1.0),
    }


def spelled(text: str) -> str:
    """For a voice that takes AI for a word."""
    return re.sub(r"\bAI\b", "A.I.", text)


def run(*command: str, said: str | None = None) -> tuple[Samples, int]:
    """What a command says that writes a WAV file, and takes a text on standard input. The file's
    name stands where ``PLACE`` does, or else last.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        parts = [part.replace(PLACE, str(path)) for part in command]
        if parts == list(command):
            parts.append(str(path))
        subprocess.run(parts, check=True, stdout=subprocess.DEVNULL, input=said, text=True)
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
    noise: Samples = SPEECH_RMS * 10 ** (-8 / 20) * walk / walk.std()
    return said + noise


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


def babble12(said: Samples, random: np.random.Generator) -> Samples:
    """Voices without words 12 dB under the speech: its own, backwards, from four places."""
    backwards = np.tile(said[::-1], 2)
    starts = random.integers(0, len(said), 4)
    crowd = np.sum([backwards[start : start + len(said)] for start in starts], axis=0)
    babble: Samples = crowd * SPEECH_RMS * 10 ** (-12 / 20) / np.sqrt((crowd**2).mean())
    return said + babble


def clipped(said: Samples, random: np.random.Generator) -> Samples:  # noqa: ARG001
    """Recorded far too loud."""
    return np.clip(said * 6, -1, 1) * 0.9


def faint(said: Samples, random: np.random.Generator) -> Samples:
    """Recorded far too soft, in the noise of 16 bits."""
    return said * 0.01 + random.uniform(-1, 1, len(said)) / 32768


def lead_in(said: Samples, random: np.random.Generator) -> Samples:
    """Four seconds of a quiet room first."""
    return np.concatenate((random.standard_normal(RATE_HZ * 4) * 0.0005, said))


CONDITIONS: dict[str, Callable[[Samples, np.random.Generator], Samples]] = {
    "clean": lambda said, random: said,  # noqa: ARG005
    "noise15": noise15,
    "rumble8": rumble8,
    "room": room,
    "telephone": telephone,
    "babble12": babble12,
    "clipped": clipped,
    "faint": faint,
    "lead_in": lead_in,
}


def at_16_khz(said: Samples, rate: int) -> Samples:
    """Low-passed and interpolated: good enough for a listener that hears up to 8 kHz."""
    taps = np.sinc(np.arange(-32, 33) * min(1.0, RATE_HZ / rate)) * np.hanning(65)
    smooth = np.convolve(said, taps / taps.sum(), "same")
    count = int(len(said) * RATE_HZ / rate)
    found = np.interp(np.arange(count) * rate / RATE_HZ, np.arange(len(said)), smooth)
    levelled: Samples = SPEECH_RMS * found / np.sqrt((found**2).mean())
    return levelled.astype(np.float32)


def main() -> None:
    """Make what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--piper", type=Path)
    parser.add_argument("--set", choices=SETS, default="fitting")
    parser.add_argument("--into", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    speak = command_voices() | (piper_voices(arguments.piper) if arguments.piper else {})
    random = np.random.default_rng(1)
    index: list[dict[str, Any]] = []
    readings = {
        "fitting": fitting(piper=arguments.piper is not None),
        "reported": reported(REPORTED, TEXTS["reported_names"], TEXTS["reported_neighbours"]),
        "unseen": reported(UNSEEN, TEXTS["unseen_names"], TEXTS["unseen_neighbours"]),
        "third": reported(THIRD, TEXTS["third_names"], TEXTS["third_neighbours"]),
        "remarks": remarks(),
    }
    for one in readings[arguments.set]:
        name = one.name.replace(" ", "_").replace(".", "")
        path = arguments.into / f"{one.key}.{name}.{one.voice}.{one.condition}.wav"
        if not path.exists():
            said = at_16_khz(*speak[one.voice](one.text))
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
