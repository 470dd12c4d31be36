"""How well voices are told apart: one person in two recordings, and two people.

    python -m research.evaluation.same_voice SOURCES [--cache FILE] [--table docs/accuracy.md]

SOURCES holds a folder for each of :data:`SOURCES_READ`, the checkout of what
research/material/sources.csv lists under that name. Of every speaker two sides are taken, from
different files where there are any: some seconds of speech each. One side stays as it is, the other
goes through a channel: a telephone (300 to 3,400 Hz, 8 kHz, 8 bits by mu-law), noise at 15 dB, a
room (0.5 s of reverberation). The two sides of one speaker are a genuine pair; sides of two
speakers of one source and one sex are an impostor, who has the same room and microphone, and in
most sources says the same. Other sexes are easier, and counted apart.

The limits of the profile were chosen on LibriSpeech and VCTK; the other sources judge them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.errors import MediaError
from palprep.rules import SAME_VOICE, load_profile
from palprep.speech import RATE_HZ, speech_spans
from palprep.speech.arrays import Floats
from palprep.speech.voiceprint import Voiceprint
from palprep.values import Outcome
from research.evaluation.portraits import wilson
from research.evaluation.voice import decode
from research.marked import replace_marked
from research.training.logistic import Array

LENGTHS_S = (3, 5, 8)
"""Of speech on both sides: the least that is compared, and the most."""
FULL_S = LENGTHS_S[-1]
ADULT = 18
READERS = 120
"""Of those with one sentence."""
DRAWS = 300
"""Of speakers, for the interval of an equal error rate."""


class Speaker(NamedTuple):
    """Who speaks in which files; the second side comes from ``other``, or where that is empty from
    the second half of what ``files`` hold.
    """

    source: str
    name: str
    sex: str
    language: str
    files: tuple[Path, ...]
    other: tuple[Path, ...] = ()


class Key(NamedTuple):
    """One embedding."""

    source: str
    name: str
    side: int
    length_s: int
    channel: str


class Pair(NamedTuple):
    """Two sides, and how alike they are."""

    source: str
    sexes: str
    language: str
    length_s: int
    channel: str
    names: tuple[str, str]
    cosine: float

    @property
    def genuine(self) -> bool:
        return self.names[0] == self.names[1]


def librispeech(folder: Path) -> Iterator[Speaker]:
    """Read books: ten sentences of ten people, and one of each of the others."""
    speakers = folder / "audio_data" / "librispeech_test-other" / "SPEAKERS.TXT"
    rows = [line.split("|") for line in speakers.read_text("utf-8").splitlines() if line[0] != ";"]
    sexes = {row[0].strip(): row[1].strip() for row in rows}
    for place in sorted((folder / "audio_data" / "librispeech_test-other").iterdir()):
        if place.is_dir():
            files = sorted(place.glob("*.flac"))
            yield Speaker("", place.name, sexes[place.name], "en", *halves(files))
    for file in sorted((folder / "audio_data" / "librispeech_train-clean-100").glob("*.flac"))[
        :120
    ]:
        name = file.name.split("-")[0]
        yield Speaker("", name, sexes[name], "en", (file,))


def vctk(folder: Path) -> Iterator[Speaker]:
    """Four British readers."""
    for name, sex in (("p225", "F"), ("p226", "M"), ("p227", "M"), ("p228", "F")):
        yield Speaker("", name, sex, "en", *halves(sorted((folder / "wavs" / name).glob("*.wav"))))


def speechocean(folder: Path) -> Iterator[Speaker]:
    """Grown-up Mandarin speakers who read English into telephones of their own."""
    facts = {
        kind: dict(
            line.split()
            for part in ("train", "test")
            for line in (folder / part / f"spk2{kind}").read_text("utf-8").splitlines()
        )
        for kind in ("age", "gender")
    }
    for name, age in sorted(facts["age"].items()):
        if int(age) >= ADULT:
            files = sorted((folder / "WAVE" / f"SPEAKER{name}").glob("*.WAV"))
            yield Speaker("", name, facts["gender"][name].upper(), "en (zh)", *halves(files))


def urdu(folder: Path) -> Iterator[Speaker]:
    """Talk shows: calm or sad speech against angry or happy speech."""
    found: dict[str, tuple[list[Path], list[Path]]] = {}
    for mood, side in (("Neutral", 0), ("Sad", 0), ("Angry", 1), ("Happy", 1)):
        for file in sorted((folder / mood).glob("*.wav")):
            found.setdefault(file.name.split("_")[0], ([], []))[side].append(file)
    for name, (calm, moved) in sorted(found.items()):
        sides = (tuple(calm), tuple(moved)) if calm and moved else halves([*calm, *moved])
        yield Speaker("", name, name[1], "ur", *sides)


def ravdess(folder: Path) -> Iterator[Speaker]:
    """Actors who say two sentences: neutral and calm against happy and sad."""
    for place in sorted((folder / "Audio_Speech_Actors_01-24").iterdir()):
        number = place.name.removeprefix("Actor_")
        sides = [
            tuple(file for mood in moods for file in sorted(place.glob(f"03-01-{mood}-01-*.wav")))
            for moods in (("01", "02"), ("03", "04"))
        ]
        yield Speaker("", number, "FM"[int(number) % 2], "en", *sides)


SOURCES_READ: Mapping[str, Callable[[Path], Iterator[Speaker]]] = {
    "resemble-ai/Resemblyzer": librispeech,
    "auspicious3000/autovc": vctk,
    "jimbozhang/speechocean762": speechocean,
    "siddiquelatif/URDU-Dataset": urdu,
    "ZenvilleErasmus/RAVDESS-emotions-speech-audio-only": ravdess,
}
CHOSEN_ON = ("resemble-ai/Resemblyzer", "auspicious3000/autovc")


def halves(files: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The files in two halves."""
    middle = len(files) // 2
    return tuple(files[:middle]), tuple(files[middle:])


def unchanged(speech: Floats, _: np.random.Generator) -> Floats:
    """As it is."""
    return speech


def telephone(speech: Floats, _: np.random.Generator) -> Floats:
    """300 to 3,400 Hz, and 8 bits by mu-law at full level."""
    spectrum = np.fft.rfft(speech)
    hz = np.fft.rfftfreq(len(speech), 1 / RATE_HZ)
    spectrum[(hz < 300) | (hz > 3400)] = 0
    narrow = np.fft.irfft(spectrum, len(speech))[::2]
    narrow /= np.abs(narrow).max() + 1e-9
    code = np.round(np.sign(narrow) * np.log1p(255 * np.abs(narrow)) / np.log(256) * 127) / 127
    narrow = np.sign(code) * np.expm1(np.abs(code) * np.log(256)) / 255
    half = np.fft.rfft(narrow)
    wide = np.zeros(len(narrow) + 1, complex)
    wide[: len(half)] = half
    return np.asarray(np.fft.irfft(wide, 2 * len(narrow)) * 2, np.float32)


def noisy(speech: Floats, chance: np.random.Generator) -> Floats:
    """Pink noise, 15 dB under the speech."""
    spectrum = np.fft.rfft(chance.standard_normal(len(speech)))
    noise = np.fft.irfft(spectrum / np.sqrt(np.arange(len(spectrum)) + 1), len(speech))
    gain = np.sqrt((speech**2).mean() / (noise**2).mean()) * 10 ** (-15 / 20)
    return np.asarray(speech + noise * gain, np.float32)


def roomy(speech: Floats, chance: np.random.Generator) -> Floats:
    """Reverberation of 0.5 s (60 dB), as loud as the direct sound at 1.5 times the critical
    distance.
    """
    at_s = np.arange(RATE_HZ // 2) / RATE_HZ
    tail = chance.standard_normal(len(at_s)) * 10 ** (-3 * at_s / 0.5)
    tail *= 1.5 / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    size = len(speech) + len(tail)
    wet = np.fft.irfft(np.fft.rfft(speech, size) * np.fft.rfft(tail, size), size)[: len(speech)]
    return np.asarray(wet / np.abs(wet).max() * 0.5, np.float32)


NARROW = "telephone"
CHANNELS: Mapping[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "as recorded": unchanged,
    NARROW: telephone,
    "noise, 15 dB": noisy,
    "room": roomy,
}


def speakers(folder: Path) -> Iterator[Speaker]:
    """Those of every source that is there."""
    for source, read in SOURCES_READ.items():
        place = folder / source.replace("/", "+")
        if place.is_dir():
            yield from (speaker._replace(source=source) for speaker in read(place))


def sides(speaker: Speaker) -> tuple[Floats, Floats]:
    """The speech of both sides, as much as is compared at the most."""
    one = spoken(speaker.files, FULL_S * (1 if speaker.other else 2))
    if speaker.other:
        return one, spoken(speaker.other, FULL_S)
    return one[: len(one) // 2], one[len(one) // 2 :]


def spoken(files: Iterable[Path], most_s: float) -> Floats:
    """Speech of several files, without pauses."""
    parts, length = [np.zeros(0, np.float32)], 0
    for file in files:
        try:
            samples = decode(file)
        except MediaError:
            continue
        for span in speech_spans(samples):
            part = samples[int(span.start_s * RATE_HZ) : int(span.end_s * RATE_HZ)]
            parts.append(part)
            length += len(part)
        if length >= most_s * RATE_HZ:
            break
    return np.concatenate(parts)[: int(most_s * RATE_HZ)]


def embeddings(people: Iterable[Speaker], known: dict[Key, Floats]) -> None:
    """Add those that are not known."""
    voiceprint = Voiceprint()
    for speaker in people:
        if Key(speaker.source, speaker.name, -1, 0, "") in known:
            continue
        chance = np.random.default_rng(sum(map(ord, speaker.source + speaker.name)))
        for side, speech in enumerate(sides(speaker)):
            for length_s in LENGTHS_S:
                part = speech[: length_s * RATE_HZ]
                if len(part) < length_s * RATE_HZ:
                    continue
                for channel, through in CHANNELS.items():
                    if side == 1 or channel == "as recorded":
                        key = Key(speaker.source, speaker.name, side, length_s, channel)
                        known[key] = voiceprint.embed(through(part, chance))
        known[Key(speaker.source, speaker.name, -1, 0, "")] = np.zeros(192, np.float32)


def pairs(people: Sequence[Speaker], known: Mapping[Key, Floats]) -> Iterator[Pair]:
    """Every first side against every second side of its source."""
    for source in dict.fromkeys(each.source for each in people):
        own = [each for each in people if each.source == source]
        for length_s, channel in itertools.product(LENGTHS_S, CHANNELS):
            for one, other in itertools.product(own, own):
                first = known.get(Key(source, one.name, 0, length_s, "as recorded"))
                second = known.get(Key(source, other.name, 1, length_s, channel))
                if first is not None and second is not None:
                    yield Pair(
                        source,
                        one.sex + other.sex,
                        one.language,
                        length_s,
                        channel,
                        (one.name, other.name),
                        float(first @ second),
                    )


def equal_error_rate(genuine: Sequence[float] | Array, impostors: Sequence[float] | Array) -> float:
    """Where as many genuine pairs lie below a limit as impostors above it."""
    limits = np.sort(np.concatenate((genuine, impostors)))
    missed = np.searchsorted(np.sort(genuine), limits) / len(genuine)
    let = 1 - np.searchsorted(np.sort(impostors), limits) / len(impostors)
    at = int(np.argmin(np.abs(missed - let)))
    return float((missed[at] + let[at]) / 2)


def by_speakers(found: Sequence[Pair], chance: np.random.Generator) -> tuple[float, float]:
    """The 95% interval of the equal error rate, drawing speakers again and again."""
    names = sorted({pair.names[0] for pair in found})
    number = {name: index for index, name in enumerate(names)}
    places = np.array([[number.get(name, 0) for name in pair.names] for pair in found])
    cosines = np.array([pair.cosine for pair in found])
    genuine = np.array([pair.genuine for pair in found])
    rates = []
    for _ in range(DRAWS):
        drawn = np.bincount(chance.integers(len(names), size=len(names)), minlength=len(names))
        times = drawn[places].min(axis=1) * (drawn[places] > 0).all(axis=1)
        one, other = (np.repeat(cosines[kind], times[kind]) for kind in (genuine, ~genuine))
        if len(one) and len(other):
            rates.append(equal_error_rate(one, other))
    low, high = np.quantile(rates, (0.025, 0.975))
    return float(low), float(high)


def row(name: str, found: Sequence[Pair]) -> str:
    """A line of the table: of genuine pairs and of impostors, what is said of them."""
    limits = load_profile().pairs[SAME_VOICE.id]
    cells, cosines = [], []
    for genuine in (True, False):
        cosines.append([pair.cosine for pair in found if pair.genuine is genuine])
        said = [SAME_VOICE.judge("one", "other", each, limits).outcome for each in cosines[-1]]
        cells.append(str(len(said)))
        for outcome in (Outcome.WARN, Outcome.FAIL) if genuine else (Outcome.PASS, Outcome.FAIL):
            hits = said.count(outcome)
            low, high = wilson(hits, len(said))
            cells.append(f"{hits / len(said):.1%} ({low:.1%} to {high:.1%})")
    low, high = by_speakers(found, np.random.default_rng(1))
    rate = f"{equal_error_rate(*cosines):.1%} ({low:.1%} to {high:.1%})"
    return f"| {name} | {' | '.join(cells)} | {rate} |"


def table(found: Sequence[Pair]) -> Iterator[str]:
    """Lines of Markdown. Impostors are of the same sex, unless a line says otherwise."""
    yield (
        "| | one person: pairs | doubt | fail | two people: pairs | pass | fail "
        "| equal error rate |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    near = [pair for pair in found if len(set(pair.sexes)) == 1]
    chosen = [pair for pair in near if pair.source in CHOSEN_ON and pair.length_s == 5]
    unseen = [pair for pair in near if pair.source not in CHOSEN_ON]
    wide = [pair for pair in unseen if pair.channel != NARROW]
    judged = [pair for pair in wide if pair.length_s == FULL_S]
    apart = [p for p in found if p.source not in CHOSEN_ON and p.channel != NARROW]
    groups = {
        "chosen on, 5 s": [p for p in chosen if p.channel != NARROW],
        f"**judged on, {FULL_S} s**": judged,
        **{f"- {source}": [p for p in judged if p.source == source] for source in SOURCES_READ},
        **{f"- {channel}": [p for p in judged if p.channel == channel] for channel in CHANNELS},
        "- women": [p for p in judged if p.sexes == "FF"],
        "- men": [p for p in judged if p.sexes == "MM"],
        "- a woman and a man": [
            p for p in apart if p.length_s == FULL_S and (p.genuine or len(set(p.sexes)) == 2)
        ],
        **{f"{n} s of speech": [p for p in wide if p.length_s == n] for n in LENGTHS_S[:-1]},
        **{
            f"{NARROW}, {n} s": [p for p in unseen if p.length_s == n and p.channel == NARROW]
            for n in LENGTHS_S
        },
        f"{NARROW}, chosen on, 5 s": [p for p in chosen if p.channel == NARROW],
    }
    for name, kind in groups.items():
        if {pair.genuine for pair in kind} == {True, False}:
            yield row(name, kind)


def read_cache(path: Path | None) -> dict[Key, Floats]:
    """What :func:`write_cache` wrote; nothing where there is no such file."""
    if path is None or not path.exists():
        return {}
    with np.load(path) as stored:
        keys = [Key(a, b, int(c), int(d), e) for a, b, c, d, e in stored["keys"]]
        return dict(zip(keys, stored["values"], strict=True))


def write_cache(path: Path, known: Mapping[Key, Floats]) -> None:
    """Keep embeddings in a file."""
    keys = np.array([[*map(str, key)] for key in known])
    np.savez(path, keys=keys, values=np.stack([*known.values()]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--cache", type=Path, help="keep the embeddings in this file")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    people = list(speakers(options.sources))
    known = read_cache(options.cache)
    embeddings(people, known)
    if options.cache:
        write_cache(options.cache, known)
    lines = list(table(list(pairs(people, known))))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "same voice", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
