"""Whether every file, however broken, ends in a report: no crash, no hang.

    python scripts/evaluate_robustness.py [FOLDER_OR_FILE]... [--limit-s SECONDS] [--fix]

Without FOLDER the malformed files and odd images of the development corpora beside the checkout
are taken. Every file is checked, and with ``--fix`` fixed into a folder that is thrown away,
in a worker process that may die: a report is good, and so is an error of palprep's own.
Exit status 1 when anything else happens.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from palprep.errors import MediaTooHeavy, PalprepError, ToolFailed
from palprep.preflight.check_and_prepare import Preflight
from palprep.workers.engine import Limits

CORPORA = Path(__file__).resolve().parents[1].parent / "shared" / "corpora"
DEFAULT = (CORPORA / "malformed", CORPORA / "images_odd")
SLOWEST = 5

BAD = {ToolFailed.code: "CRASHES OR RAISES", MediaTooHeavy.code: "TAKES TOO MUCH"}
"""How an isolated file fails that has been more than bad media."""


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
    limits = Limits(time_s=arguments.limit_s)
    with (
        ThreadPoolExecutor(arguments.jobs) as threads,
        Preflight(isolated=True, jobs=arguments.jobs, limits=limits) as preflight,
    ):
        work = partial(_fixed if arguments.fix else _checked, preflight)
        for path, (end, seconds) in zip(files, threads.map(work, files), strict=True):
            took.append((seconds, path))
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


def _checked(preflight: Preflight, path: Path) -> tuple[str, float]:
    start = time.perf_counter()
    report = preflight.check(path)
    report.to_json()
    error = report.error
    end = _end(error.code, error.message) if error else report.verdict.value
    return end, time.perf_counter() - start


def _fixed(preflight: Preflight, path: Path) -> tuple[str, float]:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        try:
            end = preflight.prepare(path, into=folder).report.verdict.value
        except PalprepError as error:
            end = _end(error.code, error.message)
        left = [each.name for each in Path(folder).rglob(".palprep-*")]
        if left:
            end = f"LEAVES {left}"
    return end, time.perf_counter() - start


def _end(code: str, message: str) -> str:
    return f"{BAD[code]}: {message}" if code in BAD else code


if __name__ == "__main__":
    sys.exit(main())
