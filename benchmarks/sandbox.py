"""Requests per second of the sandbox next to other local mock services, in one run.

    python benchmarks/sandbox.py --moto /path/to/moto_server --prism /path/to/prism
    python benchmarks/sandbox.py --earlier /path/to/another/checkout

Each server runs as its own process; eight connections are kept alive and always busy. Rounds
alternate between the servers, so that whatever else the machine does hits all of them, and
the medians are compared. The servers' own processor time per request (Linux) says the same on
a machine that is busy with other things.

The sandbox writes every request to its log and keeps its records in a data folder; moto
(DynamoDB's GetItem and PutItem, its nearest to reading and creating one record) keeps them in
memory; prism makes its answers up from the sandbox's own OpenAPI document. Servers that are
not given are left out; an earlier checkout of palprep is served by the same interpreter. To
install the others somewhere for the purpose: `pip install 'moto[server]'` in a virtual
environment, `npm install @stoplight/prism-cli`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONNECTIONS = 8
HEADERS = {"x-api-key": "sandbox-user-key", "Content-Type": "application/json"}
VOICE = {"voice_name": "Ada", "training_audio_url": "http://127.0.0.1:1/a.wav"}
CHECKOUT = Path(__file__).resolve().parents[1]
SERVE = (
    "import sys; from palprep.sandbox import Sandbox; from palprep.serving import until_signalled\n"
    "with Sandbox(sys.argv[1], port=int(sys.argv[2])), until_signalled() as stop: stop.wait()"
)
AWS = (
    "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=none"
)


@dataclass(frozen=True)
class Peer:
    """A running server, and the request bytes of its two operations by a running number."""

    name: str
    process: int
    port: int
    read: Callable[[int], bytes]
    create: Callable[[int], bytes]


def request(method: str, path: str, headers: dict[str, str], body: object = None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if content:
        lines += [f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


async def connection(
    peer: Peer, make: Callable[[int], bytes], numbers: Iterator[int], until: float
) -> int:
    """How many requests one connection got answered with a 2xx before ``until``."""
    reader, writer = await asyncio.open_connection("127.0.0.1", peer.port)
    done = 0
    while time.perf_counter() < until:
        writer.write(make(next(numbers)))
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        body = await reader.readexactly(length)
        if not 200 <= status < 300:
            raise SystemExit(f"{peer.name} answered {status}: {body[:300]!r}")
        done += 1
        if b"connection: close" in head.lower():
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", peer.port)
    writer.close()
    return done


async def load(
    peer: Peer, make: Callable[[int], bytes], numbers: Iterator[int], seconds: float
) -> float:
    """Requests per second over all connections."""
    started = time.perf_counter()
    until = started + seconds
    counts = await asyncio.gather(
        *(connection(peer, make, numbers, until) for _ in range(CONNECTIONS))
    )
    return sum(counts) / (time.perf_counter() - started)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def processor_seconds(process: int) -> float:
    """What the process has used so far, in user and kernel mode; NaN where /proc is not."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running(command: list[str], port: int, source: Path | None = None) -> Iterator[int]:
    """The server process's id, once its port accepts connections. Python code is looked for in
    ``source`` first."""
    environment = {**os.environ, **({"PYTHONPATH": str(source)} if source else {})}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{command[0]} did not start")
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def call(
    port: int, method: str, path: str, headers: dict[str, str], body: object
) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}{path}"
    content = None if body is None else json.dumps(body).encode()
    made = urllib.request.Request(url, content, headers, method=method)
    with urllib.request.urlopen(made) as reply:  # noqa: S310
        parsed: dict[str, Any] = json.load(reply)
        return parsed


def tool(number: int) -> dict[str, object]:
    return {
        "name": f"tool_{number}",
        "description": "Looks up an order by its number.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
    }


def sandbox_peer(name: str, process: int, port: int, voice_id: str) -> Peer:
    read = request("GET", f"/v2/voices/{voice_id}", HEADERS)
    return Peer(
        name,
        process,
        port,
        lambda _: read,
        lambda n: request("POST", "/v2/tools", HEADERS, tool(n)),
    )


def moto_peer(process: int, port: int) -> Peer:
    def headers(operation: str) -> dict[str, str]:
        return {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": AWS,
        }

    def item(number: int) -> dict[str, object]:
        members = {name: {"S": json.dumps(value)} for name, value in tool(number).items()}
        return {"TableName": "tools", "Item": members | {"id": {"S": f"t{number}"}}}

    table = {
        "TableName": "tools",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    call(port, "POST", "/", headers("CreateTable"), table)
    call(port, "POST", "/", headers("PutItem"), item(0))
    key = {"TableName": "tools", "Key": {"id": {"S": "t0"}}}
    read = request("POST", "/", headers("GetItem"), key)
    return Peer(
        "moto",
        process,
        port,
        lambda _: read,
        lambda n: request("POST", "/", headers("PutItem"), item(n)),
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--moto", type=Path, help="the moto_server program")
    options.add_argument("--prism", type=Path, help="the prism program")
    options.add_argument("--earlier", type=Path, help="a checkout of an earlier palprep")
    options.add_argument("--seconds", type=float, default=3.0, help="per measurement")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        document = folder / "openapi.json"
        peers = []
        for name, checkout in (("palprep sandbox", CHECKOUT), ("earlier sandbox", given.earlier)):
            if checkout is not None:
                port = free_port()
                command = [sys.executable, "-c", SERVE, str(folder / name), str(port)]
                process = stack.enter_context(running(command, port, checkout / "src"))
                voice_id = call(port, "POST", "/v2/voices", HEADERS, VOICE)["voice_id"]
                peers.append(sandbox_peer(name, process, port, voice_id))
        described = json.dumps(call(peers[0].port, "GET", "/openapi.json", HEADERS, None))
        document.write_text(described)
        if given.moto:
            moto_port = free_port()
            command = [str(given.moto), "-H", "127.0.0.1", "-p", str(moto_port)]
            process = stack.enter_context(running(command, moto_port))
            peers.append(moto_peer(process, moto_port))
        if given.prism:
            prism_port = free_port()
            command = [str(given.prism), "mock", "-h", "127.0.0.1", "-p", str(prism_port)]
            process = stack.enter_context(running([*command, str(document)], prism_port))
            peers.append(sandbox_peer("prism", process, prism_port, voice_id))
        measure(peers, rounds=given.rounds, seconds=given.seconds)


def measure(peers: list[Peer], *, rounds: int, seconds: float) -> None:
    numbers = itertools.count(1)
    for operation in ("read", "create"):
        rates: dict[str, list[float]] = {peer.name: [] for peer in peers}
        costs: dict[str, list[float]] = {peer.name: [] for peer in peers}
        for _ in range(rounds):
            for peer in peers:
                before = processor_seconds(peer.process)
                rate = asyncio.run(load(peer, getattr(peer, operation), numbers, seconds))
                rates[peer.name].append(rate)
                used = processor_seconds(peer.process) - before
                costs[peer.name].append(1e6 * used / (rate * seconds))
        ours = statistics.median(rates[peers[0].name])
        for peer in peers:
            rate = statistics.median(rates[peer.name])
            print(
                f"{operation:7} {peer.name:16} {rate:7.0f} requests/s"
                f" {statistics.median(costs[peer.name]):6.0f} us of processor each"
                f"   sandbox's rate to this one's {ours / rate:5.2f}"
            )


if __name__ == "__main__":
    main()
