r"""Text from strangers, made harmless for terminals, pages and JSON.

A file's name, a tag or an error of a library may hold escape sequences, which control a terminal,
and characters that reverse the text around them (Unicode Technical Report 36, section 2.4:
"bidirectional text spoofing"). All of them are written out: ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # Control characters, besides tab and line feed.
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Marks of direction (UAX 9, section 2).
    "\u2028\u2029"  # Ends of lines and paragraphs.
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"  # Annotations and tags, which are never drawn.
    "\ud800-\udfff"  # Bytes of a name that is not UTF-8, and halves of characters.
    "]"
)
_BREAKS = re.compile("[\t\n]")

_FORMULA = re.compile(r"(?:^|(?<=;))(?=\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|[\t\r])")
"""The start of a cell that a spreadsheet would compute. Where numbers have decimal commas, a
semicolon ends a cell, even between quotation marks."""

_BYTES = range(0xDC80, 0xDD00)
"""The characters that stand for bytes of a file name that is not UTF-8 (PEP 383)."""


def escaped(text: str) -> str:
    """The text with such characters written out. Tabs and line breaks stay."""
    return _UNSEEN.sub(_written_out, text)


def escaped_line(text: str) -> str:
    """The text on one line: line breaks and tabs are written out, too."""
    return _BREAKS.sub(_written_out, escaped(text))


def escaped_json(text: str) -> str:
    """JSON with such characters in JSON's own escapes: it stands for the same value."""
    return _UNSEEN.sub(_in_json, text)


def table_rows(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """The lines of a CSV table for a spreadsheet (RFC 4180, with the byte order mark that Excel
    needs). Lists are joined by `` | ``, and keys that are not ``columns`` are left out. Text that
    would begin a formula gets an apostrophe in front of it (OWASP, "CSV Injection")."""
    line = io.StringIO()
    writer = csv.DictWriter(line, columns, extrasaction="ignore")
    yield "\ufeff"
    for row in ({name: name for name in columns}, *rows):
        writer.writerow({name: _cell(each) for name, each in row.items() if each is not None})
        yield line.getvalue()
        line.seek(line.truncate(0))


def _cell(value: object) -> str:
    text = " | ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"
    return escaped(_FORMULA.sub("'", text))


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    character = chr(code - 0xDC00) if code in _BYTES else found[0]
    return character.encode("unicode_escape").decode("ascii")


def _in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
