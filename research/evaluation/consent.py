"""How often consent is read wrongly, per voice and condition.

    uv run -m research.evaluation.consent [--variants DIR] [--others N] [--other-talk]
    uv run -m research.evaluation.consent --unseen DIR --real --table docs/accuracy.md

Reads ../shared/corpora/consent, or what it is told to. ``--variants``, ``--reported``, ``--unseen``
and ``--third`` name what synthesise_consent.py made, the first also tried with N other people's
names. ``--real`` are people who read aloud: each sentence is the required statement, and then an
altered one is, so that real voices are tried although none of them says the statement. ``--people``
names a folder of more of them, with a MANIFEST.tsv: path, speaker, seconds, transcript.
``--other-talk`` is
real speech that must never pass. An altered statement that passes or warns is a false accept, an
exact one that fails or stays unknown a false reject. Of a name that is merely like the required one
only a pass is a false accept: a warning asks people to listen. What is not word for word but means
nothing else (fillers, stutters) is counted as neither. Exits 1 when anything is accepted.

With ``--readings`` what was read is kept in a file, so that limits are tried without listening
again; delete it when the code that reads has changed. ``--table`` writes the counts, variant by
voice, into a Markdown file.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent import ConsentFacts, StatementReading, Whisper, read_samples
from palprep.consent.moonshine import Moonshine
from palprep.consent.whisper import Heard
from palprep.consent.wording import PLACEHOLDER, Statement, required_statement, split_words
from palprep.consent.wording.words import similarity
from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.rules import load_profile
from palprep.rules.consent import grade_statement
from palprep.speech import RATE_HZ
from research.marked import replace_marked

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
LONGEST_S = 75
ACCEPTED = ("pass", "warn")
ALTERATIONS = (
    (r"\b(is|was|are|were|had|has|have|may|could|would|did|do)\b(?!n't)", r"\1 not"),
    (r"\b(my|his|her|their|our|your)\b", "nobody's"),
    (r"\band\b", "or"),
    (r"\b(the|a|an) (\w+)", r"\1 other \2"),
    (r"\b\w{6,}\b", "nothing"),
    (r"^((?:\S+\s+){4})\S+\s+\S+\s+", r"\1"),
    (r"(?<=\w )\w{5,} ", ""),
)
"""What is required instead of what is said: negated, another's, the other conjunction, added,
changed, two words missing, one missing."""
PEOPLE = "consent of people"
MORE_PEOPLE = "consent of more people"
CORPUS = "consent of the corpus"
REPORTED = "consent"
UNSEEN = "consent unseen"
THIRD = "consent third"
REMEMBERED = 4
"""Pieces of audio that were heard and are not forgotten."""
WORD = r"\b[a-z]{3,}\b(?!')"
ALIKE = (0.7, 0.93)
"""Similarity of words that sound much alike, and from which they sound the same."""
LONGER = 2
"""Letters that the one may have more than the other."""
KINDS = 3
"""So many of them are tried with each sentence, in turn."""


class Case(NamedTuple):
    """One file against one statement."""

    path: Path
    group: str
    label: str
    name: str
    statement: str
    expected: str
    """``exact``, ``altered``, ``near`` or ``either``."""
    voice: str = ""
    table: str = ""
    """The table of docs/accuracy.md that it is counted in."""

    def accepts(self, outcome: str) -> bool:
        """Whether an outcome is a false accept."""
        accepted = {"altered": ACCEPTED, "near": ("pass",)}.get(self.expected, ())
        return outcome in accepted

    def rejects(self, outcome: str) -> bool:
        """Whether an outcome is a false reject."""
        return self.expected == "exact" and outcome not in ACCEPTED


def synthetic(folder: Path) -> Iterator[Case]:
    """The development corpus: KEY.VOICE.flac."""
    for path in sorted(folder.glob("*.flac")):
        key, voice = path.name.split(".")[:2]
        expected = "exact" if key == "exact" else "altered"
        group, name = key.replace("_", " "), "Jane Doe"
        yield Case(path, group, key, name, required_statement(), expected, voice, CORPUS)


def variants(folder: Path, others: int) -> Iterator[Case]:
    """What synthesise_consent.py made, and its names against those of others."""
    index = json.loads((folder / "index.json").read_text("utf-8"))
    names = sorted({entry["name"] for entry in index})
    for entry in index:
        expected, key = entry["expected"], entry["key"]
        group = {"either": f"{key}, all voices", "near": "near names, all voices"}.get(
            expected, f"{entry['voice']} {entry['condition']}"
        )
        path = folder / entry["file"]
        yield Case(path, group, key, entry["name"], entry["statement"], expected)
        if key == "exact" and entry["condition"] == "clean":
            at = names.index(entry["name"])
            for step in range(1, others + 1):
                name = names[(at + 3 * step) % len(names)]
                if name != entry["name"]:
                    label = f"{entry['name']} as {name}"
                    yield Case(path, "other names", label, name, entry["statement"], "altered")


def reported(folder: Path, table: str) -> Iterator[Case]:
    """The readings that are reported on; the group is the variant."""
    for entry in json.loads((folder / "index.json").read_text("utf-8")):
        expected, key = entry["expected"], entry["key"]
        group = "words changed, added or missing"
        if expected == "near":
            group = "another name, much alike"
        elif expected == "exact":
            group = key if key != "exact" else f"exact, {entry['condition']}"
            group = {"preamble": "exact, after a greeting", "long": "exact, 108 words"}.get(
                group, group
            )
        elif key.startswith(("withdrawn", "revoked", "take_back")):
            group = f"withdrawn, {entry['condition']}"
        path, name = folder / entry["file"], entry["name"]
        yield Case(path, group, key, name, entry["statement"], expected, entry["voice"], table)


def spoken_as(sentences: Sequence[tuple[Path, str, str]], table: str) -> Iterator[Case]:
    """People who read aloud: each sentence (recording, reader, words) against its own wording and
    against altered ones, one of them with a word that sounds much like the one that was said.
    """
    turn = 0
    vocabulary = sorted({word for *_, said in sentences for word in re.findall(WORD, said)})
    for path, reader, said in sentences:
        key, name = path.stem, "Nobody"
        yield Case(path, "people, as read", key, name, said, "exact", reader, table)
        altered = (re.sub(pattern, other, said, count=1) for pattern, other in ALTERATIONS)
        wordings = [wording for wording in altered if wording != said]
        for step in range(min(KINDS, len(wordings))):
            wording = wordings[(turn + step) % len(wordings)]
            yield Case(path, "people, altered", key, name, wording, "altered", reader, table)
        turn += KINDS
        wording = with_another(said, vocabulary)
        if wording != said:
            group = "people, another word, much alike"
            yield Case(path, group, key, name, wording, "near", reader, table)


def with_another(said: str, vocabulary: list[str]) -> str:
    """A sentence with the one word changed for which there is the likest other one."""
    best, wording = ALIKE[0], said
    for word in re.finditer(WORD, said):
        (own,) = split_words(word[0])
        for other in vocabulary:
            if abs(len(other) - len(word[0])) > LONGER or split_words(other)[0].keys == own.keys:
                continue
            likeness = similarity(word[0], other)
            if best <= likeness < ALIKE[1]:
                best, wording = likeness, f"{said[: word.start()]}{other}{said[word.end() :]}"
    return wording


def read_aloud(folder: Path, transcripts: dict[str, str]) -> Iterator[tuple[Path, str, str]]:
    """Recordings of people, the reader and what is read: sentences of 4 s and more."""
    for row in manifest(folder):
        path = folder / row["path"]
        said = (transcripts.get(path.stem) or row["transcript"]).strip().strip('"')
        if not said or "..." in said or float(row["seconds"]) < 4 or path.suffix == ".mp3":
            continue
        if path.suffix == ".flac" and path.with_suffix(".wav").exists():
            continue
        yield path, row["speaker"], f"{said[0].upper()}{said[1:]}"


def other_talk(corpora: Path) -> Iterator[Case]:
    """Real speech that is not the statement at all."""
    required = required_statement()
    for row in manifest(corpora / "av"):
        if row["speech"].startswith("en"):
            path = corpora / "av" / row["path"]
            yield Case(path, "other talk, videos", row["path"], "Jane Doe", required, "altered")
    folder = corpora / "speech"
    for row in manifest(folder):
        if row["language"] == "en" and float(row["seconds"] or 0) >= 5:
            path = folder / row["path"]
            yield Case(path, "other talk", row["path"], "Jane Doe", required, "altered")


def transcribed(path: Path | None) -> dict[str, str]:
    """What is said in each recording, by its id: as LibriSpeech's transcripts are laid out."""
    if path is None:
        return {}
    lines = (line.partition(" ") for line in path.read_text("utf-8").splitlines())
    return {name: text.strip() for name, _, text in lines}


class Remembering(Whisper):
    """A model that does not listen twice to the last piece of audio."""

    def __init__(self, directory: Path | None) -> None:
        super().__init__(directory)
        self._heard: dict[bytes, Heard] = {}
        self._texts: dict[tuple[object, ...], tuple[str, ...]] = {}

    def hear(self, samples: NDArray[np.float32]) -> Heard:
        """As of the model."""
        key = samples.tobytes()
        if key not in self._heard:
            if len(self._heard) >= REMEMBERED:
                self._heard.clear()
                self._texts.clear()
            self._heard[key] = super().hear(samples)
        return self._heard[key]

    def transcribe(self, heard: Heard, language: str, **how: Any) -> tuple[str, ...]:
        """As of the model."""
        key = id(heard.encoded), language, *sorted(how.items())
        if key not in self._texts:
            self._texts[key] = super().transcribe(heard, language, **how)
        return self._texts[key]


def manifest(folder: Path) -> list[dict[str, str]]:
    """The rows about a corpus."""
    with (folder / "MANIFEST.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def chosen(arguments: argparse.Namespace) -> list[Case]:
    """The files to read."""
    cases: list[Case] = []
    if arguments.reported:
        cases += reported(arguments.reported, REPORTED)
    if arguments.unseen:
        cases += reported(arguments.unseen, UNSEEN)
    if arguments.third:
        cases += reported(arguments.third, THIRD)
    if arguments.real:
        texts = transcribed(arguments.transcripts)
        cases += spoken_as([*read_aloud(arguments.corpora / "speech", texts)], PEOPLE)
    if arguments.people:
        cases += spoken_as([*read_aloud(arguments.people, {})], MORE_PEOPLE)
    if arguments.other_talk:
        cases += other_talk(arguments.corpora)
    if arguments.variants:
        cases += variants(arguments.variants, arguments.others)
    return cases or list(synthetic(arguments.corpora / "consent"))


def main() -> int:
    """Print what was read wrongly, then a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--variants", type=Path)
    parser.add_argument("--others", type=int, default=0)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--transcripts", type=Path, help="of --real: lines of an id and a text")
    parser.add_argument("--other-talk", action="store_true")
    parser.add_argument("--reported", type=Path)
    parser.add_argument("--unseen", type=Path)
    parser.add_argument("--third", type=Path)
    parser.add_argument("--people", type=Path)
    parser.add_argument("--table", type=Path, help="Markdown file for the counts")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--readings", type=Path)
    arguments = parser.parse_args()
    cases = chosen(arguments)
    listener = Remembering(arguments.model)
    table: Counter[tuple[str, str, str]] = Counter()
    cells: Counter[tuple[str, str, str, str]] = Counter()
    wrong: Counter[str] = Counter()
    seconds: list[float] = []
    kept: dict[str, Any] = {}
    if arguments.readings and arguments.readings.exists():
        kept = dict(map(json.loads, arguments.readings.read_text("utf-8").splitlines()))
    for case in cases:
        begun = time.perf_counter()
        known = len(kept)
        facts = verify(case, listener, kept)
        if arguments.readings and len(kept) > known:
            key = next(reversed(kept))
            with arguments.readings.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, kept[key]]) + "\n")
        seconds.append(time.perf_counter() - begun)
        table[case.group, case.expected, facts.outcome] += 1
        cells[case.table, case.group, case.voice, facts.outcome] += 1
        if case.accepts(facts.outcome) or case.rejects(facts.outcome):
            wrong["accept" if case.accepts(facts.outcome) else "reject"] += 1
            report(case, facts)
    summary(table, seconds)
    if arguments.table:
        document(arguments.table, cells, listener)
    print(f"false accepts {wrong['accept']}, false rejects {wrong['reject']} of {len(cases)} files")
    return 1 if wrong["accept"] else 0


def verify(case: Case, listener: Whisper, kept: dict[str, Any]) -> ConsentFacts:
    """As verify_consent does, but of read sentences too, which name nobody."""
    key = f"{case.path.name} | {case.name} | {case.statement}"
    if key not in kept:
        blocks = stream_samples(Source.of(case.path), rate_hz=RATE_HZ, channels=1)
        samples = np.concatenate(list(blocks))[: LONGEST_S * RATE_HZ]
        text = case.statement.replace(PLACEHOLDER, case.name)
        reading = read_samples(samples, Statement.of(text, case.name, "en"), listener)
        kept[key] = reading.to_json()
    return grade_statement(StatementReading.model_validate(kept[key]), load_profile().consent)


def report(case: Case, facts: ConsentFacts) -> None:
    """One wrong reading."""
    kind = "FALSE ACCEPT" if case.accepts(facts.outcome) else "FALSE REJECT"
    print(f"{kind} {facts.outcome} {case.group}: {case.label} ({case.name})")
    for reason in facts.reasons:
        print(f"    {reason}")
    print(f"    heard: {facts.transcript}")


def summary(table: Counter[tuple[str, str, str]], seconds: list[float]) -> None:
    """One line per group: how many of each outcome, by what was expected."""
    outcomes = ("pass", "warn", "fail", "unknown")
    heads = "".join(f"{outcome:>9}" for outcome in outcomes)
    print(f"\n{'':34}{'expected':>9}{heads}")
    for group, expected in sorted({(group, expected) for group, expected, _ in table}):
        cells = "".join(f"{table[group, expected, outcome]:>9}" for outcome in outcomes)
        print(f"{group:34}{expected:>9}{cells}")
    ordered = sorted(seconds)
    print(f"median {ordered[len(ordered) // 2]:.2f} s a file, slowest {ordered[-1]:.2f} s")


def document(path: Path, cells: Counter[tuple[str, str, str, str]], listener: Whisper) -> None:
    """Put the counts into the tables of a Markdown file, as far as they were tried."""
    models = (listener, Moonshine.load())
    named = " and ".join(f"{one.name}, sha256 `{one.sha256[:16]}`" for one in models)
    heads = f"Models {named}. Each cell: pass / warn / fail."
    for mark in dict.fromkeys(table for table, *_ in cells if table):
        counts = Counter(
            {tuple(key): count for (table, *key), count in cells.items() if table == mark}
        )
        replace_marked(path, mark, [heads, "", *rows(counts)])


def rows(cells: Counter[tuple[str, ...]]) -> list[str]:
    """A table of Markdown: reading by voice, pass / warn / fail per cell."""
    groups = list(dict.fromkeys(group for group, _, _ in cells))
    names = sorted({voice for _, voice, _ in cells})

    def cell(group: str, among: list[str]) -> str:
        counts = [
            sum(cells[group, voice, outcome] for voice in among)
            for outcome in ("pass", "warn", "fail")
        ]
        return " / ".join(map(str, counts)) if any(counts) else ""

    return [
        f"| Reading | all | {' | '.join(names)} |",
        "|---" * (len(names) + 2) + "|",
        *(
            f"| {group} | {cell(group, names)} | "
            f"{' | '.join(cell(group, [name]) for name in names)} |"
            for group in groups
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
