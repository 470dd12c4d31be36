"""Strangers' text can neither order a terminal about nor turn the text around it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from palprep.escaping import escaped, escaped_json, escaped_line, table_rows
from palprep.preflight import check
from palprep.views.html import environment
from palprep.views.terminal.reports import SafeConsole

HOSTILE = "\x00\x07\x08\r\x1b\x7f\x9b\u061c\u200e\u2028\u202e\u2066\ufffa\U000e0041\udcff\ud800"


def test_characters_are_written_out() -> None:
    assert escaped("ada\x1b[31m\udce9\u202egpj") == r"ada\x1b[31m\xe9\u202egpj"
    assert not set(escaped(HOSTILE)) & set(HOSTILE)
    assert escaped("Zoë\t“Ada”\n東京 \U0001f600") == "Zoë\t“Ada”\n東京 \U0001f600"
    assert escaped_line("one\r\n\ttwo") == r"one\r\n\ttwo"


def test_json_stays_the_same_value() -> None:
    value = {f"key{HOSTILE}": [HOSTILE, "Zoë"]}
    line = escaped_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(line.encode("utf-8")) == value
    assert not set(line) & set(HOSTILE)
    assert "Zoë" in line


@pytest.mark.parametrize("terminal", [False, True])
def test_whatever_is_printed_is_harmless(terminal: bool) -> None:
    table = Table("name\x1b[2J", box=None)
    table.add_row(Text(f"row {HOSTILE}", "bold"))
    table.add_row("text\x1b[2J\x9b")
    screen = io.StringIO()
    console = SafeConsole(file=screen, width=200, force_terminal=terminal, color_system=None)
    for each in (table, Text.assemble(("bold\x1b[2J", "bold"), " after"), "text\x1b[2J"):
        console.print(each, highlight=False)
    shown = screen.getvalue()
    # Rich's own orders begin and end a style.
    own = shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert not set(own) & set(HOSTILE)
    assert own.count(r"\x1b[2J") >= 2


def test_styles_stay_where_they_were() -> None:
    screen = io.StringIO()
    console = SafeConsole(file=screen, width=80, force_terminal=True, color_system="standard")
    console.print(Text.assemble(("a\x1bb", "bold"), "c\x1bd"), highlight=False)
    assert screen.getvalue() == "\x1b[1ma\\x1bb\x1b[0mc\\x1bd\n"


def test_reports_and_prepared_files_are_printed_harmlessly(tmp_path: Path) -> None:
    path = tmp_path / "clear\x1b[2J\u202e.jpg"
    path.write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF")
    printed = str(check(path))
    assert r"clear\x1b[2J\u202e.jpg" in printed
    assert not set(printed) & set(HOSTILE)


def test_a_page_shows_what_strangers_wrote_and_is_not_turned_by_it() -> None:
    macro = "{% macro row(x) %}<b>{{ x }}</b>{% endmacro %}"
    template = environment().from_string(macro + "{{ row(name) }}|{{ name|filename }}|{{ n }}")
    page = template.render(name=f"<i>{HOSTILE}", n=3)
    assert page.startswith("<b>&lt;i&gt;\\x00")
    assert page.endswith("|3")
    assert page.count(r"\u202e") == 2
    assert not set(page) & set(HOSTILE)


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=1+1", "'=1+1"),
        (" @sum(A1)", "' @sum(A1)"),
        ("Ada; =1+1", "Ada;' =1+1"),
        ("a=b; c-d", "a=b; c-d"),
    ],
)
def test_no_cell_of_a_table_is_computed(name: str, cell: str) -> None:
    assert "".join(table_rows(["name"], [{"name": name}])).splitlines()[1] == cell
