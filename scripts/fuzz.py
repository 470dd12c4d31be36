"""Damaged media of every format, checked and fixed: whether each file ends in one finding.

    python scripts/fuzz.py [FOLDER_OR_FILE]... [--seconds 60 | --mutants 20000] [--seed 1]
        [--whole] [--keep FOLDER] [--write]

It starts from the project's sample media, from small files that it makes of every accepted format,
and from the files and folders that are named. With ``--whole`` the named files are taken as they
are. Every case runs in a worker process that may die. What must not happen: an error that is not
palprep's own, a process that dies, more than 60 seconds of processor time or 1 GiB of memory, a
source that is changed, a file left half written. A case that fails is minimised and, with
``--keep``, written down; exit status 1. ``--write`` puts the figures into docs/security.md.

The mutations are plain and structured. Coverage cannot lead the way, as atheris would: the parsers
are C libraries, in wheels that were not built to be traced. What hypothesis would shrink is a list
of mutations, and of a handful each is tried without.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from fuzz_mutations import Mutation, drawn, minimised, mutated
from fuzz_seeds import seeds
from fuzz_worker import LEAST_CASES, MOST_CPU_S, MOST_MIB, Ended, Worker
from make_docs import DOCS, filled

FIXED_SHARE = 0.2
"""Of the mutants, a fifth is fixed, which checks the mutant and what became of it."""
_SLOWEST = 3


class Case(NamedTuple):
    """A file, what is done to it, and what is done with it."""

    seed: Path
    mutations: tuple[Mutation, ...]
    fix: bool


class Run:
    """What has happened so far."""

    def __init__(self, keep: Path | None, folder: Path) -> None:
        self.worker = Worker(folder)
        self._keep, self._folder = keep, folder
        self.ends: Counter[str] = Counter()
        self.files = {"whole": 0, "mutant": 0}
        self.fixed = 0
        self.failures: dict[str, Case] = {}
        self.worst: dict[str, tuple[float, str]] = {"cpu_s": (0.0, ""), "mib": (0.0, "")}

    def take(self, case: Case) -> None:
        """Run one case; a new kind of failure is minimised and written down."""
        ended = self._ran(case)
        self.files["mutant" if case.mutations else "whole"] += 1
        self.fixed += case.fix
        self.ends[ended.end if ended.failed is None else "FAILED"] += 1
        for figure, value in (("cpu_s", ended.cpu_s), ("mib", ended.mib)):
            self.worst[figure] = max(self.worst[figure], (value, case.seed.name))
        if ended.failed is not None and ended.failed not in self.failures:
            self.failures[ended.failed] = self._smaller(case, ended.failed)
            self._note(ended.failed, self.failures[ended.failed])

    def _ran(self, case: Case) -> Ended:
        data = case.seed.read_bytes()
        path = self._folder / f"case{case.seed.suffix}"
        path.write_bytes(mutated(data, case.mutations))
        return self.worker.run(path, fix=case.fix)

    def _smaller(self, case: Case, failed: str) -> Case:
        def still_fails(mutations: Sequence[Mutation]) -> bool:
            return self._ran(case._replace(mutations=tuple(mutations))).failed == failed

        return case._replace(mutations=minimised(case.mutations, still_fails))

    def _note(self, failed: str, case: Case) -> None:
        print(f"{failed}\n    {case}", flush=True)
        if self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
            name = f"{len(self.failures):03}-{case.seed.stem}{case.seed.suffix}"
            (self._keep / name).write_bytes(mutated(case.seed.read_bytes(), case.mutations))


def main() -> int:
    """Run for as long as asked, and say what was found."""
    arguments = _arguments()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="palprep-fuzz-") as name:
        folder = Path(name)
        (folder / "seeds").mkdir()
        run = Run(arguments.keep, folder)
        named = list(_files(arguments.paths))
        try:
            for case in _cases(arguments, named, folder):
                if arguments.seconds is not None and (
                    time.monotonic() - started > arguments.seconds
                    and sum(run.files.values()) >= LEAST_CASES
                ):
                    break
                run.take(case)
        finally:
            run.worker.end()
    print(_summary(run))
    if arguments.write:
        page = DOCS / "security.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, "fuzz", _table(run, arguments.seed)), encoding="utf-8")
    return 1 if run.failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--mutants", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="the named files as they are, first")
    parser.add_argument("--keep", type=Path, help="where cases that fail are written")
    parser.add_argument("--write", action="store_true", help="the figures into docs/security.md")
    arguments = parser.parse_args()
    if arguments.seconds is None and arguments.mutants is None:
        arguments.seconds = 60.0
    return arguments


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in found if each.is_file() and each.name != "MANIFEST.tsv")


def _cases(arguments: argparse.Namespace, named: list[Path], folder: Path) -> Iterator[Case]:
    if arguments.whole:
        for path in named:
            yield from (Case(path, (), fix) for fix in (False, True))
    starts = [*seeds(folder / "seeds"), *named]
    chance = random.Random(arguments.seed)  # noqa: S311 - repeatable, and no secret
    for number in count():
        if arguments.mutants is not None and number >= arguments.mutants:
            return
        yield Case(chance.choice(starts), drawn(chance), chance.random() < FIXED_SHARE)


def _summary(run: Run) -> str:
    lines = [f"{run.files['whole']} files as they are, {run.files['mutant']} mutants"]
    lines += [f"    {end:<20} {number:6}" for end, number in run.ends.most_common()]
    (cpu_s, slow), (mib, large) = run.worst["cpu_s"], run.worst["mib"]
    lines.append(f"longest {cpu_s:.1f} s of processor ({slow}), largest {mib:.0f} MiB ({large})")
    lines.append(f"{len(run.failures)} kinds of failure")
    return "\n".join(lines)


def _table(run: Run, seed: int) -> str:
    ends = ", ".join(f"{number:,} {end}" for end, number in run.ends.most_common())
    rows = (
        ("Files as they are, checked and fixed", f"{run.files['whole'] // 2:,}"),
        ("Mutants", f"{run.files['mutant']:,}, seed {seed}; {run.fixed:,} cases fixed, too"),
        ("How they ended", ends),
        ("Kinds of failure", str(len(run.failures))),
        ("Longest", f"{run.worst['cpu_s'][0]:.0f} s of processor; at most {MOST_CPU_S:.0f}"),
        ("Largest", f"{run.worst['mib'][0]:,.0f} MiB; at most {MOST_MIB:,.0f}"),
        ("Date", dt.datetime.now(tz=dt.UTC).date().isoformat()),
    )
    body = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"| What | Result |\n|---|---|\n{body}\n"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
