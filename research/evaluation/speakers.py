"""How well palprep tells one speaker from several, on recordings of real people.

    uv run -m research.evaluation.speakers [--corpus FOLDER] [--table docs/accuracy.md]

Every recording goes through the same meter as in a check. Readings of one person, of half a minute
at the most, stand against pairs of them that are joined: two halves, turns of 4 to 8 s, turns of
1.2 to 3 s, one sentence of 4 s by somebody else, and 3 s of it within the reading, repeated for a
minute. Meetings are what they are.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from palprep.speech import RATE_HZ
from palprep.speech.voice_meter import VoiceMeter
from research.evaluation.portraits import wilson
from research.evaluation.voice import CORPUS, Samples, decode, levelled, manifest
from research.marked import replace_marked

LENGTH_S, LEAST_S = 30, 10
PAIRS = 20
PAUSE = np.zeros(int(0.3 * RATE_HZ))
TURNS_S = {"two, long turns": (4.0, 8.0), "two, short turns": (1.2, 3.0)}


def readings(corpus: Path) -> Iterator[tuple[str, str, Samples]]:
    """The source, the speaker and the sound of each single reader with enough of it."""
    own = defaultdict[tuple[str, str], list[Samples]](list)
    for clip in manifest(corpus):
        if clip.speaker and "several" not in clip.kind and clip.path.suffix in {".wav", ".flac"}:
            source = clip.path.relative_to(corpus).parts[0]
            own[source, clip.speaker].append(levelled(decode(clip.path)))
    for (source, speaker), parts in own.items():
        joined = np.concatenate(parts)
        for at in range(0, max(1, len(joined) - LEAST_S * RATE_HZ), LENGTH_S * RATE_HZ):
            yield source, speaker, joined[at : at + LENGTH_S * RATE_HZ]


def turns(one: Samples, other: Samples, least_s: float, most_s: float, seed: int) -> Samples:
    """Both speak in turn for half a minute, with a pause after each turn."""
    chance, at = np.random.default_rng(seed), [0, 0]
    parts: list[Samples] = []
    for who in itertools.cycle((0, 1)):
        length = int(chance.uniform(least_s, most_s) * RATE_HZ)
        said = (one, other)[who][at[who] : at[who] + length]
        at[who] += length
        if len(said) < length or sum(len(part) for part in parts) > LENGTH_S * RATE_HZ:
            break
        parts += [said, PAUSE]
    return np.concatenate(parts)


def cases(corpus: Path) -> Iterator[tuple[str, Samples]]:
    """What is spoken, in words, and the sound."""
    talk = defaultdict[str, list[Samples]](list)
    for source, speaker, sound in readings(corpus):
        if len(sound) >= LEAST_S * RATE_HZ:
            libri = source.startswith("librispeech")
            yield f"one, {'LibriSpeech' if libri else 'other sources'}", sound
            talk[speaker].append(sound)
    chance, names = np.random.default_rng(5), sorted(talk)
    for number in range(PAIRS):
        one, other = (talk[str(name)][0] for name in chance.choice(names, 2, replace=False))
        half = min(len(one), len(other), LENGTH_S * RATE_HZ // 2)
        yield "two halves", np.concatenate((one[:half], PAUSE, other[:half]))
        for kind, (least_s, most_s) in TURNS_S.items():
            yield kind, turns(one, other, least_s, most_s, number)
        sentence = other[: 4 * RATE_HZ]
        yield "one foreign sentence", np.concatenate((one[: -half // 2], PAUSE, sentence))
        minute = np.resize(one, 60 * RATE_HZ)
        minute[-20 * RATE_HZ : -17 * RATE_HZ] = sentence[: 3 * RATE_HZ]
        yield "three seconds of a minute", minute
    for clip in manifest(corpus):
        if "several" in clip.kind:
            yield "meetings", decode(clip.path)


def table(corpus: Path) -> list[str]:
    """Lines of Markdown: how often each answer is given."""
    answers = defaultdict[str, Counter[bool | None]](Counter)
    for kind, sound in cases(corpus):
        meter = VoiceMeter(RATE_HZ, 1)
        meter.push(sound.astype(np.float32)[None])
        answers[kind][meter.facts().speakers.several] += 1
    lines = ["| Who speaks | recordings | several | no second voice | not told |"]
    lines.append("|---|---|---|---|---|")
    for kind, found in answers.items():
        total, cells = found.total(), []
        for answer in (True, False, None):
            low, high = wilson(found[answer], total)
            cells.append(f"{found[answer]} ({low:.0%} to {high:.0%})")
        lines.append(f"| {kind} | {total} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Print the table, and write it into a document that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args()
    lines = table(options.corpus)
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "one speaker", lines)


if __name__ == "__main__":
    main()
