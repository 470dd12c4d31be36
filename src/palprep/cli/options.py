"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.cli.durations import seconds
from palprep.cli.sizes import size_bytes
from palprep.vocabulary import Role

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Files; or folders, of which all images, audio and videos are read.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Files to work on at once.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        parser=seconds,
        metavar="DURATION",
        help="Give a file up after this long: 90s, 10m. By default 5 minutes, and 10 seconds more "
        "for each second that it lasts.",
    ),
]
MemoryLimit = Annotated[
    int | None,
    typer.Option(
        "--memory-limit",
        parser=size_bytes,
        metavar="SIZE",
        help="Give a file up that takes more memory: 500MB, 2GiB. By default 6GiB.",
    ),
]
AsRole = Annotated[
    Role | None,
    typer.Option("--as", help="What the file is for. Without it, the content decides."),
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
        "--name", help="Full name of the speaker: also verify that they say the consent statement."
    ),
]
Statement = Annotated[
    Path | None,
    typer.Option(
        "--statement", help="Your own statement: a text or TOML file that says {full_name}."
    ),
]
Language = Annotated[str, typer.Option("--language", help="Language of the statement, ISO 639-1.")]
WhisperModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        envvar="PALPREP_WHISPER_MODEL",
        help="Your own model that listens first for consent: the folder of a Whisper model for "
        "CTranslate2.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output, and nothing else.")
]
