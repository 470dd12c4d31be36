"""The lines of a manifest as values by column, whatever the file's format."""

from __future__ import annotations

import csv
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palprep.batch.row import COLUMNS
from palprep.batch.settings import unknown_words
from palprep.errors import RowProblem, ToolMissing, UsageError
from palprep.vocabulary import install_advice

TAGS_BETWEEN = "|"
"""Between the tags in one cell of a CSV file."""

_DELIMITERS = (",", ";", "\t")
"""Spreadsheets in many countries put a semicolon between cells, since their comma is decimal."""


@dataclass(frozen=True)
class Line:
    """One line: what it gives, by column. Nothing stands in it for an empty cell or a null, nor for
    a column of a table that there is not: that is told once.
    """

    number: int
    values: Mapping[str, Any]


Lines = Iterator[Line | RowProblem]


def is_manifest(path: Path) -> bool:
    """Whether a file's suffix says that it is a manifest."""
    return path.suffix.lower() in _READERS


def read_lines(path: Path) -> Lines:
    """The lines of a manifest, and what is wrong with those that cannot be read.

    Raises UsageError when the file cannot be read at all, ToolMissing for Parquet without pyarrow.
    """
    try:
        yield from _READERS[path.suffix.lower()](path)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8 (byte {error.start:,}): save it again as CSV UTF-8"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def _csv(path: Path) -> Lines:
    # Spreadsheets put a byte order mark first.
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        file.seek(0)
        delimiter = max(_DELIMITERS, key=first.count)
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        header: list[str] | None = None
        while True:
            number = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield RowProblem(number, None, f"cannot be read as CSV: {error}")
                return
            if cells is None:
                return
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                yield from _header_problems(number, header)
            elif len(cells) > len(header):
                yield RowProblem(
                    number, None, f"has {len(cells)} cells, and the header has {len(header)}"
                )
            else:
                yield Line(number, _known(_cells(header, cells)))


def _header_problems(number: int, header: list[str]) -> Iterator[RowProblem]:
    for name in dict.fromkeys(header):
        if not name:
            yield RowProblem(number, None, "a column has no name: name it, or remove it")
        elif name not in COLUMNS:
            yield RowProblem(number, None, unknown_words(name, COLUMNS, what="column"))
        elif header.count(name) > 1:
            yield RowProblem(number, name, "stands in the header more than once")


def _cells(header: list[str], cells: list[str]) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        name: cell.strip() for name, cell in zip(header, cells, strict=False) if cell.strip()
    }
    if "tags" in found:
        found["tags"] = [tag.strip() for tag in found["tags"].split(TAGS_BETWEEN) if tag.strip()]
    return found


def _jsonl(path: Path) -> Lines:
    with path.open(encoding="utf-8-sig") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                found = json.loads(text, object_pairs_hook=_once)
            except json.JSONDecodeError as error:
                message = f"is not JSON: {error.msg} (character {error.colno})"
                yield RowProblem(number, None, message)
            except (RecursionError, ValueError) as error:
                yield RowProblem(number, None, f"cannot be read: {error}")
            else:
                if isinstance(found, dict):
                    yield Line(number, _given(found))
                else:
                    yield RowProblem(number, None, "must be an object: {…}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == each for each, _ in pairs) > 1)
        raise ValueError(f"{twice} is given more than once")
    return found


def _parquet(path: Path) -> Lines:
    try:
        pyarrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ToolMissing(
            f"Parquet needs an extra: {install_advice('parquet')}; or save the manifest as CSV"
        ) from None
    number = 0
    try:
        with parquet.ParquetFile(path) as table:
            for name in sorted({*table.schema_arrow.names} - {*COLUMNS}):
                yield RowProblem(1, None, unknown_words(name, COLUMNS, what="column"))
            for batch in table.iter_batches():
                for values in batch.to_pylist():
                    number += 1
                    yield Line(number, _known(_given(values)))
    except pyarrow.ArrowException as error:
        raise UsageError(f"{path} cannot be read as Parquet: {error}") from None


def _known(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if name in COLUMNS}


def _given(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


_READERS: Mapping[str, Callable[[Path], Lines]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".parquet": _parquet,
}
