"""Options of the commands that talk to the service on behalf of many people."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from palprep.cli.durations import seconds
from palprep.errors import UsageError
from palprep.storage.clouds import CLOUDS

BUCKET_HELP = " ".join(f"{cloud.example}: set {cloud.credentials}." for cloud in CLOUDS)
"""The buckets' URLs, and the variables of their credentials."""

BaseUrl = Annotated[
    str | None,
    typer.Option(envvar="PALPREP_BASE_URL", help="The service; without it, an embedded sandbox."),
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
        "--wait",
        parser=seconds,
        metavar="DURATION",
        help="How long to wait for trainings once nothing else is left to do: 90s, 15m, 4h.",
    ),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Wait for no training.")]
RequestRate = Annotated[
    int | None,
    typer.Option("--rate", min=1, metavar="N", help="Send at most N requests in a second."),
]

FOR_EVER = math.inf


def waiting_time(wait: float | None, *, no_wait: bool, otherwise: float) -> float:
    """Seconds to wait. Raises UsageError when both are said."""
    if wait is not None and no_wait:
        raise UsageError("Give --wait or --no-wait, not both")
    if no_wait:
        return 0.0
    return otherwise if wait is None else wait
