"""palprep listen: callbacks into a journal."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from palprep import callbacks, journal as journals, rules, serving
from palprep.cli import options
from palprep.cli.files import require_there
from palprep.cli.output import print_line, tell, telling

EXAMPLES = ("palprep listen --journal palprep-out --public-url https://hooks.example",)


def listen(
    journal: Annotated[
        Path, typer.Option("--journal", help="The output folder of a run.", show_default=False)
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8701,
    public_url: Annotated[
        str | None,
        typer.Option(help="How the service reaches this port: a tunnel's or proxy's address."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Receive the service's callbacks into the journal of a run, until Ctrl-C.

    Prints the secret address to give as callback_url.
    """
    require_there(journal)
    received = 0

    def arrived(delivery: callbacks.Delivery) -> None:
        nonlocal received
        received += 1
        kind = type(delivery.event).__name__ if delivery.event else "unknown event"
        print_line(f"{kind}: {delivery.body}")

    with telling(quiet=quiet), serving.until_signalled() as stop:
        with (
            journals.Journal.of(journal) as opened,
            journals.callback_server(
                opened, host=host, port=port, public_url=public_url, then=arrived
            ) as server,
        ):
            print_line(f"palprep listens on {server.url_for()}")
            stop.wait()
        tell(
            f"{rules.counted(received, 'callback', 'callbacks')} received. "
            f"Next: palprep report {shlex.quote(str(journal))}"
        )
