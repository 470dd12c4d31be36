"""How much a command tells while it works: --verbose, --quiet and --log-file, alike everywhere.

Results go to standard output. What is told on the way goes through the logger ``palprep.cli`` to
standard error; with --verbose, what the packages below log comes with it.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from palprep.errors import OutputUnwritable, UsageError
from palprep.escaping import escaped

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also tell every step, and why it is taken.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Tell nothing on the way but warnings and errors.")
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file", metavar="FILE", help="Also append everything, with times, to this file."
    ),
]

_ROOT = logging.getLogger("palprep")
_OWN = logging.getLogger("palprep.cli")


def tell(message: str) -> None:
    """One line for whoever watches; not with --quiet."""
    _OWN.info("%s", _one_line(message))


def tell_detail(message: str) -> None:
    """One line for those who asked for --verbose."""
    _OWN.debug("%s", _one_line(message))


def tell_warning(message: str) -> None:
    """One line that --quiet does not hide."""
    _OWN.warning("%s", _one_line(message))


@contextmanager
def telling(
    *, verbose: bool = False, quiet: bool = False, log_file: Path | None = None
) -> Iterator[None]:
    """While this lasts, what is told reaches standard error and the file.

    Raises UsageError for --verbose together with --quiet, OutputUnwritable for a file that
    cannot be written.
    """
    if verbose and quiet:
        raise UsageError("Give --verbose or --quiet, not both")
    handlers: list[logging.Handler] = [_on_standard_error(verbose=verbose, quiet=quiet)]
    if log_file is not None:
        handlers.append(_into(log_file))
    level = _ROOT.level
    _ROOT.setLevel(logging.DEBUG)
    for handler in handlers:
        _ROOT.addHandler(handler)
    try:
        yield
    finally:
        _ROOT.setLevel(level)
        for handler in handlers:
            _ROOT.removeHandler(handler)
            handler.close()


class _StandardError(logging.Handler):
    """Looks standard error up for each line, since live bars replace it while they are drawn."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")
        sys.stderr.flush()


class _Harmless(logging.Formatter):
    """Lines in which nothing gives a terminal orders."""

    def format(self, record: logging.LogRecord) -> str:
        return escaped(super().format(record))


def _on_standard_error(*, verbose: bool, quiet: bool) -> logging.Handler:
    handler = _StandardError()
    handler.setFormatter(_Harmless("%(message)s"))
    if verbose:
        handler.setLevel(logging.DEBUG)
        return handler
    handler.setLevel(logging.WARNING if quiet else logging.INFO)
    # What the packages below tell of single requests is for --verbose.
    handler.addFilter(lambda it: it.name == _OWN.name or it.levelno >= logging.WARNING)
    return handler


def _into(path: Path) -> logging.Handler:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OutputUnwritable(
            f"The log file {path} cannot be written: {error.strerror}; choose another --log-file"
        ) from None
    line = "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s"
    lines = _Harmless(line, datefmt="%Y-%m-%dT%H:%M:%S")
    lines.converter = time.gmtime
    handler.setFormatter(lines)
    return handler


def _one_line(message: str) -> str:
    return " ".join(message.split())
