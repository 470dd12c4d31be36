"""``palprep api RESOURCE ACTION``: every endpoint from the shell, JSON out.

The commands are made from the endpoints' declarations, and only when this group is used,
so that the rest of the command line does not wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from typer.main import get_command

from palprep.cli.commands import Group


class _FromDeclarations(Group):
    """A group whose subcommands are made when they are first asked for."""

    def _made(self) -> Mapping[str, Any]:
        if not self.commands:
            from palprep.cli.api_commands import build

            made: Any = get_command(build())
            self.commands = made.commands
        return self.commands

    def list_commands(self, ctx: Any) -> list[str]:
        """Resources in alphabetical order."""
        del ctx
        return sorted(self._made())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One resource's group; ``assumed`` is the former name of ``unspecified``."""
        del ctx
        if cmd_name == "assumed":
            typer.echo("palprep api assumed is deprecated: use palprep api unspecified.", err=True)
            cmd_name = "unspecified"
        return self._made().get(cmd_name)


api_app = typer.Typer(
    name="api",
    cls=_FromDeclarations,
    no_args_is_help=True,
    help="Call any endpoint of the service; JSON on standard output.",
    epilog="The key is read from PALPREP_API_KEY, the service's address from PALPREP_BASE_URL "
    "or --base-url. JSON options take text, or @FILE.",
)


@api_app.callback()
def api() -> None:
    """Call any endpoint of the service; JSON on standard output."""
