"""The command as a whole: version, help, usage errors, speed of its start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from palprep import __version__
from palprep.cli import app
from palprep.errors import JournalError, OutcomeUnknown

from .conftest import Palprep


def test_version(palprep: Palprep) -> None:
    ran = palprep("--version")
    assert (ran.code, ran.out) == (0, f"palprep {__version__}\n")


@pytest.mark.parametrize("name", [command.name for command in app.app.registered_commands])
def test_every_command_explains_itself(palprep: Palprep, name: str) -> None:
    ran = palprep(name, "--help")
    assert ran.code == 0
    assert "Usage:" in ran.out


@pytest.mark.parametrize(
    "arguments", [["chekc"], ["check"], ["check", "--as", "portrait", "x.jpg"], ["fix", "x.jpg"]]
)
def test_wrong_usage_is_code_2(palprep: Palprep, arguments: list[str]) -> None:
    ran = palprep(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err


@pytest.mark.parametrize(
    ("error", "code"),
    [(JournalError("The journal\nis gone"), 1), (OutcomeUnknown("Nobody knows"), 4)],
)
def test_an_error_is_one_line_and_its_code(
    error: Exception,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(app, "app", fail)
    assert app.run([]) == code
    assert capsys.readouterr().err == f"palprep: {' '.join(str(error).split())}\n"


def test_ctrl_c_is_130_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app", interrupted)
    assert app.run([]) == 130
    assert capsys.readouterr().err == ""


def test_help_loads_no_decoder() -> None:
    program = (
        "import sys, palprep.cli.app; "
        "print(*{'cv2', 'av', 'PIL', 'numpy', 'httpx', 'uvicorn', 'sqlite3'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
