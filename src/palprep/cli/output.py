"""The output of commands, harmless to a terminal. Results go to standard output. Everything else
goes through the logger ``palprep.cli`` to standard error, with --verbose also the packages' logs.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from palprep import storage
from palprep.errors import OutputUnwritable, UsageError
from palprep.escaping import escaped, escaped_json

if TYPE_CHECKING:
    from rich.console import RenderableType


_ROOT = logging.getLogger("palprep")
_OWN = logging.getLogger("palprep.cli")
_LIBRARIES = logging.getLogger("py.warnings")

_FIELDS = "palprep_fields"

_LEAST_WIDTH = 48
"""In a narrower table the column of sentences would break every word."""
_WIDTH_ELSEWHERE = 140
"""Columns in a file or a pipe, unless COLUMNS is set."""

_NAMED = 3
"""The most paths that a printed command repeats."""


SAME = "run the same command again"
WAIVE = "Or let `palprep run --without-consent` waive it."


def print_json(value: Mapping[str, Any]) -> None:
    """One object on one line in UTF-8, flushed, so that a pipe sees each as it is made."""
    _write_json(f"{_json(value)}\n")


def print_json_of_many(
    value: Mapping[str, Any], name: str, many: Iterable[Mapping[str, Any]]
) -> None:
    """As :func:`print_json`, with a last field ``name``, the list of ``many``. Each item is written
    before the next one is made."""
    _write_json(f"{_json(value)[:-1]}, {_json(name)}: [")
    for number, each in enumerate(many):
        _write_json(f"{', ' if number else ''}{_json(each)}")
    _write_json("]}\n")


def _json(value: object) -> str:
    return escaped_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _write_json(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def is_watched() -> bool:
    """Whether standard error is a terminal on which lines can be redrawn. rich itself would take
    any output for one if FORCE_COLOR is set."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}


def print_line(text: object) -> None:
    """A line on standard output, flushed: a program may be waiting for it."""
    sys.stdout.write(f"{escaped(str(text))}\n")
    sys.stdout.flush()


def print_error(message: str, *details: str) -> None:
    """One line on standard error, and one for each detail."""
    first, *others = (escaped(_one_line(each)) for each in (message, *details))
    with suppress(OSError):  # The exit code says it, too.
        sys.stderr.write("".join((f"palprep: {first}\n", *(f"  {each}\n" for each in others))))


def show(renderable: RenderableType) -> None:
    from palprep.views.terminal import SafeConsole

    console = SafeConsole(highlight=False)
    console.width = max(console.width, _LEAST_WIDTH)
    if console.is_terminal:
        console.print(renderable)
        return
    if not os.environ.get("COLUMNS", "").strip("0").isdigit():
        console.width = _WIDTH_ELSEWHERE
    with console.capture() as captured:
        console.print(renderable)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    sys.stdout.flush()


def tell(message: str, **fields: str | None) -> None:
    """One line for the user, unless --quiet is given. ``fields`` are for readers of JSON lines."""
    _OWN.info("%s", message, extra={_FIELDS: fields})


def tell_detail(message: str, **fields: str | None) -> None:
    """As :func:`tell`, with --verbose only."""
    _OWN.debug("%s", message, extra={_FIELDS: fields})


def tell_warning(message: str) -> None:
    """One line that --quiet does not hide."""
    _OWN.warning("%s", message)


def paths_in_shell(paths: Sequence[Path]) -> str:
    """Paths quoted for a shell; ``PATH...`` for many, or for a name that cannot be shown."""
    # A name that begins with a dash would be taken for an option.
    named = [f"./{each}" if f"{each}".startswith("-") else f"{each}" for each in paths]
    shown = len(named) <= _NAMED and all(map(str.isprintable, named))
    return shlex.join(named) if shown else "PATH..."


@contextmanager
def telling(
    *,
    verbose: bool = False,
    quiet: bool = False,
    log_file: Path | None = None,
    log_format: Literal["text", "json"] = "text",
) -> Iterator[None]:
    """Inside the block, lines for the user go to standard error and the log file. Raises UsageError
    for --verbose together with --quiet, OutputUnwritable for a file that cannot be written."""
    if verbose and quiet:
        raise UsageError("Give --verbose or --quiet, not both")
    handlers: list[logging.Handler] = [_on_standard_error(verbose=verbose, quiet=quiet)]
    if log_file is not None:
        handlers.append(_into(log_file))
    if log_format == "json":
        for handler in handlers:
            handler.setFormatter(_JsonLine())
    level = _ROOT.level
    _ROOT.setLevel(logging.DEBUG)
    for handler in handlers:
        _ROOT.addHandler(handler)
        _LIBRARIES.addHandler(handler)
    try:
        yield
    finally:
        _ROOT.setLevel(level)
        for handler in handlers:
            _ROOT.removeHandler(handler)
            _LIBRARIES.removeHandler(handler)
            handler.close()


class _StandardError(logging.Handler):
    """Looks standard error up for each line, since live bars replace it while they are drawn. Where
    it takes no more, as on a full disk, the work goes on."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()


class _LogFile(logging.FileHandler):
    """Reports once that the disk refuses it, and lets the work go on."""

    _told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._told:
            self._told = True
            print_error(f"The log file {self.baseFilename} cannot be written: {error.strerror}")

    def close(self) -> None:
        with suppress(OSError):
            super().close()


class _Harmless(logging.Formatter):
    """A message on one line, and nothing that gives a terminal orders."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- logging's
        return _one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return escaped(super().format(record))


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        head = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        fields = {name: said for name, said in getattr(record, _FIELDS, {}).items() if said}
        message = {"message": _one_line(record.getMessage())}
        if record.exc_info:
            message["traceback"] = self.formatException(record.exc_info)
        return escaped_json(json.dumps({**head, **message, **fields}, ensure_ascii=False))


def _on_standard_error(*, verbose: bool, quiet: bool) -> logging.Handler:
    handler = _StandardError()
    handler.setFormatter(_Harmless("%(message)s"))
    if not verbose:
        handler.setLevel(logging.WARNING if quiet else logging.INFO)
        # Lines of the packages below and of libraries are for --verbose.
        handler.addFilter(lambda it: it.name == _OWN.name or it.levelno >= logging.WARNING)
        handler.addFilter(lambda it: it.name != _LIBRARIES.name)
    return handler


def _into(path: Path) -> logging.Handler:
    try:
        storage.private_folder(path.parent)
        storage.private_file(path)
        handler = _LogFile(path, encoding="utf-8", errors="backslashreplace")
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
    # Names of files keep their spaces.
    return " ".join(filter(None, map(str.strip, message.splitlines())))
