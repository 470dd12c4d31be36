"""The commands as a table: a command's module is imported only when that command is used.

``palprep --help``, ``--version`` and a mistyped command answer at once, because they load nothing
that a command needs. A command loads nothing that only other commands need.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

COMMANDS: Mapping[str, str] = {
    "check": "Check files against what the service accepts, before anything is uploaded.",
    "fix": "Write the smallest fix into a new file, and check the new file like any other.",
    "consent": "Verify, word by word, that the consent statement was spoken.",
    "dossier": "Verify consent dossiers: the chain of entries, the videos, and the journal of the "
    "run.",
    "run": "Check, fix, prove and publish everything, and make each person's voice and replica.",
    "watch": "Wait for the trainings that a run has begun, and write the results when they end.",
    "status": "Show where every person stands; with --found or --retry, resolve what is in doubt.",
    "report": "Write results.jsonl and report.html again, with what has arrived since.",
    "best": "Rank the images of a folder, or the frames of a video, by how fit a portrait each is.",
    "sandbox": "Serve the whole interface on loopback, judged by palprep's own checks, until "
    "Ctrl-C.",
    "listen": "Receive the service's callbacks into the journal of a run, until Ctrl-C.",
    "explain": "Show a check's rule, its limits with their sources, and what to do when it fails.",
    "doctor": "Show what is installed, which models are there, and how to add what is missing.",
}
"""Each command's line in ``palprep --help``, in the order in which they are listed.

The command ``NAME`` is the function ``palprep.cli.NAME.NAME``. Its line repeats the first paragraph
of the function's docstring, which cannot be read without importing the module. A test holds the two
together.
"""

_WHOLE = 1000
"""Characters. No line has as many."""


class Group(TyperGroup):
    """A group that lists its commands with their whole lines, wrapped instead of cut off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(limit=_WHOLE)) for name, each in commands if each]
            )

    def get_help_option(self, ctx: Any) -> Any:
        """The ``--help`` option, False when it is not given.

        Without this it is None, and typer 0.29 loads pydantic to make a bool of it.
        """
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


class CommandOnDemand(TyperCommand):
    """Stands for a command in the list, and loads the command when it is used."""

    def __init__(self, name: str, line: str) -> None:
        super().__init__(name, short_help=line)
        self._command = name

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of the command itself, which parses its own arguments."""
        return load(self._command).make_context(*arguments, **more)


class CommandTable(Group):
    """The group of all commands: first those of the table, then those that were added to it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            **{name: CommandOnDemand(name, line) for name, line in COMMANDS.items()},
            **self.commands,
        }


def load(name: str) -> Any:
    """Import a command of the table. Typer makes its arguments of the function's."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(getattr(importlib.import_module(f"palprep.cli.{name}"), name))
    return get_command(app)
