"""The command as a whole: version, help, usage errors, and what its start loads."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from palprep import __version__
from palprep.cli import app, doctor
from palprep.cli.app import API, COMMANDS, load
from palprep.errors import JournalError, OutcomeUnknown

from .conftest import SCRIPT, Palprep


def test_version(script: Palprep) -> None:
    ran = script("--version")
    assert (ran.code, ran.out) == (0, f"palprep {__version__}\n")


@pytest.mark.parametrize("name", [*COMMANDS, "api"])
def test_every_command_explains_itself(palprep: Palprep, name: str) -> None:
    ran = palprep(name, "--help")
    assert ran.code == 0
    assert f"Usage: palprep {name} [OPTIONS]" in ran.out


def test_help_lists_every_command_in_order_with_its_whole_line(palprep: Palprep) -> None:
    listed = palprep("--help").out.split("\nCommands:\n")[1].split("\n\n")[0]
    words = [line.split(maxsplit=1)[0] for line in listed.splitlines() if line[2] != " "]
    assert words == [*COMMANDS, "api"]
    assert "..." not in listed
    for line in (*COMMANDS.values(), API):
        assert line in " ".join(listed.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_help_ends_with_examples_that_can_be_typed(palprep: Palprep, name: str) -> None:
    ending = palprep(name, "--help").out.split("\n  Examples:\n")[1]
    examples = [line.strip() for line in ending.splitlines()]
    assert examples
    for example in examples:
        program, command, *arguments = shlex.split(example.split(" > ")[0])
        assert (program, command) == ("palprep", name)
        load(name).make_context(name, arguments)


@pytest.mark.parametrize(
    "variable",
    [
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_SERVICE_ACCOUNT"),
        *("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"),
        *("PALPREP_PUBLISH_TO", "PALPREP_STORE"),
    ],
)
def test_help_names_the_variables_of_buckets(palprep: Palprep, variable: str) -> None:
    assert variable in "".join(palprep("run", "--help").out.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("palprep expl", "explain"),
        ("palprep check --qui", "--quick\n--quiet"),
        ("palprep check --as voi", "voice-audio"),
        ("palprep explain video_dur", "video_duration"),
        ("palprep api voi", "voices"),
    ],
)
def test_a_shell_can_complete_what_is_typed(palprep: Palprep, words: str, offered: str) -> None:
    typed = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = palprep(**typed, _PALPREP_COMPLETE="complete_bash")
    assert (ran.code, ran.out.strip()) == (0, offered)
    script = palprep(_PALPREP_COMPLETE="source_bash").out
    assert "_PALPREP_COMPLETE=complete_bash" in script


def test_a_mistyped_command_is_told_its_neighbour(script: Palprep) -> None:
    assert "Did you mean 'check'?" in script("chekc").err
    assert "Did you mean 'voices'?" in script("api", "voice").err


@pytest.mark.parametrize(
    "arguments", [["chekc"], ["check"], ["check", "--as", "portrait", "x.jpg"], ["fix", "x.jpg"]]
)
def test_wrong_usage_is_code_2(palprep: Palprep, arguments: list[str]) -> None:
    ran = palprep(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err


def test_a_wrong_choice_is_told_in_our_words(palprep: Palprep) -> None:
    told = palprep("check", "--as", "portrait", "x.jpg").err
    assert "Invalid value for '--as': 'portrait' is not one of 'face-image', " in told


@pytest.mark.parametrize(
    "arguments", [["check", ""], ["fix", "", "--into", "x"], ["fix", "x.jpg", "--into="]]
)
def test_an_empty_path_is_not_the_folder_of_the_shell(
    palprep: Palprep, arguments: list[str]
) -> None:
    ran = palprep(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "An argument is empty" in ran.err
    assert "Set PALPREP" in palprep("api", "voices", "update", "v1", "--description", "").err


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


def test_ctrl_c_is_130_and_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app", interrupted)
    assert app.run([]) == 130
    assert capsys.readouterr().err == "palprep: Interrupted\n"


def test_ctrl_c_within_a_command_is_said_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine", interrupted)
    assert app.run(["doctor"]) == 130
    assert capsys.readouterr().err == "palprep: Interrupted\n"


def test_ctrl_c_while_it_is_loaded_prints_no_traceback() -> None:
    program = (
        "import sys; from palprep import cli\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder()); cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("arguments", [["explain"], ["explain", "--json"], ["explain", "--help"]])
def test_a_full_disk_below_standard_output_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [SCRIPT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == ("palprep: Standard output cannot be written: No space left on device\n")


@pytest.mark.parametrize(
    ("command", "code"), [(["explain", "file_size"], 0), (["explain", "x"], 2)]
)
def test_a_full_disk_below_standard_error_ends_no_work(command: list[str], code: int) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run([SCRIPT, *command], stdout=subprocess.PIPE, stderr=full, check=False)
    assert (done.returncode, bool(done.stdout)) == (code, code == 0)


def test_a_closed_standard_output_takes_nothing() -> None:
    command = ["sh", "-c", f"'{SCRIPT}' explain file_size --quiet >&-"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


SLOW_TO_LOAD = {
    *("pydantic", "rich", "jinja2", "typer.rich_utils"),
    *("numpy", "cv2", "av", "PIL", "pydub", "onnxruntime"),
    *("httpx", "uvicorn", "starlette", "obstore", "sqlite3"),
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["chekc"],
        [],
        *([name, "--help"] for name in COMMANDS),
    ],
    ids=" ".join,
)
def test_what_needs_no_work_loads_nothing_slow(arguments: list[str]) -> None:
    program = (
        "import json, sys; from palprep.cli import app; app.run(json.loads(sys.argv[1])); "
        "print('loaded:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    *_, last = done.stdout.splitlines()
    loaded = set(last.removeprefix("loaded:").split())
    assert "typer" in loaded
    assert loaded & SLOW_TO_LOAD == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_can_be_set_by_the_environment(name: str) -> None:
    options = [each for each in load(name).params if each.param_type_name == "option"]
    assert {each.name for each in options if not each.envvar} <= {"help"}


def test_an_option_of_the_environment_is_obeyed_unless_it_is_given(
    palprep: Palprep,
) -> None:
    given = {"PALPREP_JSON": "1", "PALPREP_PROFILE": "core-9"}
    assert "core-9" in palprep("explain", "file_size", **given).err
    [rule] = palprep("explain", "file_size", "--profile", "core-4", **given).objects
    assert rule["id"] == "file_size"


def test_a_variable_that_is_misspelt_is_told(palprep: Palprep) -> None:
    """PALPREP_DRYRUN=1 was a run that created everything."""
    near = {"PALPREP_PROFIL": "x", "PALPREP_LOGFORMAT": "json"}
    others = {"PALPREP_BASE_URL": "x", "PALPREP_API_KEY": "x", "PALPREP_LOG": "info"}
    ran = palprep("explain", "file_size", **near, **others, PALPREP_TOKEN="x")
    assert ran.code == 0
    assert ran.err.splitlines()[:2] == [
        "PALPREP_LOGFORMAT is no variable of palprep: did you mean PALPREP_LOG_FORMAT?",
        "PALPREP_PROFIL is no variable of palprep: did you mean PALPREP_PROFILE?",
    ]
    assert "is no variable" not in palprep("explain", "file_size", **others).err


def test_an_address_is_no_output_folder(palprep: Palprep, tmp_path: Path) -> None:
    (tmp_path / "people" / "ada").mkdir(parents=True)
    ran = palprep("run", tmp_path / "people", "--into", "s3://media/out")
    assert ran.code == 2
    assert "is an address" in ran.err
