"""Whether words in another language, beside the statement or within it, are noticed.

    uv run -m research.evaluation.other_languages READERS [--table docs/accuracy.md]

Needs espeak-ng on the PATH. Remarks in languages that the model does not know are put before, into
and after exact statements of the development corpus. READERS is a checkout of
jimbozhang/speechocean762: grown-up people read one sentence each there, and say nothing else. It is
counted how many come out otherwise by the rules that speech lasts too long for the words.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np

from palprep.consent import ConsentFacts, StatementReading, Whisper, read_samples
from palprep.consent.wording import Statement, required_statement
from palprep.rules import load_profile
from palprep.rules.consent import grade_statement
from palprep.speech import RATE_HZ
from palprep.values import Outcome
from research.evaluation.consent import CORPORA
from research.evaluation.same_voice import speechocean
from research.evaluation.voice import Samples, decode
from research.marked import replace_marked

NAME = "Jane Doe"
VOICES = ("piper", "es_us", "es_gb")
PLACES = {"before": 0, "after “speaking”": 6, "after “provide”": 26, "after": None}
"""How many words of the statement stand before the remark."""
REMARKS = {
    "of 2 s and more": {
        "de": "Ich werde dazu gezwungen. Ich bin damit nicht einverstanden.",
        "fr": "Je ne suis pas d'accord. On m'oblige à lire ce texte.",
        "es": "No doy mi consentimiento. Me obligan a leer este texto.",
        "cmn": "我不同意这个声明。他们强迫我读。",
        "hi": "मैं सहमत नहीं हूँ। मुझे मजबूर किया जा रहा है।",
        "pl": "Nie zgadzam się. Zmuszają mnie do czytania tego tekstu.",
    },
    "of a second": {"de": "Unter Zwang.", "es": "No acepto.", "pl": "Pod przymusem."},
}
PAUSE = np.zeros(round(0.3 * RATE_HZ))
LEAST_WORDS = 7
GRADING = "palprep.rules.consent.grading"
NEVER_S = 1e9
"""For each letter that is made out after a statement: no speech lasts so long."""


def spoken(language: str, text: str) -> Samples:
    """A remark, at about the level of the statements."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        command = ["espeak-ng", "-v", language, "-s", "150", "-w", file.name, text]
        subprocess.run(command, check=True)
        return decode(Path(file.name))


def with_remark(statement: Samples, at_s: float, remark: Samples) -> Samples:
    """The statement with a remark put in."""
    at = round(at_s * RATE_HZ)
    return np.concatenate((statement[:at], PAUSE, remark, PAUSE, statement[at:]))


def attacks(model: Whisper) -> Iterator[tuple[str, str, Outcome]]:
    """How long the remark is, where it stands, and what it comes to."""
    required = Statement.of(required_statement().format(full_name=NAME), NAME, "en")
    for voice in VOICES:
        exact = decode(CORPORA / "consent" / f"exact.{voice}.flac")
        words = graded(read(exact, required, model)).words
        for length, texts in REMARKS.items():
            for (place, count), (language, text) in itertools.product(
                PLACES.items(), texts.items()
            ):
                at_s = 0.0
                if count is None:
                    at_s = len(exact) / RATE_HZ
                elif count:
                    at_s = ((words[count - 1].end or 0.0) + (words[count].start or 0.0)) / 2
                samples = with_remark(exact, at_s, spoken(language, text))
                yield length, place, graded(read(samples, required, model)).outcome


def read(samples: Samples, required: Statement, model: Whisper) -> StatementReading:
    """What is read of the statement."""
    return read_samples(samples.astype(np.float32), required, model)


def graded(reading: StatementReading) -> ConsentFacts:
    """By the limits of the default profile."""
    return grade_statement(reading, load_profile().consent)


def readers(folder: Path) -> Iterator[tuple[Path, str]]:
    """A sentence of each grown-up reader, and its words."""
    texts = {
        name: text
        for part in ("test", "train")
        for name, text in (
            line.split(maxsplit=1)
            for line in (folder / part / "text").read_text("utf-8").splitlines()
        )
    }
    for speaker in speechocean(folder):
        files = (*speaker.files, *speaker.other)
        long = (each for each in files if len(texts[each.stem].split()) >= LEAST_WORDS)
        for path in itertools.islice(long, 1):
            yield path, texts[path.stem].capitalize()


def changed(folder: Path, model: Whisper) -> Counter[tuple[Outcome, Outcome]]:
    """How readers come out without the rules, and with them."""
    counts: Counter[tuple[Outcome, Outcome]] = Counter()
    for path, text in readers(folder):
        reading = read(decode(path), Statement.of(text, "Nobody", "en"), model)
        with patch(f"{GRADING}._unheard_by_word", lambda _: (NEVER_S, [])):
            without = graded(reading).outcome
        counts[without, graded(reading).outcome] += 1
    return counts


def main() -> None:
    """Print the table, and write it into a document that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readers", type=Path)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args()
    model = Whisper.load(None)
    counts = Counter(attacks(model))
    lines = ["| A remark in another language | where it stands | pass | doubt | fail |"]
    lines.append("|---|---|---|---|---|")
    for length, place in dict.fromkeys((length, place) for length, place, _ in counts):
        cells = (counts[length, place, each] for each in (Outcome.PASS, Outcome.WARN, Outcome.FAIL))
        lines.append(f"| {length} | {place} | {' | '.join(map(str, cells))} |")
    people = changed(options.readers, model)
    others = sum(count for (without, by_rules), count in people.items() if without != by_rules)
    told = f"Of {people.total()} readers who say nothing else {others} come out otherwise"
    lines += ["", f"{told} by the rules."]
    print(*lines, sep="\n")
    print(people)
    if options.table:
        replace_marked(options.table, "other languages", lines)


if __name__ == "__main__":
    main()
