"""Tables that scripts write into a document, each between two marks that bear its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def replace_marked(path: Path, name: str, lines: Iterable[str]) -> None:
    """Put lines between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``.

    Raises SystemExit where the document has no such marks: where a table stands is for a writer
    to decide.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = path.read_text("utf-8")
    if begin not in text or end not in text:
        raise SystemExit(f"{path} needs the lines {begin} and {end} where the table belongs")
    before, after = text.split(begin)[0], text.split(end)[1]
    path.write_text("\n".join((f"{before}{begin}", *lines, f"{end}{after}")), "utf-8")
