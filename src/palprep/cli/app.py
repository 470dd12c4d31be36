"""The ``palprep`` command: its options, and the one place where errors become words."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated, TextIO

import typer

from palprep._version import __version__
from palprep.cli.api import api_app
from palprep.cli.commands import CommandTable
from palprep.cli.exits import ExitCode, exit_code_of
from palprep.cli.printing import print_error
from palprep.errors import ManifestError, PalprepError

app = typer.Typer(
    name="palprep",
    cls=CommandTable,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain text. Drawing frames around it takes longer than everything else together.
    rich_markup_mode=None,
    epilog="Exit codes: 0 all passed; 1 something failed its checks or could not be read; 2 wrong "
    "usage; 3 the service refused or could not be reached; 4 something is in doubt and needs a "
    "decision.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"palprep {__version__}")
        raise typer.Exit


@app.callback()
def palprep(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Check and fix a person's media, prove consent, then create voices and replicas."""


app.add_typer(api_app)


def main() -> None:
    """Run the command line and exit with its code."""
    warnings.showwarning = _log_warning
    # No character of a file's name or tags is one that the output cannot take.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What a library warns of says nothing to a user: it goes to the log, for --verbose."""
    import logging

    del file
    said = warnings.formatwarning(message, category, filename, lineno, line)
    logging.getLogger("palprep.warnings").debug("%s", " ".join(said.split()))


def run(arguments: list[str]) -> int:
    """Run one command line; an error is one line on standard error and an exit code. Mistakes of a
    manifest are a line each.
    """
    try:
        app(arguments, prog_name="palprep")
    except ManifestError as error:
        print_error(*error.message.split("\n"))
        return exit_code_of(error)
    except PalprepError as error:
        print_error(error.message)
        return exit_code_of(error)
    except KeyboardInterrupt as signal:
        return getattr(signal, "code", ExitCode.INTERRUPTED)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.FAILED
    return ExitCode.OK
