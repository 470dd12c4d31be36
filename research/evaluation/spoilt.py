"""Recordings of a voice with defects of known levels, and dialogues of two readers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.floating[Any]]
"""Mono, full scale at 1.0."""

LEVEL_DBFS, PEAK = -20.5, 0.668
"""Speech is brought to the first, and then down where a sample is above the second (-3.5 dBFS)."""
HUM = (1.0, 0.5, 0.7, 0.25, 0.4, 0.2, 0.2, 0.1)
"""Amplitudes of the harmonics of the mains."""
ROOM_SHARE_DB = 0.0
"""Level of a room's echo against the voice itself, as an arm's length from the microphone."""


class Spoilt(NamedTuple):
    """A defect, its level in words, the checks of which any names it, and the sound, shape
    ``(samples,)`` or ``(2, samples)``. Without a check the defect is none."""

    kind: str
    level: str
    named_by: tuple[str, ...]
    sound: Samples
    words: str = ""
    """What the sentence must contain, too, so that the defect is called what it is."""
    rate_hz: int = 0


def active_rms(sound: Samples, rate_hz: int) -> float:
    """Root mean square of what is within 20 dB of the loudest twentieth."""
    power = frame_powers(sound, rate_hz)
    return float(np.sqrt(power[power > np.quantile(power, 0.95) / 100].mean()))


def frame_powers(sound: Samples, rate_hz: int, lowest_hz: float = 80.0) -> Samples:
    """Power of each 20 ms between ``lowest_hz`` and 8 kHz."""
    size = rate_hz // 50
    frames = sound[: len(sound) // size * size].reshape(-1, size) * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    hz = np.fft.rfftfreq(size, 1 / rate_hz)
    inside = (hz > lowest_hz) & (hz < 8000)
    return np.asarray(power[:, inside].sum(axis=1) * 2 / (size * (np.hanning(size) ** 2).sum()))


def levelled(sound: Samples, rate_hz: int, dbfs: float = LEVEL_DBFS) -> Samples:
    return np.asarray(sound * 10 ** (dbfs / 20) / active_rms(sound, rate_hz))


def below(sound: Samples) -> Samples:
    """With room for peaks."""
    return np.asarray(sound * min(1.0, PEAK / float(np.abs(sound).max())))


def under(sound: Samples, rate_hz: int, other: Samples, ratio_db: float) -> Samples:
    """With something else that much below the speech."""
    level = float(np.sqrt((other**2).mean()))
    return np.asarray(sound + other * active_rms(sound, rate_hz) / level * 10 ** (-ratio_db / 20))


def echoing(sound: Samples, rate_hz: int, seconds: float, chance: np.random.Generator) -> Samples:
    """In a room whose sound falls by 60 dB in that time (Schroeder's model: decaying noise)."""
    time = np.arange(int(seconds * rate_hz * 1.2)) / rate_hz
    tail = chance.standard_normal(len(time)) * 10 ** (-3 * time / seconds)
    tail *= 10 ** (ROOM_SHARE_DB / 20) / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    size = len(sound) + len(tail)
    return np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(tail, size), size)[: len(sound)]


def resampled(sound: Samples, count: int) -> Samples:
    """As ``count`` samples of the same time, by its spectrum."""
    spectrum = np.fft.rfft(sound)
    wide = np.zeros(count // 2 + 1, complex)
    wide[: len(spectrum)] = spectrum[: len(wide)]
    return np.asarray(np.fft.irfft(wide, count) * count / len(sound))


def telephone(sound: Samples, rate_hz: int) -> Samples:
    """300 to 3,400 Hz."""
    spectrum, hz = np.fft.rfft(sound), np.fft.rfftfreq(len(sound), 1 / rate_hz)
    spectrum[(hz < 300) | (hz > 3400)] = 0
    return np.fft.irfft(spectrum, len(sound))


def chords(count: int, rate_hz: int, chance: np.random.Generator) -> Samples:
    """Plucked chords of three notes, two a second."""
    music, length = np.zeros(count + 2 * rate_hz), 2 * rate_hz
    time = np.arange(length) / rate_hz
    for begin in range(0, count, rate_hz // 2):
        for step in chance.choice((0, 4, 7, 9, 12, 16), 3, replace=False):
            hz = 196.0 * 2 ** (step / 12)
            tones = (np.sin(2 * np.pi * hz * n * time) * np.exp(-n * time) / n for n in range(1, 7))
            music[begin : begin + length] += sum(tones)
    return music[:count]


NOISE = ("voice_snr", "voice_noise_floor")


def spoilt(
    sound: Samples,
    rate_hz: int,
    others: Sequence[Samples],
    music: Samples,
    chance: np.random.Generator,
) -> Iterator[Spoilt]:
    """A clear reading with each defect: with something that sounds beside the speech, and damaged;
    ``others`` and ``music`` are at the same rate."""
    count = len(sound)
    time = np.arange(count) / rate_hz
    for mains in (50, 60):
        hum = np.zeros(count)
        for number, share in enumerate(HUM, 1):
            hum += share * np.sin(2 * np.pi * mains * number * time + chance.uniform(0, 6))
        for ratio in (10, 20, 30):
            mixed = below(under(sound, rate_hz, hum, ratio))
            yield Spoilt("hum", f"{ratio} dB", ("voice_hum", *NOISE), mixed, "hum")
    for seconds in (0.3, 0.5, 0.8, 1.2):
        wet = levelled(echoing(sound, rate_hz, seconds, chance), rate_hz)
        dry = seconds < 0.4
        kind, checks = ("dry room", ()) if dry else ("echo of a room", ("voice_reverberation",))
        yield Spoilt(kind, f"{seconds} s", checks, below(wet))
    played = {"recorded": music, "synthesised": chords(count, rate_hz, chance)}
    for name, piece in played.items():
        for ratio in (5, 10, 15, 20):
            mixed = under(sound, rate_hz, np.resize(piece, count), ratio)
            yield Spoilt(f"music, {name}", f"{ratio} dB", NOISE, below(mixed), "usic")
    talk = np.zeros(count)
    for each in others[:6]:
        talk += np.roll(np.resize(each, count), chance.integers(count))
    spectrum = np.fft.rfft(chance.standard_normal(count))
    spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(count, 1 / rate_hz), 60))
    pink = np.fft.irfft(spectrum, count)
    for kind, other in (("talk of six people", talk), ("pink noise", pink)):
        for ratio in (5, 10, 20, 30):
            yield Spoilt(kind, f"{ratio} dB", NOISE, below(under(sound, rate_hz, other, ratio)))
    yield from damaged(sound, rate_hz, chance)


def damaged(sound: Samples, rate_hz: int, chance: np.random.Generator) -> Iterator[Spoilt]:
    """Without anything else, and with the speech itself damaged."""
    yield Spoilt("nothing", "", (), sound)
    yield Spoilt("two equal channels", "", (), np.stack((sound, sound)))
    full = sound / np.abs(sound).max() * 0.99997
    yield Spoilt("peak at full scale", "0 dBFS", ("voice_true_peak", "audio_sample_peak"), full)
    for share in (0.001, 0.01, 0.05):
        cut = np.clip(sound / np.quantile(np.abs(sound), 1 - share), -1, 1)
        yield Spoilt("clipped", f"{share:.1%}", ("voice_clipping",), cut)
        yield Spoilt("clipped, then turned down", f"{share:.1%}", ("voice_clipping",), 0.5 * cut)
    loud = np.flatnonzero(np.abs(sound) >= np.quantile(np.abs(sound), 0.8))
    loud = loud[(loud > rate_hz) & (loud < len(sound) - rate_hz)]
    for milliseconds in (5, 20, 60):
        holed = sound.copy()
        for at in chance.choice(loud, 4):
            holed[at : at + milliseconds * rate_hz // 1000] = 0
        yield Spoilt("four holes", f"{milliseconds} ms", ("voice_dropouts",), holed)
    clicked = sound.copy()
    clicked[rate_hz // 2 :: rate_hz] += 0.5
    yield Spoilt("clicks", "1 a second", ("voice_clicks",), below(clicked))
    for dbfs in (-50, -30):
        yield Spoilt("soft", f"{dbfs} dBFS", ("voice_level",), levelled(sound, rate_hz, dbfs))
    yield Spoilt("one silent channel", "", ("voice_stereo",), np.stack((sound, 0 * sound)))
    yield Spoilt("one inverted channel", "", ("voice_stereo",), np.stack((sound, -sound)))
    yield Spoilt("telephone", "3.4 kHz", ("voice_bandwidth",), below(telephone(sound, rate_hz)))
    steps = np.round(resampled(sound, len(sound) * 22_050 // rate_hz) * 128) / 128
    yield Spoilt("8 bits, resampled", "", NOISE, resampled(steps, len(sound)))
    yield Spoilt("too fast", "1.5 times", ("voice_speed",), resampled(sound, int(len(sound) / 1.5)))


def dialogues(
    readers: Sequence[tuple[str, Samples]], rate_hz: int, chance: np.random.Generator, most: int
) -> Iterator[Spoilt]:
    """Pairs of readers, each with a sex, who speak in turns for 40 s at the most."""
    pairs = list(itertools.combinations(range(len(readers)), 2))
    chance.shuffle(pairs)
    for kind, (least_s, most_s) in itertools.product((True, False), ((1.2, 2.5), (2, 5), (5, 9))):
        chosen = [p for p in pairs if (readers[p[0]][0] == readers[p[1]][0]) is kind][:most]
        for pair in chosen:
            at, parts = [0, 0], list[Samples]()
            for turn in itertools.cycle((0, 1)):
                length = int(chance.uniform(least_s, most_s) * rate_hz)
                said = readers[pair[turn]][1][at[turn] : at[turn] + length]
                at[turn] += length
                if len(said) < length or sum(map(len, parts)) > 40 * rate_hz:
                    break
                parts.append(said)
            name = f"two {'of one sex' if kind else 'of both sexes'}"
            level = f"turns of {least_s:g} to {most_s:g} s"
            sound = np.concatenate(parts)
            yield Spoilt(name, level, ("voice_one_speaker",), sound, "", rate_hz)
