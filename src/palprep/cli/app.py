"""The ``palprep`` command: its subcommands, and the one place where errors become words.

Libraries that take long to load are imported inside the commands that use them, so that
``palprep --help`` and a mistyped option answer at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from palprep._version import __version__
from palprep.cli.api import api_app
from palprep.cli.best import best
from palprep.cli.check import check
from palprep.cli.consent import consent
from palprep.cli.doctor import doctor
from palprep.cli.dossier import dossier
from palprep.cli.exits import ExitCode, exit_code_of
from palprep.cli.explain import explain
from palprep.cli.fix import fix
from palprep.cli.listen import listen
from palprep.cli.printing import print_error
from palprep.cli.report import report
from palprep.cli.run import run as run_people
from palprep.cli.sandbox import sandbox
from palprep.cli.status import status
from palprep.errors import PalprepError

app = typer.Typer(
    name="palprep",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 all passed; 1 something failed its checks or could not be read; 2 wrong "
    "usage; 3 the service refused or could not be reached; 4 something is in doubt.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"palprep {__version__}")
        raise typer.Exit


@app.callback()
def palprep(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Check, repair and prove a person's media, then make voices and replicas of them."""


COMMANDS = (
    *(check, fix, consent, dossier, run_people, status, report),
    *(best, sandbox, listen, explain, doctor),
)
for command in COMMANDS:
    app.command(command.__name__)(command)
app.add_typer(api_app)


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; an error is one line on standard error and an exit code."""
    try:
        app(arguments, prog_name="palprep")
    except PalprepError as error:
        print_error(error.message)
        return exit_code_of(error)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.FAILED
    return ExitCode.OK
