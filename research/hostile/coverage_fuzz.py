"""Our own parsers under a fuzzer that coverage leads: libFuzzer, by atheris.

    python -m research.hostile.coverage_fuzz [PARSER]... [--seconds 1800] [--corpus FOLDER]
        [--write]

Each parser is given any bytes. What must not happen: an error that is not DamagedMedia, or more
processor time than 0.2 s and 2 microseconds a byte. A file that does either is kept in FOLDER and
named; exit status 1. It starts from the small files of fuzz_seeds.py, and goes on from what FOLDER
holds. Afterwards what it has kept is parsed once more, to count the branches that it reaches.
``--write`` puts the figures into docs/security.md.

Needs atheris and coverage, in an environment of its own beside palprep: they are no dependency.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from palprep.errors import DamagedMedia
from research.marked import replace_marked

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
SECONDS, SECONDS_A_BYTE = 0.2, 2e-6
"""Of processor time that a parser may take; a parser that is traced takes several times its own."""
LARGEST = 1 << 16
"""Bytes of a case. Longer ones find the same and take longer; bombs are tried by bomb_costs.py."""


class Parser(NamedTuple):
    """What is called, and the modules of palprep.media.sources whose branches count."""

    call: Callable[[bytes], object]
    modules: tuple[str, ...]
    seeds: str
    """Of the files that are made: a pattern of their names. EXIF has seeds of its own."""


def reading(module: str, function: str, *arguments: str) -> Callable[[bytes], object]:
    """A parser that takes a reader of headers."""

    def call(data: bytes) -> object:
        bounds = import_module("palprep.media.sources.bounds")
        reader = bounds.HeaderReader(io.BytesIO(data), len(data), "case")
        parser = import_module(f"palprep.media.sources.{module}")
        return getattr(parser, function)(reader, *arguments)

    return call


def exif(data: bytes) -> object:
    """As EXIF, and as XMP."""
    headers = import_module("palprep.media.sources.headers")
    return headers.read_exif(data), headers.xmp_orientation(data)


PARSERS: Mapping[str, Parser] = {
    "boxes": Parser(reading("isobmff", "read_movie"), ("isobmff",), "*.m[4op][4av]"),
    "ebml": Parser(reading("ebml", "read_matroska"), ("ebml",), "*.webm"),
    "exif": Parser(exif, ("headers",), ""),
    "jpeg": Parser(reading("headers", "kept_samples"), ("headers",), "*.jpg"),
    "png": Parser(reading("headers", "walk_png"), ("headers",), "*.png"),
    "id3": Parser(reading("bounds", "require_few_tags", "mp3"), ("bounds",), "*.mp3"),
    "flac": Parser(reading("bounds", "require_few_tags", "flac"), ("bounds",), "*.flac"),
    "riff": Parser(reading("bounds", "require_few_tags", "wav"), ("bounds",), "*.wav"),
    "ogg": Parser(reading("bounds", "require_few_tags", "ogg"), ("bounds",), "*.og*"),
    "any": Parser(reading("sniff", "recognise"), ("sniff", "formats"), "*"),
}


class Result(NamedTuple):
    """What a run of one parser came to."""

    name: str
    seconds: int
    cases: int
    kept: int
    reached: int
    branches: int
    failures: tuple[str, ...]


def checked(parser: Parser, data: bytes) -> None:
    """Parse once. Raises what is no DamagedMedia, and TimeoutError beyond the budget."""
    started = time.process_time()
    with contextlib.suppress(DamagedMedia):
        parser.call(data)
    took = time.process_time() - started
    if took > SECONDS + SECONDS_A_BYTE * len(data):
        raise TimeoutError(f"{took:.2f} s of processor time for {len(data)} bytes")


def fuzz(name: str, arguments: Sequence[str]) -> None:
    """In a process of its own: libFuzzer until it ends."""
    import atheris  # noqa: PLC0415 - an environment of its own

    with atheris.instrument_imports(include=["palprep.media.sources"]):
        for module in PARSERS[name].modules:
            import_module(f"palprep.media.sources.{module}")
    atheris.Setup([sys.argv[0], *arguments], lambda data: checked(PARSERS[name], data))
    atheris.Fuzz()


def branches(name: str, corpus: Path) -> tuple[int, int]:
    """How many branches of the parser's modules the kept files reach, and how many there are."""
    import coverage  # noqa: PLC0415 - likewise

    parser = PARSERS[name]
    media = Path(import_module("palprep.media.sources").__file__ or "").parent
    files = [str(media / f"{module}.py") for module in parser.modules]
    measured = coverage.Coverage(branch=True, include=files, data_file=None)
    with measured.collect():
        for path in sorted(corpus.iterdir()):
            with contextlib.suppress(DamagedMedia):
                parser.call(path.read_bytes())
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        measured.json_report(outfile=report.name)
        totals = import_module("json").loads(Path(report.name).read_text())["totals"]
    return totals["covered_branches"], totals["num_branches"]


def run(name: str, seconds: int, corpus: Path) -> Result:
    """Fuzz one parser, and count."""
    corpus.mkdir(parents=True, exist_ok=True)
    failed = corpus.parent / f"{name}-failed"
    failed.mkdir(exist_ok=True)
    command = [
        *(sys.executable, "-m", __spec__.name if __spec__ else __name__, name, "--inside"),
        *(f"-max_total_time={seconds}", f"-max_len={LARGEST}", "-print_final_stats=1"),
        *(f"-artifact_prefix={failed}/", "-timeout=60", "-rss_limit_mb=2048", str(corpus)),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    cases = re.search(r"number_of_executed_units:\s*(\d+)", ended.stderr)
    if ended.returncode:
        print(ended.stderr[-3000:])
    reached, all_of_them = branches(name, corpus)
    return Result(
        name=name,
        seconds=seconds,
        cases=int(cases[1]) if cases else 0,
        kept=sum(1 for _ in corpus.iterdir()),
        reached=reached,
        branches=all_of_them,
        failures=tuple(sorted(path.name for path in failed.iterdir())),
    )


def table(results: Sequence[Result]) -> Iterator[str]:
    """Markdown."""
    yield "| Parser | Minutes | Cases | Kept | Branches of its module | Failures |"
    yield "|---|--:|--:|--:|--:|--:|"
    for each in results:
        yield (
            f"| {each.name} | {each.seconds / 60:.0f} | {each.cases:,} | {each.kept} "
            f"| {each.reached} of {each.branches} | {len(each.failures)} |"
        )
    yield ""
    today = dt.datetime.now(dt.UTC).date()
    yield f"Run on {today}. `exif`, `jpeg` and `png` share a module, and so do `id3` to `ogg`."


def main() -> int:
    """Fuzz those that are named, or all."""
    if "--inside" in sys.argv:
        at = sys.argv.index("--inside")
        fuzz(sys.argv[at - 1], sys.argv[at + 1 :])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parsers", nargs="*", choices=[*PARSERS, []])
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--corpus", type=Path, default=Path(".cache/fuzz"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    results = []
    for name in options.parsers or PARSERS:
        corpus = options.corpus.resolve() / name
        if not corpus.exists():
            corpus.mkdir(parents=True)
            plant(name, corpus)
        results.append(run(name, options.seconds, corpus))
        print(*list(table(results[-1:]))[2:3], *results[-1].failures, sep="\n")
    if options.write:
        replace_marked(PAGE, "coverage fuzz", table(results))
    return int(any(each.failures for each in results))


def plant(name: str, corpus: Path) -> None:
    """The first cases: the beginnings of small files of the formats, or blocks of EXIF."""
    from PIL import Image  # noqa: PLC0415 - not where it is fuzzed

    from research.hostile.fuzz_seeds import seeds  # noqa: PLC0415 - likewise

    if name == "exif":
        for orientation in range(1, 9):
            block = Image.Exif()
            block[0x0112] = orientation
            block.get_ifd(0x8825)[1] = "N"
            data = block.tobytes()
            (corpus / f"{orientation}.exif").write_bytes(data)
            (corpus / f"{orientation}.tiff").write_bytes(data.removeprefix(b"Exif\0\0"))
        (corpus / "a.xmp").write_bytes(b'<x tiff:Orientation="6"/>')
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in seeds(Path(folder)):
            if path.match(PARSERS[name].seeds):
                (corpus / path.name).write_bytes(path.read_bytes()[:LARGEST])


if __name__ == "__main__":
    sys.exit(main())
