"""The commands as a table: a command's module is imported only when that command is used.

So ``palprep --help``, ``--version`` and a mistyped command answer without loading anything that
a command needs, and a command loads nothing of its neighbours.
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
    "fix": "Make the smallest repair in a new file, and check the new file like any other.",
    "consent": "Verify, word by word, that the consent statement was spoken.",
    "dossier": "Verify consent dossiers: the chain of entries, the videos, and the journal of the "
    "run.",
    "run": "Check, repair, prove and publish everything, and make each person's voice and replica.",
    "status": "Show where every person stands; with --found or --retry, settle what is in doubt.",
    "report": "Write results.jsonl and report.html again, with what has arrived since.",
    "best": "Rank the stills of a folder, or the frames of a video, by how fit a portrait each is.",
    "sandbox": "Serve the whole interface on loopback, judged by palprep's own checks, until "
    "Ctrl-C.",
    "listen": "Receive the service's callbacks into the journal of a run, until Ctrl-C.",
    "explain": "Show a check's rule, its limits with their sources, and what to do when it fails.",
    "doctor": "Show what is installed, which models, and the command that adds what is missing.",
}
"""Each command's line in ``palprep --help``, in the order of the list.

``NAME`` is the function ``palprep.cli.NAME.NAME``. The line repeats the first paragraph of its
docstring, which cannot be read without importing the module; a test holds the two together.
"""

_WHOLE = 1000
"""Characters of a line: more than any has."""


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
        """The ``--help`` option, False where it is not given.

        typer 0.29 leaves it None, and has pydantic, which it loads for that, make a bool of it.
        """
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


class CommandOnDemand(TyperCommand):
    """Stands for a command in the list, and becomes the command once it is given arguments."""

    def __init__(self, name: str, line: str) -> None:
        super().__init__(name, short_help=line)
        self._command = name

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of the real command, which parses its own arguments."""
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
    """Import a command of the table and make typer's command of its function."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(getattr(importlib.import_module(f"palprep.cli.{name}"), name))
    return get_command(app)
