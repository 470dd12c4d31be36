"""Callers who drip, are silent, or do not read, against the receiver of callbacks.

None of them knows the secret path. Meanwhile real callbacks are sent; what is printed is how many
arrive, and how long one takes.

    python -m research.hostile.slow_callers
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from palprep.callbacks import CallbackServer, Delivery

BODY = json.dumps({"voice_id": "v1", "voice_name": "Ada", "status": "completed"}).encode()

Attack = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def writing(first: bytes, again: bytes) -> Attack:
    """Something, and something more twice a second; no answer is read."""

    async def attack(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0.5)

    return attack


async def say_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """An open connection."""
    await reader.read()


ATTACKS: dict[str, Attack] = {
    "nobody": say_nothing,
    "drip heads": writing(b"POST /guess HTTP/1.1\r\nhost: x\r\nx-slow: ", b"a"),
    "drip bodies": writing(
        b"POST /guess HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n", b" "
    ),
    "silent": say_nothing,
    "do not read": writing(b"", b"GET /guess HTTP/1.1\r\nhost: x\r\n\r\n" * 100),
}


async def _attack(host: str, port: int, attack: Attack) -> None:
    """As a caller who comes again at once when cut off."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port, limit=1024)
            try:
                await attack(reader, writer)
            finally:
                writer.close()
        await asyncio.sleep(0.1)


async def _call_back(host: str, port: int, path: str) -> float | None:
    """The seconds until the server said that it has the callback; None when it did not."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(host, port)
            head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(BODY)}\r\n\r\n"
            writer.write(head.encode() + BODY)
            line = await reader.readline()
            writer.close()
    except (OSError, TimeoutError):
        return None
    return time.perf_counter() - began if b" 204 " in line else None


async def trial(url: str, attack: Attack, callers: int, callbacks: int) -> list[float | None]:
    """The seconds that each of some callbacks takes while the callers are there."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    attackers = [asyncio.create_task(_attack(host, port, attack)) for _ in range(callers)]
    await asyncio.sleep(2)
    took = []
    for _ in range(callbacks):
        took.append(await _call_back(host, port, parts.path))
        await asyncio.sleep(0.1)
    for each in attackers:
        each.cancel()
    await asyncio.gather(*attackers, return_exceptions=True)
    return took


def main() -> None:
    """Print a line for each attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, default=300)
    parser.add_argument("--callbacks", type=int, default=100)
    given = parser.parse_args()
    received: list[Delivery] = []
    with CallbackServer(received.append) as server:
        for name, attack in ATTACKS.items():
            received.clear()
            callers = 0 if name == "nobody" else given.callers
            took = asyncio.run(trial(server.url_for("t"), attack, callers, given.callbacks))
            good = [each for each in took if each is not None]
            shown = (
                f"median {statistics.median(good) * 1000:.1f} ms, longest {max(good) * 1000:.1f} ms"
                if good
                else "none answered"
            )
            print(
                f"{name:12} {len(received)} of {len(took)} callbacks arrived, {shown}", flush=True
            )


if __name__ == "__main__":
    main()
