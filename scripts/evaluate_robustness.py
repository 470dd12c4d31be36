"""Whether every file, however broken, ends in a report: no crash, no hang.

    python scripts/evaluate_robustness.py [FOLDER_OR_FILE]... [--limit-s SECONDS] [--fix]

Without FOLDER the malformed files and odd images of the development corpora beside the checkout
are taken. Every file is checked, and with ``--fix`` fixed into a folder that is thrown away,
in a process of its own kind that may die: a report is good, and so is an error of palprep's own.
Exit status 1 when anything else happens.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import TimeoutError as TookTooLong
from pathlib import Path

from pebble import ProcessExpired, ProcessPool

from palprep.errors import PalprepError
from palprep.preflight.check_and_prepare import Preflight

CORPORA = Path(__file__).resolve().parents[1].parent / "shared" / "corpora"
DEFAULT = (CORPORA / "malformed", CORPORA / "images_odd")
SLOWEST = 5

_workers: list[Preflight] = []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=DEFAULT)
    parser.add_argument("--limit-s", type=float, default=60.0, help="for one file")
    parser.add_argument("--fix", action="store_true", help="fix the files, too")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    files = list(_files(arguments.paths))
    ends: Counter[str] = Counter()
    bad: list[str] = []
    took: list[tuple[float, Path]] = []
    with ProcessPool(max_workers=arguments.jobs, max_tasks=200) as pool:
        work = _fixed if arguments.fix else _checked
        futures = [pool.schedule(work, (path,), timeout=arguments.limit_s) for path in files]
        for path, future in zip(files, futures, strict=True):
            try:
                end, seconds = future.result()
                took.append((seconds, path))
            except TookTooLong:
                end = f"HANGS: more than {arguments.limit_s:g} s"
            except ProcessExpired as died:
                end = f"CRASHES: exit status {died.exitcode}"
            except Exception as error:  # noqa: BLE001 - what else it raises is looked for
                end = f"RAISES {type(error).__name__}: {error}"
            if end[0].isupper():
                bad.append(f"{path}\n    {end}")
            ends[end.partition(":")[0]] += 1
    print("\n".join(bad))
    print(f"{len(files)} files")
    for end, count in ends.most_common():
        print(f"{end:<24} {count:4}")
    for seconds, path in sorted(took, reverse=True)[:SLOWEST]:
        print(f"{seconds:6.1f} s  {path}")
    return 1 if bad else 0


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in found if each.is_file())


def _preflight() -> Preflight:
    """One for the process: loading models for every file would take most of the time."""
    if not _workers:
        _workers.append(Preflight())
    return _workers[0]


def _checked(path: Path) -> tuple[str, float]:
    start = time.perf_counter()
    report = _preflight().check(path)
    report.to_json()
    end = report.error.code if report.error else report.verdict.value
    return end, time.perf_counter() - start


def _fixed(path: Path) -> tuple[str, float]:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        try:
            end = _preflight().prepare(path, into=folder).report.verdict.value
        except PalprepError as error:
            end = error.code
        left = [each.name for each in Path(folder).rglob(".palprep-*")]
        if left:
            end = f"LEAVES {left}"
    return end, time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
