"""What files that ask for much cost: time and memory of checking and of fixing each.

    python -m research.hostile.bomb_costs [NAME]... [--write] [--keep FOLDER]

Each is made by code (research/hostile/bomb_files.py), and checked and fixed in a process
of its own that is watched from outside, with the limits of the fuzzer. ``--write`` puts the table
into docs/security.md. Exit status 1 when one took too much, or did not end in a finding.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from research.hostile.bomb_files import BOMBS
from research.hostile.fuzz_worker import Ended, Worker
from research.marked import replace_marked


class Cost(NamedTuple):
    """One file, checked and fixed."""

    name: str
    size_bytes: int
    ends: tuple[Ended, ...]

    @property
    def failed(self) -> bool:
        """Whether either went wrong."""
        return any(each.failed for each in self.ends)

    @property
    def row(self) -> str:
        """A line of the table."""
        ends = " / ".join(each.failed or each.end for each in self.ends)
        seconds = " / ".join(f"{each.cpu_s:.1f}" for each in self.ends)
        memory = " / ".join(f"{each.mib:,.0f}" for each in self.ends)
        return f"| `{self.name}` | {_size(self.size_bytes)} | {ends} | {seconds} | {memory} |"


def main() -> int:
    """Make, check and fix them all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BOMBS))
    parser.add_argument("--write", action="store_true", help="the table into docs/security.md")
    parser.add_argument("--keep", type=Path, help="where the files stay")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="palprep-bombs-") as name:
        work = Path(name)
        folder = arguments.keep or work
        folder.mkdir(parents=True, exist_ok=True)
        costs = [_cost(folder / each, work) for each in arguments.names or BOMBS]
    if arguments.write:
        page = Path(__file__).resolve().parents[2] / "docs" / "security.md"
        replace_marked(page, "bombs", _table(costs).splitlines())
    return 1 if any(each.failed for each in costs) else 0


def _cost(path: Path, work: Path) -> Cost:
    if not path.exists():
        BOMBS[path.name](path)
    worker = Worker(work)
    try:
        ends = tuple(worker.run(path, fix=fix) for fix in (False, True))
    finally:
        worker.end()
    cost = Cost(path.name, path.stat().st_size, ends)
    print(cost.row, flush=True)
    return cost


def _table(costs: Sequence[Cost]) -> str:
    head = (
        "| File | Size | Check / fix end in | Processor, s | Memory, MiB |\n|---|--:|---|--:|--:|\n"
    )
    return head + "".join(f"{each.row}\n" for each in costs)


def _size(size_bytes: int) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.3g} {name}"
    return f"{size_bytes} B"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
