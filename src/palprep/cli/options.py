"""Arguments and options that several commands share, and how their values are written."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from palprep.cli.output import telling
from palprep.errors import UsageError
from palprep.storage import CLOUDS
from palprep.vocabulary import Role

FOR_EVER = math.inf

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_BYTES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_LONGEST_S = 3.2e9
"""A hundred years: dates and timers take no longer duration."""


def seconds(text: str) -> float:
    """The seconds of a duration: 90, 90s, 15m, 4h or 2d. Raises BadParameter for anything else, and
    for more than a hundred years."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip().lower())
    length = float(found[1]) * _SECONDS[found[2]] if found else math.inf
    if length > _LONGEST_S:
        raise typer.BadParameter(f"{text!r} is no duration: write 90s, 15m, 4h or 2d")
    return length


def size_bytes(text: str) -> int:
    """The bytes of a size above 0: 800000, 500MB or 2GiB. Raises BadParameter for anything else,
    and for more than a system counts (2**63)."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)b?", text.strip().lower())
    size = float(found[1]) * _BYTES.get(found[2], 0) if found else 0.0
    if not 1 <= size < 1 << 63:
        raise typer.BadParameter(f"{text!r} is no size: write 500MB or 2GiB")
    return int(size)


def waiting_time(wait: float | None, *, no_wait: bool, otherwise: float) -> float:
    """Seconds to wait. Raises UsageError where both options are given."""
    if wait is not None and no_wait:
        raise UsageError("Give --wait or --no-wait, not both")
    if no_wait:
        return 0.0
    return otherwise if wait is None else wait


Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH", help="Files; or folders: all images, audio and videos in them are read."
    ),
]
Output = Annotated[
    Path, typer.Argument(metavar="DIR", help="The output folder of a run.", show_default=False)
]
Person = Annotated[
    str,
    typer.Argument(help="The name of the person's folder, or the full name.", show_default=False),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", envvar="PALPREP_JOBS", metavar="N", min=1, help="Files to work on at once."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        parser=seconds,
        metavar="DURATION",
        help="Give up a file after so much processor time: 90s, 10m. By default 5 minutes, and 20 "
        "seconds more for each second of audio or video.",
    ),
]
MemoryLimit = Annotated[
    int | None,
    typer.Option(
        parser=size_bytes,
        metavar="SIZE",
        help="Give up a file that takes more memory than this: 500MB, 2GiB. By default 6GiB.",
    ),
]
AsRole = Annotated[
    Role | None, typer.Option("--as", help="What the file is for. Without it, the content decides.")
]
ProfileName = Annotated[
    str,
    typer.Option(
        "--profile", "-p", help="The limits to judge by: core-4, core-4.5, core-3, or a TOML file."
    ),
]
SpeakerName = Annotated[
    str | None,
    typer.Option(
        "--full-name",
        "--name",
        help="Full name of the speaker: also verify that they say the consent statement.",
    ),
]
SpokenAs = Annotated[
    str | None,
    typer.Option(
        help="How the name sounds, in Latin letters: Wang Wei for 王伟, Shivawn O Breen for "
        "Siobhán Ó Briain."
    ),
]
Statement = Annotated[
    Path | None, typer.Option(help="Your own statement: a text file that says {full_name}.")
]
Language = Annotated[str, typer.Option(help="Language of the statement, ISO 639-1.")]
ReadersLanguage = Annotated[
    str,
    typer.Option(
        "--language",
        help="Language of what people read, ISO 639-1; the statement keeps its own.",
    ),
]
WhisperModel = Annotated[
    Path | None,
    typer.Option(
        "--whisper-model",
        "--model",
        envvar="PALPREP_WHISPER_MODEL",
        help="Your own model that listens first for consent: the folder of a converted Whisper "
        "model.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output, and nothing else.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also print every step, and why it is taken.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
LogFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also append everything, with times, to this file."),
]
LogFormatting = Annotated[
    Literal["text", "json"],
    typer.Option("--log-format", help="Messages and the log file as text or as JSON lines."),
]

BUCKET_HELP = " ".join(f"{cloud.example}: set {cloud.credentials}." for cloud in CLOUDS)

PublishTo = Annotated[
    str | None,
    typer.Option(
        envvar="PALPREP_PUBLISH_TO",
        metavar="URL",
        help=f"Bucket the service fetches from. {BUCKET_HELP}",
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        envvar="PALPREP_STORE",
        metavar="URL",
        help="Bucket that carries files to a cluster's workers and back; without it they must see "
        "the same folders.",
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(envvar="PALPREP_BASE_URL", help="The service; without it, an embedded sandbox."),
]
LastBaseUrl = Annotated[
    str | None,
    typer.Option(envvar="PALPREP_BASE_URL", help="The service; without it, that of the last run."),
]
CallbackUrl = Annotated[
    str | None,
    typer.Option(
        envvar="PALPREP_CALLBACK_URL", help="Public address of a running `palprep listen`."
    ),
]
Wait = Annotated[
    float | None,
    typer.Option(
        parser=seconds,
        metavar="DURATION",
        help="How long to wait for trainings when nothing else is left to do: 90s, 15m, 4h.",
    ),
]
Retain = Annotated[
    float | None,
    typer.Option(
        envvar="PALPREP_RETAIN",
        parser=seconds,
        metavar="DURATION",
        help="Remove prepared files, and copies of originals, of those who have been done for this "
        "long: 30d. The journal, dossiers, results and page stay.",
    ),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Wait for no training.")]
RequestRate = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Send at most N requests in a second.")
]


def _told(
    verbose: Verbose = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
    log_format: LogFormatting = "text",
) -> None:
    """The options of every command."""


def spread(function: Callable[..., None], first: Callable[[Any], None]) -> Callable[..., None]:
    """The command as typer reads it: a parameter whose type is a dataclass of options stands for
    its fields, and the options of every command come last. While lines for the user go where these
    say, ``first`` is called with the command of typer, then ``function`` with those that it names.
    """
    own, told = (inspect.signature(each, eval_str=True).parameters for each in (function, _told))
    groups: dict[str, Any] = {n: p.annotation for n, p in own.items() if is_dataclass(p.annotation)}
    fields = {n: inspect.signature(kind, eval_str=True).parameters for n, kind in groups.items()}
    single: dict[str, inspect.Parameter] = {}
    for name, parameter in own.items():
        single |= fields.get(name, {name: parameter})
    single |= {name: each for name, each in told.items() if name not in single}

    def command(context: typer.Context, **given: Any) -> None:
        if given["verbose"] and given["quiet"]:
            for name in ("verbose", "quiet"):
                source = context.get_parameter_source(name)
                given[name] = source is None or source.name != "ENVIRONMENT"
        arguments = {name: given[name] for name in own if name not in groups}
        for name, kind in groups.items():
            arguments[name] = kind(**{field: given[field] for field in fields[name]})
        with telling(**{name: given[name] for name in told}):
            first(context.command)
            function(**arguments)

    of_typer = inspect.signature(command, eval_str=True).parameters["context"]
    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (of_typer, *single.values())
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command
