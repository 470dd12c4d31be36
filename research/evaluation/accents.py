"""How often natives and people who speak English as a second language are read wrongly.

    python -m research.evaluation.accents READERS [--table docs/accuracy.md]

READERS holds recordings of the Speech Accent Archive, as LANGUAGENUMBER.wav in any folder, and
text.txt, the paragraph that all of them read. Each reading is cut in two in the pause before the
paragraph's second half, found by the words that the model aligns, so that each half is about as
long as a statement. The half is the required statement; then an altered one is. Nobody has marked
slips: what somebody read otherwise counts as wrongly read.

Prints how many pass, are held for a decision and fail, by the first language; with --table that
goes into the document.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import wave
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palprep.consent import Whisper, read_samples
from palprep.consent.wording import Statement
from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.speech import RATE_HZ
from research.evaluation.consent import Remembering, report, spoken_as, verify
from research.evaluation.portraits import share_of
from research.marked import replace_marked

SECOND_HALF = "We also"
LEAST_S = 10.0
AROUND_S = 0.3
"""How far an aligned word may begin or end elsewhere."""
NATIVE = "english"
OUTCOMES = ("pass", "warn", "fail")

Samples = NDArray[np.float32]
Half = tuple[Path, str, str]
"""Recording, language and words."""


def halves(folder: Path, into: Path, listener: Whisper) -> Iterator[Half]:
    """Both halves of every reading, written to ``into``."""
    text = " ".join((folder / "text.txt").read_text("utf-8").split())
    border = text.index(SECOND_HALF)
    first, second = text[:border].strip(), text[border:]
    for path in sorted(folder.rglob("*.wav")):
        blocks = stream_samples(Source.of(path), rate_hz=RATE_HZ, channels=1)
        samples = np.concatenate([*blocks])
        if len(samples) < LEAST_S * RATE_HZ:
            continue
        words = read_samples(samples, Statement.of(text, "Nobody", "en"), listener).aligned
        at = len(first.split())
        if len(words) <= at:
            print(f"{path.name}: the paragraph was not found")
            continue
        cut = quietest(samples, words[at - 1].end - AROUND_S, words[at].start + AROUND_S)
        language = re.sub(r"\d+$", "", path.stem)
        for number, part, said in ((1, samples[:cut], first), (2, samples[cut:], second)):
            file = into / f"{path.stem}-{number}.wav"
            with wave.open(str(file), "wb") as sound:
                sound.setparams((1, 2, RATE_HZ, len(part), "NONE", "not compressed"))
                sound.writeframes((np.clip(part, -1, 1) * 32767).astype("<i2").tobytes())
            yield file, language, said


def quietest(samples: Samples, begin_s: float, end_s: float) -> int:
    """The middle of the quietest tenth of a second in between: between two sentences is a pause."""
    begin, step = round(begin_s * RATE_HZ), RATE_HZ // 100
    between = samples[begin : round(end_s * RATE_HZ)]
    power = np.add.reduceat(between**2, np.arange(0, len(between), step))
    return begin + step * (int(np.convolve(power, np.ones(10), "valid").argmin()) + 5)


def counted(folder: Path) -> Counter[tuple[str, str]]:
    """How many come to each outcome, by language as read, and by kind as altered."""
    listener, counts = Remembering.load(None), Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as into:
        read = [*halves(folder, Path(into), listener)]
        altered = set[Path]()
        for case in spoken_as(read, "accents"):
            if case.expected != "exact":
                if case.path in altered:
                    continue
                altered.add(case.path)
            facts = verify(case, listener, {})
            kind = case.voice if case.expected == "exact" else case.group
            counts[kind, facts.outcome] += 1
            if case.accepts(facts.outcome) or case.rejects(facts.outcome):
                report(case, facts)
    return counts


def table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Lines of Markdown."""
    kinds = sorted({kind for kind, _ in counts})
    foreign = [kind for kind in kinds if " " not in kind and kind != NATIVE]
    rows = {"natives": [NATIVE], "all others": foreign}
    rows |= {f"- {kind.capitalize()}": [kind] for kind in foreign}
    rows |= {kind: [kind] for kind in kinds if " " in kind}
    yield "| Halves of the paragraph | pass | held for a decision | fail |"
    yield "|---|---|---|---|"
    for name, inside in rows.items():
        found = [sum(counts[kind, one] for kind in inside) for one in OUTCOMES]
        yield f"| {name} | {' | '.join(share_of(each, sum(found)) for each in found)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readers", type=Path)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args()
    lines = [*table(counted(options.readers))]
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "accents", lines)


if __name__ == "__main__":
    main()
