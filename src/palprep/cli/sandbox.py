"""palprep sandbox: the service on loopback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palprep.cli.options import MemoryLimit, TimeLimit, WhisperModel

if TYPE_CHECKING:
    from palprep.sandbox import Sandbox

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
        Literal["loopback", "anywhere"],
        typer.Option(help="Where media, callbacks and tools may be."),
    ] = "loopback",
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
        Literal["real", "virtual"],
        typer.Option(help="virtual: time moves only by POST /_sandbox/clock."),
    ] = "real",
    trainer: Annotated[
        Literal["media", "bytes"],
        typer.Option(help="media: palprep's checks, and consent heard. bytes: first bytes only."),
    ] = "media",
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

    from palprep.batch import judges_in
    from palprep.cli.files import limits_of
    from palprep.consent import read_statement, require_model, required_statement
    from palprep.errors import UsageError
    from palprep.journal import SandboxStatement
    from palprep.preflight import media_workers
    from palprep.sandbox import DEFAULT_KEYS, Sandbox as Service, parse_choices, serve
    from palprep.workers import usable_cores

    try:
        records = json.loads(seed.read_bytes()) if seed else None
    except (OSError, ValueError) as error:
        raise UsageError(f"The seed {seed} cannot be read: {error}") from None
    required = SandboxStatement(
        text=read_statement(statement) if statement else required_statement(),
        model=model and require_model(model),
    )
    # They start when there is something to judge.
    engine = media_workers(usable_cores(), limits=limits_of(time_limit, memory_limit))
    judge_image, media_trainer = judges_in(engine, (required,))
    service = Service(
        data=data,
        port=port,
        host=host,
        api_keys=api_key or DEFAULT_KEYS,
        clock=clock,
        faults=faults,
        judge_image=judge_image,
        trainer=media_trainer,
        choices=parse_choices(
            choice or (),
            trainer="bytes" if trainer == "bytes" else "given",
            outbound=outbound,
        ),
        seed=records,
    )
    with engine:
        serve(service, announce=_announced(service, own=bool(api_key), as_json=print_json))


def _announced(service: Sandbox, *, own: bool, as_json: bool) -> Callable[[str], None]:
    """Prints where it answers, for programs as one line of JSON; and the keys, unless they are the
    caller's own.
    """

    def announce(line: str) -> None:
        import json

        from palprep.sandbox import SERVICE_KEY, USER_KEY

        # typer flushes: programs wait for the first line.
        if as_json:
            keys = dict.fromkeys(service.keys()) if own else service.keys()
            typer.echo(json.dumps({"url": service.url, **keys}))
            return
        typer.echo(line)
        if not own:
            typer.echo(f"PALPREP_API_KEY={USER_KEY} ({SERVICE_KEY} is not user-scoped)")

    return announce
