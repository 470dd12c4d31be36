"""Damaged media of every format, checked and fixed: whether each file ends in one finding.

    python -m research.hostile.fuzz [FOLDER_OR_FILE]... [--seconds 60 | --mutants 20000] [--seed 1]
        [--whole] [--keep FOLDER] [--record FILE] [--share 1/2] [--write]
    python -m research.hostile.fuzz --merge FILE... [--write]

It starts from the project's sample media, from small files that it makes of every accepted format,
and from the files and folders that are named. With ``--whole`` the named files are taken as they
are. Every case runs in a worker process that may die. What must not happen: an error that is not
palprep's own, a process that dies, more than 60 seconds of processor time or 1 GiB of memory, a
source that is changed, a file left half written. A case that fails is minimised and, with
``--keep``, written down; exit status 1. ``--write`` puts the figures into docs/security.md.

A long run goes into a ``--record``: the same command goes on where the last one stopped.
``--share 2/3`` takes every third case from the second on, so that several processes divide the
work; ``--merge`` adds their records up.

The mutations are plain and structured. Coverage cannot lead the way here: the decoders are C
libraries, in wheels that were not built to be traced. Our own parsers coverage_fuzz.py tries. What
hypothesis would shrink is a list of mutations, and of a handful each is tried without.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from research.hostile.fuzz_mutations import Mutation, drawn, minimised, mutated
from research.hostile.fuzz_record import Record, Result, summary, table
from research.hostile.fuzz_seeds import seeds
from research.hostile.fuzz_worker import LEAST_CASES, Ended, Worker
from research.marked import replace_marked

FIXED_SHARE = 0.2
"""Of the mutants, a fifth is fixed, which checks the mutant and what became of it."""


class Case(NamedTuple):
    """A file, what is done to it, and what is done with it."""

    seed: Path
    mutations: tuple[Mutation, ...]
    fix: bool


class Run:
    """The worker, and what has happened so far."""

    def __init__(self, keep: Path | None, folder: Path, record: Record) -> None:
        self.worker = Worker(folder)
        self._keep, self._folder = keep, folder
        self._record = record
        self._noted = {each.failed for each in record.results}

    def take(self, number: int, case: Case) -> None:
        """Run one case; a new kind of failure is minimised and written down."""
        ended = self._ran(case)
        mutant = bool(case.mutations)
        self._record.add(Result(number, case.seed.name, mutant, case.fix, *ended))
        if ended.failed is not None and ended.failed not in self._noted:
            self._noted.add(ended.failed)
            self._note(ended.failed, self._smaller(case, ended.failed), number)

    def _ran(self, case: Case) -> Ended:
        data = case.seed.read_bytes()
        path = self._folder / f"case{case.seed.suffix}"
        path.write_bytes(mutated(data, case.mutations))
        return self.worker.run(path, fix=case.fix)

    def _smaller(self, case: Case, failed: str) -> Case:
        def still_fails(mutations: Sequence[Mutation]) -> bool:
            return self._ran(case._replace(mutations=tuple(mutations))).failed == failed

        return case._replace(mutations=minimised(case.mutations, still_fails))

    def _note(self, failed: str, case: Case, number: int) -> None:
        print(f"{failed}\n    {case}", flush=True)
        if self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
            name = f"{number:06}-{case.seed.stem}{case.seed.suffix}"
            (self._keep / name).write_bytes(mutated(case.seed.read_bytes(), case.mutations))


def main() -> int:
    """Run for as long as asked, and say what was found."""
    arguments = _arguments()
    if arguments.merge:
        records = [Record.read(path) for path in arguments.merge]
    else:
        command = f"{arguments.seed} {arguments.whole} {arguments.share} {arguments.paths}"
        with Record.opened(arguments.record, arguments.seed, command) as record:
            _run(arguments, record)
        records = [record]
    print(summary(records))
    if arguments.write:
        page = Path(__file__).resolve().parents[2] / "docs" / "security.md"
        replace_marked(page, "fuzz", table(records).splitlines())
    return 1 if any(each.failed for record in records for each in record.results) else 0


def _run(arguments: argparse.Namespace, record: Record) -> None:
    started = time.monotonic()
    which, of = arguments.share
    done = {each.number for each in record.results}
    with tempfile.TemporaryDirectory(prefix="palprep-fuzz-") as name:
        folder = Path(name)
        (folder / "seeds").mkdir()
        run = Run(arguments.keep, folder, record)
        try:
            for number, case in enumerate(_cases(arguments, list(_files(arguments.paths)), folder)):
                late = arguments.seconds is not None and (
                    time.monotonic() - started > arguments.seconds
                )
                if late and len(record.results) >= LEAST_CASES:
                    break
                if number % of == which - 1 and number not in done:
                    run.take(number, case)
        finally:
            run.worker.end()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--mutants", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="the named files as they are, first")
    parser.add_argument("--keep", type=Path, help="where cases that fail are written")
    parser.add_argument("--record", type=Path, help="where results are kept, to go on later")
    parser.add_argument("--share", type=_share, default=(1, 1), help="which of how many parts")
    parser.add_argument("--merge", nargs="+", type=Path, help="run nothing: add up records")
    parser.add_argument("--write", action="store_true", help="the figures into docs/security.md")
    arguments = parser.parse_args()
    if arguments.seconds is None and arguments.mutants is None:
        arguments.seconds = 60.0
    return arguments


def _share(text: str) -> tuple[int, int]:
    which, _, of = text.partition("/")
    if not 1 <= int(which) <= int(of):
        raise ValueError(text)
    return int(which), int(of)


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


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
