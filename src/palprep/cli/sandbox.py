"""palprep sandbox: the service on loopback."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.options import MemoryLimit, TimeLimit, WhisperModel

if TYPE_CHECKING:
    from palprep.sandbox import Sandbox


class ClockMode(StrEnum):
    """Whether time moves by itself, or only when told."""

    REAL = "real"
    VIRTUAL = "virtual"


class TrainerName(StrEnum):
    """Who says whether a training succeeds."""

    MEDIA = "media"
    BYTES = "bytes"


class Outbound(StrEnum):
    """Which machines the sandbox may ask."""

    LOOPBACK = "loopback"
    ANYWHERE = "anywhere"


EXAMPLES = (
    "palprep sandbox",
    "palprep sandbox --port 0 --data state --clock virtual",
)


def sandbox(
    host: Annotated[str, typer.Option(help="A loopback address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8700,
    data: Annotated[
        Path | None, typer.Option(help="Folder that keeps the state; without it, memory.")
    ] = None,
    api_key: Annotated[
        list[str] | None,
        typer.Option(
            help="A user-scoped key, instead of sandbox-user-key and sandbox-service-key."
        ),
    ] = None,
    faults: Annotated[Path | None, typer.Option(help="Script of faults, JSON.")] = None,
    seed: Annotated[Path | None, typer.Option(help="Records to start with, JSON.")] = None,
    outbound: Annotated[
        Outbound, typer.Option(help="Where media, callbacks and tools may be.")
    ] = Outbound.LOOPBACK,
    choice: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="What GET /_sandbox/choices lists, decided otherwise; may be given again.",
        ),
    ] = None,
    print_json: Annotated[
        bool,
        typer.Option("--print-json", help="Say where it answers as JSON: {url, user_key, ...}."),
    ] = False,
    clock: Annotated[
        ClockMode, typer.Option(help="virtual: time moves by POST /_sandbox/clock alone.")
    ] = ClockMode.REAL,
    trainer: Annotated[
        TrainerName,
        typer.Option(help="media: palprep's checks, and consent heard. bytes: first bytes only."),
    ] = TrainerName.MEDIA,
    statement: Annotated[
        Path | None,
        typer.Option(help="The statement of consent that trainings need, {full_name} in it."),
    ] = None,
    model: WhisperModel = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Serve the whole interface on loopback, judged by palprep's own checks, until Ctrl-C.

    Prints its address, and then its keys.
    """
    import json
    from functools import partial

    from palprep.batch.sandbox_workers import JUDGE_IMAGE, TRAIN, Apart, RequiredStatement
    from palprep.cli.files_at_work import limits_of
    from palprep.consent.model_folder import require_model
    from palprep.consent.statements import read_statement, required_statement
    from palprep.errors import UsageError
    from palprep.preflight import INSIDE
    from palprep.sandbox import Sandbox as Service
    from palprep.sandbox import serve
    from palprep.sandbox.chosen import chosen
    from palprep.sandbox.keys import DEFAULT_KEYS
    from palprep.workers.engine import usable_cores
    from palprep.workers.local import LocalEngine

    try:
        records = json.loads(seed.read_bytes()) if seed else None
    except (OSError, ValueError) as error:
        raise UsageError(f"The seed {seed} cannot be read: {error}") from None
    required = RequiredStatement(
        text=read_statement(statement) if statement else required_statement(),
        model=model and require_model(model),
    )
    # They start when there is something to judge.
    engine = LocalEngine(
        usable_cores(), limits=limits_of(time_limit, memory_limit), modules=[INSIDE]
    )
    service = Service(
        data=data,
        port=port,
        host=host,
        api_keys=api_key or DEFAULT_KEYS,
        clock=clock.value,
        faults=faults,
        judge_image=Apart(JUDGE_IMAGE, engine),
        trainer=Apart(partial(TRAIN, (required,)), engine),
        choices=chosen(
            choice or (),
            trainer="bytes" if trainer is TrainerName.BYTES else "given",
            outbound=outbound.value,
        ),
        seed=records,
    )
    announce = (
        _announce_json(service, own=bool(api_key))
        if print_json
        else _announce_with_keys(own=bool(api_key))
    )
    with engine:
        serve(service, announce=announce)


def _announce_json(service: Sandbox, *, own: bool) -> Callable[[str], None]:
    """For programs in any language, which read one line and know where to go. A key of the
    caller's own is not shown."""

    def announce(_: str) -> None:
        import json

        keys = dict.fromkeys(service.keys()) if own else service.keys()
        ready = {"url": service.url, **keys}
        typer.echo(json.dumps(ready))  # typer flushes: the reader waits for this line

    return announce


def _announce_with_keys(*, own: bool) -> Callable[[str], None]:
    """For people: the line, then the keys that everybody may know."""

    def announce(line: str) -> None:
        from palprep.sandbox.keys import SERVICE_KEY, USER_KEY

        typer.echo(line)
        if not own:
            typer.echo(f"PALPREP_API_KEY={USER_KEY} ({SERVICE_KEY} is not user-scoped)")

    return announce
