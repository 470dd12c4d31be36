"""palprep sandbox: the service on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from palprep import batch, consent, preflight, sandbox as service, serving, workers
from palprep.cli import options
from palprep.cli.files import limits_of
from palprep.consent import wording
from palprep.errors import UsageError
from palprep.journal import entries

EXAMPLES = ("palprep sandbox", "palprep sandbox --port 0 --data state --clock virtual")


def sandbox(
    host: Annotated[str, typer.Option(help="A loopback address.")] = "127.0.0.1",
    port: options.Port = 8700,
    data: Annotated[
        Path | None, typer.Option(help="Folder that keeps the state; without it, memory.")
    ] = None,
    api_key: Annotated[
        list[str] | None,
        typer.Option(
            # PALPREP_API_KEY is that of the service.
            envvar="PALPREP_SANDBOX_API_KEY",
            help="A user-scoped key, instead of sandbox-user-key and sandbox-service-key.",
        ),
    ] = None,
    faults: Annotated[Path | None, typer.Option(help="Script of faults, JSON.")] = None,
    seed: Annotated[Path | None, typer.Option(help="Records to start with, JSON.")] = None,
    choice: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Another value for what GET /_sandbox/choices lists; may be given again.",
        ),
    ] = None,
    print_json: Annotated[
        bool,
        typer.Option("--print-json", help="Say where it answers as JSON: {url, user_key, ...}."),
    ] = False,
    clock: Annotated[
        Literal["real", "virtual"],
        typer.Option(help="virtual: time moves only by POST /_sandbox/clock."),
    ] = "real",
    statement: Annotated[
        Path | None,
        typer.Option(help="The statement of consent that trainings need, {full_name} in it."),
    ] = None,
    model: options.WhisperModel = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
) -> None:
    """Prints its address, and then its keys."""
    try:
        records = json.loads(seed.read_bytes()) if seed else None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"The seed {seed} cannot be read: {error}") from None
    required = entries.SandboxStatement(
        text=wording.read_statement(statement) if statement else wording.required_statement(),
        model=model and consent.require_model(model),
    )
    # Its workers start when there is something to judge.
    engine = preflight.media_workers(
        workers.usable_cores(), limits=limits_of(time_limit, memory_limit)
    )
    served = batch.judging_in(engine, (required,))(
        data=data,
        port=port,
        host=host,
        api_keys=api_key or service.DEFAULT_KEYS,
        clock=clock,
        faults=faults,
        choices=service.parse_choices(choice or ()),
        seed=records,
    )

    # typer flushes: programs wait for the first line.
    with engine, served, serving.until_signalled() as stop:
        if print_json:
            names = {"user_key": service.USER_KEY, "service_key": service.SERVICE_KEY}
            keys = dict.fromkeys(names) if api_key else names
            typer.echo(json.dumps({"url": served.url, **keys}))
        else:
            typer.echo(f"palprep sandbox ready on {served.url}")
            if not api_key:
                note = f"({service.SERVICE_KEY} is not user-scoped)"
                typer.echo(f"PALPREP_API_KEY={service.USER_KEY} {note}")
        stop.wait()
        engine.close(at_once=True)  # Or the sandbox would wait for its judge to finish.
