"""What a command prints, made harmless; and --verbose, --quiet, --log-file: what is told where."""

from __future__ import annotations

import ast
import logging
import os
import re
from pathlib import Path

import pytest

from palprep.cli.output import (
    paths_in_shell,
    print_error,
    tell,
    tell_detail,
    tell_warning,
    telling,
)
from palprep.errors import OutputUnwritable, UsageError

from .conftest import Palprep

DOORS = {"output.py"}
"""The module that writes: all others call it."""

OWN_WORDS = {"app.py", "sandbox.py"}
"""Print the version, addresses and keys of palprep's own."""


def _writes(path: Path) -> list[str]:
    """How a module writes to a stream itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [ast.unparse(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)]
    named = ("print", "typer.echo", "typer.secho", "Console")
    return [call for call in calls if call in named or call.startswith(("sys.std", "typer.style"))]


def test_no_command_writes_past_the_doors(checkout: Path) -> None:
    modules = sorted((checkout / "src/palprep/cli").rglob("*.py"))
    writing = {path.name: found for path in modules if (found := _writes(path))}
    assert set(writing) >= DOORS
    assert set(writing) - DOORS - OWN_WORDS == set()


def test_views_have_one_console(checkout: Path) -> None:
    sources = (checkout / "src/palprep").rglob("*.py")
    making = {path.name for path in sources if "rich.console import Console" in path.read_text()}
    assert "reports.py" in making
    calls = {
        path.name
        for path in (checkout / "src/palprep").rglob("*.py")
        if any(
            isinstance(each, ast.Call) and ast.unparse(each.func) in {"Console", "rich.print"}
            for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert calls == set()


def tell_all() -> None:
    tell_detail("a detail")
    tell("a line\nof two")
    tell_warning("a warning")
    logging.getLogger("palprep.client").info("GET /v2/voices: 200 in 0.100 s")
    logging.getLogger("palprep.client").warning("unencrypted")


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["a line of two", "a warning", "unencrypted"]),
        ({"quiet": True}, ["a warning", "unencrypted"]),
        (
            {"verbose": True},
            [
                *("a detail", "a line of two", "a warning"),
                *("GET /v2/voices: 200 in 0.100 s", "unencrypted"),
            ],
        ),
    ],
)
def test_what_reaches_standard_error(
    options: dict[str, bool], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with telling(**options):
        tell_all()
    tell("not any more")
    said = capsys.readouterr()
    assert said.err.splitlines() == lines
    assert said.out == ""


def test_the_file_holds_everything_with_times_and_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "run.log"
    for _ in range(2):
        with telling(quiet=True, log_file=path):
            tell_all()
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 10
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    assert re.fullmatch(rf"{stamp} DEBUG palprep\.cli: a detail", lines[0])
    assert lines[4].endswith("WARNING palprep.client: unencrypted")


def test_what_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not both"), telling(verbose=True, quiet=True):
        pytest.fail("entered")
    (tmp_path / "file").write_text("")
    taken = tmp_path / "file" / "run.log"
    with pytest.raises(OutputUnwritable, match="another --log-file"), telling(log_file=taken):
        pytest.fail("entered")


def test_a_full_disk_is_said_once_and_the_work_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with telling(log_file=Path("/dev/full")):
        tell("one")
        tell("two")
    full = "palprep: The log file /dev/full cannot be written: No space left on device"
    assert capsys.readouterr().err.splitlines() == ["one", full, "two"]


def test_names_of_files_keep_their_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("a  b.png\n  is gone")
    assert capsys.readouterr().err == "palprep: a  b.png is gone\n"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["a  b.png", "c.png"], "'a  b.png' c.png"),
        (["-a.png"], "./-a.png"),
        (["a\nb.png"], "PATH..."),
        (["a\udcff.png"], "PATH..."),
    ],
)
def test_a_next_command_names_files_that_are_there(names: list[str], shown: str) -> None:
    assert paths_in_shell([Path(each) for each in names]) == shown


@pytest.mark.parametrize(
    ("columns", "most"), [("70", 70), ("0", 140), ("", 140), ("200", 200), ("20", 48)]
)
def test_a_pipe_is_as_wide_as_columns_says(
    palprep: Palprep, columns: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Standard input may still be a terminal.
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((250, 50)))
    lines = palprep("explain", "eyes_blink", COLUMNS=columns).out.splitlines()
    assert most - 25 < max(map(len, lines)) <= most
