"""The rows of a manifest: their columns, and how the lines of a file become rows."""

from __future__ import annotations

import csv
import importlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Self, TextIO

import pydantic

from palprep.api import Given
from palprep.batch.people import settings
from palprep.batch.people.files import is_url, is_web
from palprep.errors import RowProblem, ToolMissing, UsageError
from palprep.storage import is_bucket
from palprep.values import Role
from palprep.vocabulary import install_advice

_MOST_BYTES = 200
"""The longest own name of a person. File systems take 255 bytes, and pages add a suffix."""


def _text(value: Any) -> Any:
    """A number as text: tables store employee numbers as numbers."""
    return str(value) if type(value) is int else value


_NO_FOLDER_NAMES: tuple[tuple[Callable[[str], object], str], ...] = (
    (settings.holds_controls, "must not hold line breaks or control characters"),
    (lambda slug: {"/", "\\"} & set(slug), "must not hold a slash: a folder will have this name"),
    (lambda slug: slug.startswith((".", "__")), "must not start with a dot or two underscores"),
    (
        lambda slug: slug != slug.strip() or slug.endswith("."),
        "must not start or end with a space, nor end with a dot",
    ),
    (lambda slug: len(slug.encode()) > _MOST_BYTES, f"must have at most {_MOST_BYTES} bytes"),
)


def why_no_folder_name(slug: str) -> str | None:
    """Why a person's own name cannot be a folder's, here or elsewhere; None when it can."""
    return next((why for is_so, why in _NO_FOLDER_NAMES if is_so(slug)), None)


def _folder_name(slug: str) -> str:
    why = why_no_folder_name(slug)
    if why is not None:
        raise settings.refused(why)
    return slug


def _require_place(text: str) -> None:
    """Refuse what is neither a path nor the URL of a file that can be fetched."""
    if "\0" in text or "\n" in text or "\r" in text:
        raise settings.refused("must not hold line breaks or control characters")
    if is_bucket(text):
        if "/" not in text.partition("://")[2].strip("/") or text.endswith("/"):
            raise settings.refused("names a bucket and no file in it")
    elif is_url(text) and not is_web(text):
        if text.startswith("https://"):
            raise settings.refused("names a host or a port that no one can ask")
        raise settings.refused(
            "must be a path, or a URL that starts with https://, s3://, gs:// or az:// (http:// on "
            "this machine alone)"
        )


def _object(value: Any) -> Any:
    """The JSON object in one cell of a table."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise settings.refused("must be a JSON object, such as {}") from None


Slug = Annotated[
    str,
    pydantic.BeforeValidator(_text),
    pydantic.Field(min_length=1),
    pydantic.AfterValidator(_folder_name),
]


class Row(settings.Settings, settings.NamedFiles):
    """One person, as a line of a manifest says it."""

    person: Slug
    """The person's own name in the journal, in the results and in the output folder: unlike every
    other person's, and the same in every run."""
    properties: Annotated[settings.Properties | None, pydantic.BeforeValidator(_object)] = None
    """The replica's ``properties``, as the service takes them. A table holds them as JSON."""

    @pydantic.field_validator(*settings.NamedFiles.model_fields, "statement")
    @classmethod
    def _is_there(cls, place: str | None, info: pydantic.ValidationInfo) -> str | None:
        if place is None:
            return None
        if info.field_name != "statement":
            _require_place(place)
        # In a run, the folder that paths lead from; None where a program makes a row.
        base: Path | None = info.context
        if base is None:
            return place
        if is_url(place):
            if info.field_name == "statement":
                raise settings.refused("must be a file on this machine")
            return place
        path = base / place
        try:
            if path.is_file():
                return place
            what = "is no file" if path.exists() else "is not there"
            what += ": write / between folders" if "\\" in place else ""
        except (OSError, ValueError) as error:
            what = f"cannot be read: {error}"
        raise settings.refused(f"{place} {what}")

    @pydantic.model_validator(mode="after")
    def _names_a_file(self, info: pydantic.ValidationInfo) -> Self:
        if info.context is not None and not self.places:
            roles = ", ".join(role.value for role in Role)
            raise settings.refused(f"names no file: give at least one of {roles}")
        return self


class ManifestRow(Row, Given):
    """One person of a manifest: who it is, the files, and the settings that a person.toml has.

    A file is a path from the folder that the process works in, or a URL: ``https://``, ``s3://``,
    ``gs://`` or ``az://``. Roles are written with an underscore: ``face_image``.
    """


COLUMNS = ("person", *(role.value for role in Role), *settings.Settings.model_fields)
"""The columns of a manifest, as they are written."""

TAGS_BETWEEN = "|"
"""Between the tags in one cell of a CSV file."""

_DELIMITERS = (",", ";", "\t")
"""Spreadsheets in many countries put a semicolon between cells, since their comma is decimal."""


_LONGEST_LINE = 1024 * 1024
"""In characters; a person's takes some hundreds."""
_MOST_COLUMNS = 200
"""More than any manifest has: each unknown column is told."""


@dataclass(frozen=True)
class Line:
    """One line: its values by column, without empty cells, nulls and unknown columns of a table,
    which are its mistake, reported once."""

    number: int
    values: Mapping[str, Any]


Lines = Iterator[Line | RowProblem]


def is_manifest(path: Path) -> bool:
    return path.suffix.lower() in _READERS


def read_lines(path: Path) -> Lines:
    """The lines of a manifest, and what is wrong with those that cannot be read. Raises UsageError
    when the file cannot be read at all, ToolMissing for Parquet without pyarrow."""
    try:
        yield from _READERS[path.suffix.lower()](path)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8 (byte {error.start:,}): save it again as UTF-8, which Excel "
            "calls CSV UTF-8"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def _bounded(file: TextIO, path: Path) -> Iterator[str]:
    """The lines, of which none fills the memory."""
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE + 1), ""), 1):
        if len(line) > _LONGEST_LINE:
            raise UsageError(
                f"{path} is no manifest: line {number:,} has more than {_LONGEST_LINE:,} characters"
            )
        yield line


def _csv(path: Path) -> Lines:
    # Spreadsheets put a byte order mark first.
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = _bounded(file, path)
        first = next(lines, "")
        if first[:4].lower() == "sep=" and first[4:5] in _DELIMITERS:
            # For Excel. It stays a line that is counted.
            delimiter, first = first[4], "\n"
        else:
            delimiter = max(_DELIMITERS, key=first.count)
        reader = csv.reader(chain((first,), lines), delimiter=delimiter, strict=True)
        header: list[str] = []
        number = 1
        try:
            for cells in reader:
                # Spreadsheets write cells and columns to the right that were used once.
                while cells and not cells[-1].strip():
                    cells.pop()
                if not cells:
                    pass
                elif not header:
                    header = [cell.strip() for cell in cells]
                    yield from _header_problems(number, header)
                elif len(cells) > len(header):
                    count = f"has {len(cells)} cells, and the header has {len(header)}"
                    yield RowProblem(number, None, count)
                else:
                    yield Line(number, _known(_cells(header, cells)))
                number = reader.line_num + 1
        except csv.Error as error:
            yield RowProblem(number, None, f"cannot be read as CSV: {error}")


def _require_few(columns: Sized) -> None:
    if len(columns) > _MOST_COLUMNS:
        raise UsageError(
            f"A manifest has at most {_MOST_COLUMNS} columns, and this one has {len(columns):,}"
        )


def _header_problems(number: int, header: list[str]) -> Iterator[RowProblem]:
    _require_few(header)
    for name in dict.fromkeys(header):
        if not name:
            yield RowProblem(number, None, "a column has no name: name it, or remove it")
        elif name not in COLUMNS:
            yield RowProblem(number, None, settings.unknown_words(name, COLUMNS, what="column"))
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
        for number, text in enumerate(_bounded(file, path), 1):
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
                    _require_few(found)
                    yield Line(number, _given(found))
                else:
                    yield RowProblem(number, None, "must be an object: {…}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
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
    try:
        with parquet.ParquetFile(path) as table:
            yield from _header_problems(1, table.schema_arrow.names)
            rows = (values for batch in table.iter_batches() for values in batch.to_pylist())
            for number, values in enumerate(rows, 1):
                yield Line(number, _known(_given(values)))
    except (pyarrow.ArrowException, OverflowError) as error:  # A time beyond all calendars.
        raise UsageError(f"{path} cannot be read as Parquet: {error}") from None


def _known(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if name in COLUMNS}


def _given(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}


_READERS: Mapping[str, Callable[[Path], Lines]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".parquet": _parquet,
}
