"""How often consent is read wrongly, per voice and condition.

    uv run python scripts/evaluate_consent.py [--variants DIR] [--real] [--others N]
    uv run python scripts/evaluate_consent.py --held-out DIR --table docs/accuracy.md

Reads ../shared/corpora/consent; with ``--variants`` what synthesise_consent.py made, its
names also against N other people's names; with ``--real`` real speech: unrelated talk,
which must never pass, and read sentences of known wording against that wording and against
altered ones. An altered statement that passes or warns is a false accept, an exact one that
fails or stays unknown a false reject. Of a name that is merely like the required one only a
pass is a false accept: a warning asks people to listen. What is not word for word but means
nothing else (fillers, stutters) is counted as neither. Exits 1 when anything is accepted.

With ``--readings`` what was read is kept in a file, so that limits are tried without listening
again; delete it when the code that reads has changed. With ``--held-out`` it reads only what
``synthesise_consent.py --held-out`` made, and ``--table`` writes the counts, variant by voice,
into a Markdown file.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from marked import replace_marked
from palprep.consent.facts import ConsentFacts, StatementReading
from palprep.consent.opening import read_samples
from palprep.consent.statement import Statement
from palprep.consent.statements import PLACEHOLDER, required_statement
from palprep.consent.whisper import Whisper
from palprep.media.samples import stream_samples
from palprep.media.source import Source
from palprep.rules.consent_grading import grade_statement
from palprep.rules.profile import load_profile
from palprep.speech.mel import RATE_HZ

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
LONGEST_S = 75
ACCEPTED = ("pass", "warn")
ALTERATIONS = (
    (r"\b(is|was|are|were|had|has|have|may)\b", r"\1 not"),
    (r"\b(the|a|an) (\w+)", r"\1 other \2"),
    (r"\b(\w{6,})\b", "nothing"),
    (r"^((?:\S+\s+){4})\S+\s+\S+\s+", r"\1"),
)
"""What is required instead of what is said: negated, added, changed, missing."""


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
        yield Case(path, f"corpus {voice}", key, "Jane Doe", required_statement(), expected)


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


def held_out(folder: Path) -> Iterator[Case]:
    """Readings by voices, and of names, that no limit was chosen by; the group is the variant."""
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
        path = folder / entry["file"]
        yield Case(
            path, group, key, entry["name"], entry["statement"], expected, voice=entry["voice"]
        )


def real(corpora: Path) -> Iterator[Case]:
    """Real speech: other talk, and read sentences with their wording and altered ones."""
    required = required_statement()
    for row in manifest(corpora / "av"):
        if row["speech"].startswith("en"):
            path = corpora / "av" / row["path"]
            yield Case(path, "real, videos", row["path"], "Jane Doe", required, "altered")
    folder = corpora / "speech"
    for row in manifest(folder):
        path = folder / row["path"]
        said = row["transcript"].strip().strip('"')
        if row["language"] == "en" and float(row["seconds"] or 0) >= 5:
            yield Case(path, "real, other talk", row["path"], "Jane Doe", required, "altered")
        if not said or "..." in said or float(row["seconds"]) < 4 or path.suffix == ".mp3":
            continue
        yield Case(path, "real, read sentence", row["path"], "Nobody", said, "exact")
        for number, (pattern, replacement) in enumerate(ALTERATIONS):
            altered = re.sub(pattern, replacement, said, count=1)
            if altered != said:
                label = f"{row['path']} altered {number}"
                yield Case(path, "real, read sentence", label, "Nobody", altered, "altered")


def manifest(folder: Path) -> list[dict[str, str]]:
    """The rows about a corpus."""
    with (folder / "MANIFEST.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def main() -> int:
    """Print what was read wrongly, then a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--variants", type=Path)
    parser.add_argument("--others", type=int, default=0)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--table", type=Path, help="Markdown file for the counts of --held-out")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--readings", type=Path)
    arguments = parser.parse_args()
    if arguments.held_out:
        cases = list(held_out(arguments.held_out))
    else:
        cases = list(synthetic(arguments.corpora / "consent"))
    if arguments.variants:
        cases += variants(arguments.variants, arguments.others)
    if arguments.real:
        cases += real(arguments.corpora)
    model = Whisper.load(arguments.model)
    table: Counter[tuple[str, str, str]] = Counter()
    cells: Counter[tuple[str, str, str]] = Counter()
    wrong: Counter[str] = Counter()
    seconds: list[float] = []
    kept: dict[str, Any] = {}
    if arguments.readings and arguments.readings.exists():
        kept = dict(map(json.loads, arguments.readings.read_text("utf-8").splitlines()))
    for case in cases:
        begun = time.perf_counter()
        known = len(kept)
        facts = verify(case, model, kept)
        if arguments.readings and len(kept) > known:
            key = next(reversed(kept))
            with arguments.readings.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, kept[key]]) + "\n")
        seconds.append(time.perf_counter() - begun)
        table[case.group, case.expected, facts.outcome] += 1
        cells[case.group, case.voice, facts.outcome] += 1
        if case.accepts(facts.outcome) or case.rejects(facts.outcome):
            wrong["accept" if case.accepts(facts.outcome) else "reject"] += 1
            report(case, facts)
    summary(table, seconds)
    if arguments.table:
        document(arguments.table, cells, model)
    print(f"false accepts {wrong['accept']}, false rejects {wrong['reject']} of {len(cases)} files")
    return 1 if wrong["accept"] else 0


def verify(case: Case, model: Whisper, kept: dict[str, Any]) -> ConsentFacts:
    """As verify_consent does, but of read sentences too, which name nobody."""
    key = f"{case.path.name} | {case.name} | {case.statement}"
    if key not in kept:
        blocks = stream_samples(Source.of(case.path), rate_hz=RATE_HZ, channels=1)
        samples = np.concatenate(list(blocks))[: LONGEST_S * RATE_HZ]
        text = case.statement.replace(PLACEHOLDER, case.name)
        reading = read_samples(samples, Statement.of(text, case.name, "en"), model)
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


def document(path: Path, cells: Counter[tuple[str, str, str]], model: Whisper) -> None:
    """Put the counts between two marks of a Markdown file: pass / warn / fail per cell."""
    groups = list(dict.fromkeys(group for group, _, _ in cells))
    names = sorted({voice for _, voice, _ in cells})

    def cell(group: str, among: list[str]) -> str:
        counts = [
            sum(cells[group, voice, outcome] for voice in among)
            for outcome in ("pass", "warn", "fail")
        ]
        return " / ".join(map(str, counts)) if any(counts) else ""

    rows = [
        f"Model {model.name}, sha256 `{model.sha256[:16]}`. Each cell: pass / warn / fail.",
        "",
        f"| Reading | all | {' | '.join(names)} |",
        "|---" * (len(names) + 2) + "|",
        *(
            f"| {group} | {cell(group, names)} | "
            f"{' | '.join(cell(group, [name]) for name in names)} |"
            for group in groups
        ),
    ]
    replace_marked(path, "consent", rows)


if __name__ == "__main__":
    sys.exit(main())
