"""The ``palprep`` command: its subcommands, each imported only when it is used, and the one place
where errors become words."""

from __future__ import annotations

import gc
import importlib
import inspect
import io
import logging
import os
import re
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from palprep._version import __version__
from palprep.cli import options
from palprep.cli.exits import ExitCode, exit_code_of
from palprep.cli.output import print_error, tell_warning
from palprep.errors import ManifestError, PalprepError, UsageError

COMMANDS: Mapping[str, str] = {
    "check": "Check files against what the service accepts, before anything is uploaded.",
    "fix": "Write the smallest fix into a new file, and check the new file like any other.",
    "best": "Rank images, or the frames of a video, as portraits, the fittest first.",
    "statement": "Print the words of consent that a person must say, with --code also fresh ones.",
    "consent": "Verify, word by word, that the consent statement was spoken.",
    "guide": "Write a page to print or send: what to say, how to record, how a portrait looks.",
    "ask": "Write a message to each who must redo something: what, why and how. Nothing is sent.",
    "record": "Record one person in a browser on this machine, with verdicts at once.",
    "decide": "Record who decided, and why, about the doubts that hold a person's replica.",
    "review": "Answer a run's questions and doubts in a browser, and go on with it.",
    "dossier": "Verify consent dossiers: the chain of entries, the videos, and the journal of "
    "the run.",
    "forget": "Remove everything that an output folder holds of one person.",
    "run": "Check, fix, prove and publish everything, and make each person's voice and replica.",
    "watch": "Wait for the trainings that a run has begun, and write the results when they end.",
    "status": "Show where every person stands. Record what you know: --found, --retry, --ended.",
    "report": "Write the results and the page of a run again, with what has arrived since.",
    "listen": "Receive the service's callbacks into the journal of a run, until Ctrl-C.",
    "sandbox": "Serve the whole interface on loopback, judged by palprep's own checks, until "
    "Ctrl-C.",
    "explain": "Show a check's rule, its limits with their sources, and what to do when it fails.",
    "doctor": "Show what is installed, which models are there, and how to add what is missing.",
}
"""A line for each command, in the order of ``palprep --help``, which imports no command. The help
of the command is this line and then the docstring of its function."""

_HOMES = {
    **dict.fromkeys(("decide", "dossier", "statement"), "consent"),
    **dict.fromkeys(("fix", "best", "explain"), "check"),
    **dict.fromkeys(("guide", "ask", "review"), "record"),
    **dict.fromkeys(("watch", "status", "report", "listen"), "journal"),
}
"""The module of each command that has no module of its own name."""

API = "Call any endpoint of the service; JSON on standard output."
"""The line of ``palprep api``, a group that is made from the endpoints' declarations."""


def load(name: str) -> Any:
    """The command ``name``, imported, with those ``EXAMPLES`` of its module that use it."""
    if name == "api":
        return get_command(importlib.import_module("palprep.cli.api_commands").build(API))
    module = importlib.import_module(f"palprep.cli.{_HOMES.get(name, name)}")
    own = (each for each in module.EXAMPLES if each.split()[1] == name)
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    # Typer wraps no lines after \b.
    examples = "\n".join(("\b", "Examples:", *(f"  {each}" for each in own)))
    function = getattr(module, name)
    text = "\n\n".join(filter(None, (COMMANDS[name], inspect.getdoc(function))))
    made.command(name, help=text, epilog=examples)(
        options.spread(function, _tell_misspelt_variables)
    )
    command = get_command(made)
    for option in command.params:
        if isinstance(option, TyperOption) and not option.envvar and not option.is_eager:
            long = (each[2:] for each in option.opts if each.startswith("--"))
            option.envvar = [f"PALPREP_{each.replace('-', '_').upper()}" for each in long]
            option.show_envvar = False
    return command


def _variables(command: Any) -> set[str]:
    return {each for option in command.params for each in option.envvar or ()}


def _tell_misspelt_variables(command: Any) -> None:
    """Tell of variables that no command has, and that are spelt like one of this command's."""
    own = _variables(command)
    for given in sorted(os.environ.keys() - own):
        if given.startswith("PALPREP_"):
            from difflib import get_close_matches

            # What all begin with would make all alike.
            near = get_close_matches(given[8:], [each[8:] for each in own], 1, 0.85)
            if near and not any(given in _variables(load(name)) for name in COMMANDS):
                tell_warning(f"{given} is no variable of palprep: did you mean PALPREP_{near[0]}?")


class _OnDemand(TyperCommand):
    """Stands for a command in the list, and loads it when it is used."""

    def make_context(self, info_name: str | None, *arguments: Any, **more: Any) -> Any:
        try:
            return load(self.name or "").make_context(info_name, *arguments, **more)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic adds it.
            raise


class _Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        lines = {**COMMANDS, "api": API}
        self.commands = {name: _OnDemand(name, short_help=line) for name, line in lines.items()}


app = typer.Typer(
    name="palprep",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain text. Drawing frames around it takes longer than everything else together.
    rich_markup_mode=None,
    epilog="Exit codes: 0 all passed; 1 something failed its checks or could not be read; 2 wrong "
    "usage; 3 the service refused or could not be reached, or this machine has no room or no "
    "processes left; 4 something is in doubt and needs a decision; 5 some are still waiting, or "
    "another run is at work. Every option can be set by the environment: PALPREP_ and its name, as "
    "PALPREP_DRY_RUN=1.",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        # Typer's own flags have no default, and it loads pydantic to make a bool of None.
        "default_map": dict.fromkeys(("help", "install_completion", "show_completion"), False),
    },
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"palprep {__version__}")
        raise typer.Exit


@app.callback()
def palprep(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Check and fix a person's media, prove consent, then create voices and replicas."""


def main() -> None:
    # Saves a tenth of a short command's time: modules are no garbage, and there are no plugins.
    gc.set_threshold(50_000)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Warnings of libraries go to the log, which --verbose shows.
    logging.captureWarnings(True)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # It was closed by whoever started this.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
        stream = getattr(sys, name)
        # A file's name or tags may hold characters that the output cannot encode.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    for number, stream in enumerate((sys.stdout, sys.stderr), 1):
        try:
            stream.flush()
        except OSError:  # Already reported. At its end Python would try to flush once more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command line. An error is one line on standard error and an exit code; the mistakes
    in a manifest are a line each."""
    try:
        # An empty path would mean the current folder.
        if arguments[:1] != ["api"] and any(
            re.fullmatch("(--[a-z-]+=)?", each) for each in arguments
        ):
            raise UsageError("An argument is empty: is a variable of your shell not set?")
        app(arguments, prog_name="palprep")
    except PalprepError as error:
        manifest = isinstance(error, ManifestError)
        print_error(*(error.message.split("\n") if manifest else [error.message]))
        return exit_code_of(error)
    except KeyboardInterrupt as signal:
        print_error("Interrupted")
        return getattr(signal, "code", ExitCode.INTERRUPTED)
    except OSError as error:
        # Errors of files have become a PalprepError. Only standard output has no file name.
        if error.filename is not None:
            raise
        print_error(f"Standard output cannot be written: {error.strerror}")
        return ExitCode.FAILED
    except SystemExit as stop:
        # Typer itself prints nothing about Ctrl-C.
        if isinstance(getattr(stop.__context__, "__cause__", None), KeyboardInterrupt):
            print_error("Interrupted")
        return stop.code if isinstance(stop.code, int) else ExitCode.FAILED
    return ExitCode.OK
