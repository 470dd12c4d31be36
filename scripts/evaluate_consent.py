"""How often consent is read wrongly, per voice and condition.

    uv run python scripts/evaluate_consent.py [--variants DIR] [--real] [--others N]

Reads ../shared/corpora/consent; with ``--variants`` what synthesise_consent.py made, its
names also against N other people's names; with ``--real`` real speech: unrelated talk,
which must never pass, and read sentences of known wording against that wording and against
altered ones. An altered statement that passes or warns is a false accept, an exact one that
fails or stays unknown a false reject. Exits 1 when anything altered is accepted.
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
from typing import NamedTuple

from palprep.speech.facts import ConsentFacts
from palprep.speech.statements import required_statement
from palprep.speech.verify import verify_consent
from palprep.speech.whisper import Whisper

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
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
    exact: bool


def synthetic(folder: Path) -> Iterator[Case]:
    """The development corpus: KEY.VOICE.flac."""
    for path in sorted(folder.glob("*.flac")):
        key, voice = path.name.split(".")[:2]
        yield Case(path, f"corpus {voice}", key, "Jane Doe", required_statement(), key == "exact")


def variants(folder: Path, others: int) -> Iterator[Case]:
    """What synthesise_consent.py made, and its names against those of others."""
    index = json.loads((folder / "index.json").read_text("utf-8"))
    names = sorted({entry["name"] for entry in index})
    for entry in index:
        exact = entry.get("exact", entry.get("good"))
        group = f"{entry['voice']} {entry.get('condition', entry.get('cond'))}"
        path = folder / entry["file"]
        yield Case(path, group, entry["key"], entry["name"], required_statement(), exact)
        if exact and group.endswith("clean"):
            at = names.index(entry["name"])
            for step in range(1, others + 1):
                name = names[(at + 3 * step) % len(names)]
                if name != entry["name"]:
                    yield Case(path, group, f"as {name}", name, required_statement(), exact=False)


def real(folder: Path) -> Iterator[Case]:
    """Real speech: other talk, and read sentences with their wording and altered ones."""
    with (folder / "MANIFEST.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        path = folder / row["path"]
        said = row["transcript"].strip().strip('"')
        if row["language"] == "en" and float(row["seconds"] or 0) >= 5:
            yield Case(
                path, "real, other talk", row["path"], "Jane Doe", required_statement(), exact=False
            )
        if not said or "..." in said or float(row["seconds"]) < 4 or path.suffix == ".mp3":
            continue
        yield Case(path, "real, read sentence", row["path"], "Nobody", said, exact=True)
        for number, (pattern, replacement) in enumerate(ALTERATIONS):
            altered = re.sub(pattern, replacement, said, count=1)
            if altered != said:
                label = f"{row['path']} altered {number}"
                yield Case(path, "real, read sentence", label, "Nobody", altered, exact=False)


def main() -> int:
    """Print what was read wrongly, then a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--variants", type=Path)
    parser.add_argument("--others", type=int, default=0)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--model", type=Path)
    arguments = parser.parse_args()
    cases = list(synthetic(arguments.corpora / "consent"))
    if arguments.variants:
        cases += variants(arguments.variants, arguments.others)
    if arguments.real:
        cases += real(arguments.corpora / "speech")
    model = Whisper.load(arguments.model)
    table: Counter[tuple[str, bool, str]] = Counter()
    seconds: list[float] = []
    for case in cases:
        begun = time.perf_counter()
        facts = verify_consent(
            case.path, full_name=case.name, statement=case.statement, model=model
        )
        seconds.append(time.perf_counter() - begun)
        table[case.group, case.exact, facts.outcome] += 1
        if (facts.outcome in ACCEPTED) is not case.exact:
            report(case, facts)
    return summary(table, seconds)


def report(case: Case, facts: ConsentFacts) -> None:
    """One wrong reading."""
    kind = "FALSE REJECT" if case.exact else "FALSE ACCEPT"
    print(f"{kind} {facts.outcome} {case.group}: {case.label} ({case.name})")
    for reason in facts.reasons:
        print(f"    {reason}")
    print(f"    heard: {facts.transcript}")


def summary(table: Counter[tuple[str, bool, str]], seconds: list[float]) -> int:
    """The table, and the exit code."""
    print(
        f"{'':32}{'exact: pass':>12}{'warn':>6}{'fail':>6}"
        f"{'altered: pass':>15}{'warn':>6}{'fail':>6}"
    )
    for group in sorted({key[0] for key in table}):
        exact = [table[group, True, outcome] for outcome in ("pass", "warn", "fail")]
        altered = [table[group, False, outcome] for outcome in ("pass", "warn", "fail")]
        widths = (12, 6, 6, 15, 6, 6)
        cells = "".join(
            f"{count:>{width}}" for count, width in zip(exact + altered, widths, strict=True)
        )
        print(f"{group:32}{cells}")
    accepted = sum(
        count for (_, exact, outcome), count in table.items() if not exact and outcome in ACCEPTED
    )
    rejected = sum(
        count for (_, exact, outcome), count in table.items() if exact and outcome not in ACCEPTED
    )
    exact_count = sum(count for (_, exact, _), count in table.items() if exact)
    altered_count = sum(count for (_, exact, _), count in table.items() if not exact)
    ordered = sorted(seconds)
    print(f"false accepts {accepted} of {altered_count}, false rejects {rejected} of {exact_count}")
    print(f"median {ordered[len(ordered) // 2]:.2f} s a file, slowest {ordered[-1]:.2f} s")
    return 1 if accepted else 0


if __name__ == "__main__":
    sys.exit(main())
