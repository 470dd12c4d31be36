"""What the fuzzer has found, case by case: kept while it runs, read again, and added up."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, Self

from research.hostile.fuzz_worker import MOST_CPU_S, MOST_MIB


class Result(NamedTuple):
    """How one case ended; ``failed`` is None where nothing went wrong."""

    number: int
    """Its place among the cases of the command, from 0 on."""
    name: str
    mutant: bool
    fix: bool
    end: str
    failed: str | None
    cpu_s: float
    mib: float


class Record:
    """The results of one command, in a file of JSON lines or in memory alone."""

    def __init__(self, seed: int, results: Sequence[Result], file: IO[str] | None = None) -> None:
        self.seed = seed
        self.results = list(results)
        self._file = file

    @classmethod
    @contextmanager
    def opened(cls, path: Path | None, seed: int, command: str) -> Iterator[Self]:
        """A record to add to; one that is there already goes on.

        Raises SystemExit when another ``command`` has begun it.
        """
        if path is None:
            yield cls(seed, ())
            return
        if not path.exists():
            path.write_text(json.dumps({"seed": seed, "command": command}) + "\n")
        head, results = _read(path)
        if head["command"] != command:
            raise SystemExit(f"{path} belongs to another command: name another file")
        with path.open("a", encoding="utf-8") as file:
            yield cls(seed, results, file)

    @classmethod
    def read(cls, path: Path) -> Self:
        """A record as it stands."""
        head, results = _read(path)
        return cls(int(head["seed"]), results)

    def add(self, result: Result) -> None:
        """Keep one result."""
        self.results.append(result)
        if self._file is not None:
            self._file.write(json.dumps(result) + "\n")
            self._file.flush()


def _read(path: Path) -> tuple[dict[str, str], list[Result]]:
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    return json.loads(head), [Result(*json.loads(line)) for line in lines]


def summary(records: Sequence[Record]) -> str:
    """The figures for a terminal."""
    results = _all(records)
    lines = [f"{_whole(results)} files as they are, {_mutants(results)} mutants"]
    lines += [f"    {end:<20} {number:6}" for end, number in _ends(results).most_common()]
    if results:
        slow, large = _longest(results), _largest(results)
        lines.append(
            f"longest {slow.cpu_s:.1f} s of processor ({slow.name}), "
            f"largest {large.mib:.0f} MiB ({large.name})"
        )
    lines.append(f"{_failures(results)} kinds of failure")
    return "\n".join(lines)


def table(records: Sequence[Record]) -> str:
    """The figures for docs/security.md."""
    results = _all(records)
    ends = ", ".join(f"{number:,} {end}" for end, number in _ends(results).most_common())
    seeds = ", ".join(str(seed) for seed in sorted({record.seed for record in records}))
    fixed = sum(each.fix for each in results)
    rows = (
        ("Files as they are, checked and fixed", f"{_whole(results):,}"),
        ("Mutants", f"{_mutants(results):,}, seed {seeds}; {fixed:,} cases fixed, too"),
        ("How they ended", ends),
        ("Kinds of failure", str(_failures(results))),
        ("Longest", f"{_longest(results).cpu_s:.0f} s of processor; at most {MOST_CPU_S:.0f}"),
        ("Largest", f"{_largest(results).mib:,.0f} MiB; at most {MOST_MIB:,.0f}"),
        ("Date", dt.datetime.now(tz=dt.UTC).date().isoformat()),
    )
    body = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"| What | Result |\n|---|---|\n{body}\n"


def _all(records: Sequence[Record]) -> list[Result]:
    return [each for record in records for each in record.results]


def _whole(results: Sequence[Result]) -> int:
    """Files, each of which was checked and then fixed."""
    return sum(not each.mutant and each.fix for each in results)


def _mutants(results: Sequence[Result]) -> int:
    return sum(each.mutant for each in results)


def _ends(results: Sequence[Result]) -> Counter[str]:
    return Counter("FAILED" if each.failed else each.end for each in results)


def _failures(results: Sequence[Result]) -> int:
    return len({each.failed for each in results if each.failed})


def _longest(results: Sequence[Result]) -> Result:
    return max(results, key=lambda each: each.cpu_s)


def _largest(results: Sequence[Result]) -> Result:
    return max(results, key=lambda each: each.mib)
