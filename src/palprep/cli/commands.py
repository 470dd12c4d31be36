"""The commands as a table: a command's module is imported only when that command is used.

``palprep --help``, ``--version`` and a mistyped command answer at once, because they load nothing
that a command needs. A command loads nothing that only other commands need.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

OTHERS = "The service"
"""The group of the commands that stand in no table, such as ``api``."""

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Files": {
        "check": "Check files against what the service accepts, before anything is uploaded.",
        "fix": "Write the smallest fix into a new file, and check the new file like any other.",
        "best": "Rank the images of a folder, or the frames of a video, by how fit a portrait each "
        "is.",
        "consent": "Verify, word by word, that the consent statement was spoken.",
        "dossier": "Verify consent dossiers: the chain of entries, the videos, and the journal of "
        "the run.",
    },
    "People": {
        "run": "Check, fix, prove and publish everything, and make each person's voice and "
        "replica.",
        "watch": "Wait for the trainings that a run has begun, and write the results when they "
        "end.",
        "status": "Show where every person stands; with --found or --retry, resolve what is in "
        "doubt.",
        "report": "Write results.jsonl and report.html again, with what has arrived since.",
        "listen": "Receive the service's callbacks into the journal of a run, until Ctrl-C.",
    },
    OTHERS: {
        "sandbox": "Serve the whole interface on loopback, judged by palprep's own checks, until "
        "Ctrl-C.",
    },
    "Help": {
        "explain": "Show a check's rule, its limits with their sources, and what to do when it "
        "fails.",
        "doctor": "Show what is installed, which models are there, and how to add what is missing.",
    },
}
"""Each command's line in ``palprep --help``, in the groups and the order in which they are listed.

The command ``NAME`` is the function ``palprep.cli.NAME.NAME``. Its line repeats the first paragraph
of the function's docstring, which cannot be read without importing the module. A test holds the two
together. ``EXAMPLES`` in that module are the command lines that its help ends with.
"""

COMMANDS: Mapping[str, str] = {
    name: line for lines in GROUPS.values() for name, line in lines.items()
}

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

    def get_params(self, ctx: Any) -> list[Any]:
        """The options: no flag that is not given is None.

        Typer 0.29 leaves its own flags None, and loads pydantic to make a bool of each.
        """
        options = super().get_params(ctx)
        for option in options:
            if option.default is None and getattr(option, "is_bool_flag", False):
                option.default = False
        return options


class CommandOnDemand(TyperCommand):
    """Stands for a command in the list, and loads the command when it is used."""

    def __init__(self, name: str, line: str) -> None:
        super().__init__(name, short_help=line)
        self._command = name

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of the command itself, which parses its own arguments."""
        return load(self._command).make_context(*arguments, **more)


_PLAIN: Mapping[str, str] = {
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<path>": "PATH",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "NUMBER",
}
"""Words of shells for types of Python."""


class Command(TyperCommand):
    """A command whose help names its arguments plainly, and ends with examples."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context; a value that cannot be meant is told without the name of Python's error."""
        try:
            return super().make_context(*arguments, **more)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the name in the first line of the help."""
        return [_argument(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, without the types that their words tell, and the options."""
        records: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                name, words = record
                kind = parameter.param_type_name
                plain = _argument(name) if kind == "argument" else _option(name)
                records[kind].append((plain, words))
        for heading, kind in (("Arguments", "argument"), ("Options", "option")):
            if records[kind]:
                with formatter.section(heading):
                    formatter.write_dl(records[kind])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, one in a line."""
        del ctx
        if self.epilog:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.epilog.splitlines()))


def _argument(name: str) -> str:
    """``{file} <path>`` as shells have it: ``FILE``."""
    return re.sub(r"\w+", lambda word: word[0].upper(), re.sub(r"[{}]| <.*", "", name))


def _option(name: str) -> str:
    for python, plain in _PLAIN.items():
        name = name.replace(python, plain)
    return name


class CommandTable(Group):
    """The group of all commands: first those of the table, then those that were added to it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            **{name: CommandOnDemand(name, line) for name, line in COMMANDS.items()},
            **self.commands,
        }

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list, group by group."""
        lines = {
            name: each.get_short_help_str(limit=_WHOLE)
            for name in self.list_commands(ctx)
            if (each := self.get_command(ctx, name))
        }
        others = [name for name in lines if name not in COMMANDS]
        for group, listed in GROUPS.items():
            names = [*listed, *(others if group == OTHERS else ())]
            with formatter.section(group):
                formatter.write_dl([(name, lines[name]) for name in names], col_max=12)


def load(name: str) -> Any:
    """Import a command of the table. Typer makes its arguments of the function's."""
    module = importlib.import_module(f"palprep.cli.{name}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=Command, epilog="\n".join(module.EXAMPLES))(getattr(module, name))
    return get_command(app)
