"""palprep listen: callbacks into a journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from palprep.callbacks.server import Delivery


EXAMPLES = ("palprep listen --journal palprep-out --public-url https://hooks.example",)


def listen(
    journal: Annotated[
        Path, typer.Option("--journal", help="The output folder of a run.", show_default=False)
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8701,
    public_url: Annotated[
        str | None,
        typer.Option(help="How the service reaches this port: a tunnel's or proxy's address."),
    ] = None,
) -> None:
    """Receive the service's callbacks into the journal of a run, until Ctrl-C.

    Prints the secret address to give as callback_url.
    """
    from palprep.journal.inbox import listen as receive

    def ready(address: str) -> None:
        typer.echo(f"palprep listens on {address}")

    def arrived(delivery: Delivery) -> None:
        kind = type(delivery.event).__name__ if delivery.event else "unknown event"
        typer.echo(f"{kind}: {delivery.body}")

    receive(
        journal,
        host=host,
        port=port,
        public_url=public_url,
        on_ready=ready,
        on_delivery=arrived,
    )
