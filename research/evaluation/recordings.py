"""How recordings of a voice are judged: single readers, and the same with defects of known levels.

    python -m research.evaluation.recordings SOURCES READERS --music FILE... [--kept]
        [--table docs/accuracy.md]

SOURCES holds checkouts as for research/evaluation/same_voice.py, READERS recordings of the Speech
Accent Archive as for research/evaluation/accents.py. Sentences of one reader are joined until they
last a minute. Measures and limits were looked at on LibriSpeech, VCTK and the archive; with --kept
the other sources are read instead, which were kept from that.

Of each finding it is asked whether a measure that is not palprep's agrees (:func:`deserved`). Then
the clearest readers are spoilt (research/evaluation/spoilt.py). With --table both tables go into
the document.
"""

from __future__ import annotations

import argparse
import tempfile
import wave
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep import check
from palprep.media.sound import Sink, probe_audio
from palprep.media.sources import Source
from palprep.values import Outcome, Role
from research.evaluation.portraits import share_of
from research.evaluation.same_voice import CHOSEN_ON, Speaker, speakers
from research.evaluation.spoilt import (
    Samples,
    Spoilt,
    active_rms,
    below,
    dialogues,
    frame_powers,
    levelled,
    spoilt,
)
from research.marked import replace_marked

LENGTH_S, LEAST_S = 75, 10.5
LEFT_OUT = "siddiquelatif/URDU-Dataset"
"""Talk shows: several people, and other sounds."""
ARCHIVE = "Speech Accent Archive"
CLEAREST, PAIRS = 12, 14
PLAIN = {
    *("audio_duration", "voice_speech_length", "audio_sample_rate", "voice_level"),
    *("audio_sample_peak", "voice_true_peak", "voice_bandwidth"),
}
"""Checks of length, rate and level: what is measured there, the file says itself."""


UNWEIGHED = "voice_reverberation"
"""Nothing else here measures that."""
ANSWERS = ("named", "other", "silent")
SOUND = {"nothing", "two equal channels", "dry room"}
"""What is no defect."""
NAMES = {
    "resemble-ai/Resemblyzer": "LibriSpeech",
    "auspicious3000/autovc": "VCTK",
    "jimbozhang/speechocean762": "speechocean762",
    "ZenvilleErasmus/RAVDESS-emotions-speech-audio-only": "RAVDESS",
}


class Reading(NamedTuple):
    """One reader's recording."""

    source: str
    sex: str
    path: Path


class Judged(NamedTuple):
    """What each check that does not pass found, which of them follow from another one, and those
    whose finding another measure agrees with."""

    found: Mapping[str, Outcome]
    sentences: Mapping[str, str]
    following: frozenset[str]
    deserved: frozenset[str]


def decoded(path: Path) -> tuple[Samples, int]:
    """All of a file in one channel, at its own rate."""
    blocks, rates = list[Samples](), list[int]()

    def sinks(stream: object) -> Sequence[Sink]:
        rates.append(stream.sample_rate_hz)  # type: ignore[attr-defined]
        return (Sink(blocks.append, rates[0], 1),)

    probe_audio(Source.of(path), sinks=sinks)
    return np.concatenate([np.ravel(block) for block in blocks]).astype(float), rates[0]


def written(path: Path, sound: Samples, rate_hz: int) -> Path:
    """A WAV of 16 bits."""
    rows = np.clip(np.atleast_2d(sound) * 32768, -32768, 32767)
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((len(rows), 2, rate_hz, 0, "NONE", "not compressed"))
        file.writeframes(rows.round().astype("<i2").T.tobytes())
    return path


def everybody(sources: Path, readers: Path) -> Iterator[Speaker]:
    """Readers of the sources, and of the archive, whose sexes are not noted."""
    yield from (each for each in speakers(sources) if each.source != LEFT_OUT)
    for path in sorted(readers.rglob("*.wav")):
        if path.parent.name != "foreign_samples":
            yield Speaker(ARCHIVE, path.stem, "", path.stem.rstrip("0123456789"), (path,))


def joined(everyone: Iterable[Speaker], into: Path) -> Iterator[Reading]:
    """The sentences of each reader, one after the other, pauses as they are."""
    for speaker in everyone:
        parts, rate, length = list[Samples](), 0, 0
        for file in (*speaker.files, *speaker.other):
            sound, rate = decoded(file)
            parts.append(sound)
            length += len(sound)
            if length > LENGTH_S * rate:
                break
        if length >= LEAST_S * max(rate, 1):
            path = into / speaker.source.replace("/", "+") / f"{speaker.name}.wav"
            yield Reading(speaker.source, speaker.sex, written(path, np.concatenate(parts), rate))


def signal_to_noise_db(sound: Samples, rate_hz: int) -> float:
    """The speech against the quietest tenth of what is not digital silence."""
    power = frame_powers(sound, rate_hz)
    quiet = np.quantile(power[power > 1e-10], 0.1)
    return float(20 * np.log10(active_rms(sound, rate_hz)) - 10 * np.log10(quiet))


def hum_db(sound: Samples, rate_hz: int) -> float:
    """How far the strongest line at the mains' frequencies or their doubles stands out."""
    size = 1 << int(np.ceil(np.log2(rate_hz)))
    frames = sound[: len(sound) // size * size].reshape(-1, size) * np.hanning(size)
    steady = np.quantile(np.abs(np.fft.rfft(frames, axis=1)) ** 2, 0.25, axis=0)
    bins = [round(hz * size / rate_hz) for hz in (50, 60, 100, 120)]
    return max(
        float(10 * np.log10(steady[at - 2 : at + 3].max() / np.median(steady[at - 14 : at + 15])))
        for at in bins
    )


def deserved(path: Path) -> Iterator[str]:
    """Ids of the checks that should find something by measures that are not palprep's: numpy's
    alone, with 3 dB to either side for noise."""
    sound, rate = decoded(path)
    ratio_db = signal_to_noise_db(sound, rate)
    if ratio_db < 38:
        yield from ("voice_snr", "voice_noise_floor")
    if ratio_db < 23:
        yield "voice_snr: fail"
    if hum_db(sound - sound.mean(), rate) > 10:
        yield "voice_hum"
    if abs(sound.mean()) > 0.009:
        yield "voice_dc_offset"
    top = np.abs(sound) >= np.abs(sound).max() - 1.5 / 32768
    if (top[3:] & top[2:-1] & top[1:-2] & top[:-3]).any():
        yield "voice_clipping"
    yield from PLAIN


def judged(path: Path, *, weigh: bool = True) -> Judged:
    """What palprep finds in a recording, and if asked whether it deserves that."""
    checks = [
        each
        for each in check(path, role=Role.VOICE_AUDIO).checks
        if each.outcome is not Outcome.PASS
    ]
    return Judged(
        {each.id: each.outcome for each in checks},
        {each.id: each.sentence for each in checks},
        frozenset(each.id for each in checks if each.follows),
        frozenset(deserved(path) if weigh else ()),
    )


def readers_table(readings: Sequence[Reading], found: Sequence[Judged]) -> Iterator[str]:
    """Lines of Markdown: each check, and each group."""
    total = len(found)
    yield "| Single readers | fails | warns | of these rightly | unknown |"
    yield "|---|---|---|---|---|"
    ids = sorted({each for one in found for each in one.found} - PLAIN)
    for each in ids:
        outcomes = Counter(one.found.get(each) for one in found)
        right = sum(each in one.deserved and one.found.get(each) is Outcome.WARN for one in found)
        fails = [one for one in found if one.found.get(each) is Outcome.FAIL]
        rightly = sum(f"{each}: fail" in one.deserved for one in fails)
        failed = f"{len(fails)} ({rightly} rightly)" if fails else "0"
        unknown = share_of(outcomes[Outcome.UNKNOWN], total, 1)
        weighed = "-" if each == UNWEIGHED else right
        yield f"| `{each}` | {failed} | {outcomes[Outcome.WARN]} | {weighed} | {unknown} |"
    groups = defaultdict[str, list[Judged]](list)
    for reading, one in zip(readings, found, strict=True):
        groups[NAMES.get(reading.source, reading.source)].append(one)
        sex = {"F": "women", "M": "men"}.get(reading.sex)
        name = reading.path.stem if reading.source == ARCHIVE else ""
        groups[sex or f"- first language {'English' if 'english' in name else 'another'}"].append(
            one
        )
    yield ""
    yield "| Readers | recordings | fail wrongly | several | voices unknown | findings told |"
    yield "|---|---|---|---|---|---|"
    for group, ones in [("all", list(found)), *sorted(groups.items())]:
        wrong = sum(
            any(
                o is Outcome.FAIL and i not in PLAIN and f"{i}: fail" not in one.deserved
                for i, o in one.found.items()
            )
            for one in ones
        )
        several = Counter(one.found.get("voice_one_speaker") for one in ones)
        told = sum(len(one.found) - len(one.following) for one in ones) / len(ones)
        yield (
            f"| {group} | {len(ones)} | {share_of(wrong, len(ones), 1)} | "
            f"{share_of(several[Outcome.WARN], len(ones), 1)} | "
            f"{share_of(several[Outcome.UNKNOWN], len(ones), 1)} | {told:.1f} |"
        )


def cases(readings: Sequence[Reading], music: Sequence[Path]) -> Iterator[Spoilt]:
    """The clearest readers of the sources with the highest rate, spoilt; and dialogues."""
    chance = np.random.default_rng(28)
    sounds = [(reading, *decoded(reading.path)) for reading in readings]
    most_hz = max(rate for _, _, rate in sounds)
    wide = [each for each in sounds if each[2] >= min(most_hz, 44_100)]
    wide.sort(key=lambda each: -signal_to_noise_db(each[1], each[2]))
    chosen = [(levelled(s[: 30 * r], r), r) for _, s, r in wide[: CLEAREST + 6]]
    pieces = [decoded(path) for path in music]
    for number, (sound, rate) in enumerate(chosen[:CLEAREST]):
        others = [s for s, r in chosen if s is not sound and r == rate]
        piece, piece_hz = pieces[number % len(pieces)]
        at = np.arange(len(sound)) * piece_hz / rate + 20 * piece_hz
        played = np.interp(at, np.arange(len(piece)), piece)
        made = spoilt(below(sound), rate, others, played, chance)
        yield from (each._replace(rate_hz=rate) for each in made)
    long = [each for each in sounds if len(each[1]) > 20 * each[2] and each[0].sex]
    rates = Counter(rate for _, _, rate in long)
    rate = rates.most_common(1)[0][0]
    talk = [(reading.sex, levelled(sound, r)) for reading, sound, r in long if r == rate]
    yield from dialogues(talk, rate, chance, PAIRS)


def spoilt_table(made: Sequence[tuple[Spoilt, Judged]]) -> Iterator[str]:
    """Lines of Markdown: how often a defect is named, only found, and silent, level by level; and
    the level at which it is named least often."""
    kinds = defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list))
    for case, one in made:
        kinds[case.kind][case.level].append(answer(case, one))
    yield "| Defect | levels | recordings | named | another finding only | silent | at the least |"
    yield "|---|---|---|---|---|---|---|"
    for kind, levels in kinds.items():
        counts = [Counter(answers) for answers in levels.values()]
        total = counts[0].total()
        cells = [", ".join(str(count[each]) for count in counts) for each in ANSWERS]
        least = share_of(min(count["named"] for count in counts), total)
        if kind in SOUND:
            cells[0] = least = "-"
        yield f"| {kind} | {', '.join(levels)} | {total} each | {' | '.join(cells)} | {least} |"


def answer(case: Spoilt, one: Judged) -> str:
    """One of :data:`ANSWERS`."""
    found = {each for each, outcome in one.found.items() if outcome is not Outcome.UNKNOWN}
    hits = found.intersection(case.named_by)
    if any(case.words in one.sentences[each] for each in hits):
        return "named"
    return "other" if hits or found - PLAIN else "silent"


def main() -> None:
    """Print the tables, and write them into a document that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("readers", type=Path)
    parser.add_argument("--music", type=Path, nargs="+", required=True, help="recorded music")
    parser.add_argument("--kept", action="store_true", help="read the sources that were kept aside")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args()
    seen = {*CHOSEN_ON, ARCHIVE}
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        into = Path(folder)
        everyone = everybody(options.sources, options.readers)
        readings = [*joined((s for s in everyone if (s.source in seen) is not options.kept), into)]
        found = [*pool.map(judged, [reading.path for reading in readings], chunksize=4)]
        made, paths = list[Spoilt](), list[Path]()
        for case in cases(readings, options.music):
            paths.append(written(into / f"spoilt{len(paths)}.wav", case.sound, case.rate_hz))
            made.append(case._replace(sound=np.zeros(0)))
        spoiled = [*pool.map(partial(judged, weigh=False), paths, chunksize=4)]
    half = " kept" if options.kept else ""
    tables = {
        f"recordings{half}": [*readers_table(readings, found)],
        f"spoilt recordings{half}": [*spoilt_table([*zip(made, spoiled, strict=True)])],
    }
    for name, lines in tables.items():
        print(*lines, sep="\n")
        if options.table:
            replace_marked(options.table, name, lines)


if __name__ == "__main__":
    main()
