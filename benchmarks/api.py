"""What the client costs next to bare httpx, on loopback.

    python benchmarks/api.py [--calls N] [--uploads N] [--only NAME] [--json]

``call``: one GET of a voice, the median of many, palprep's client against bare httpx with
the same connection and the same reply. ``upload``: a validation of a 21 MiB image that is read
and encoded while it is sent, against bare httpx that reads and encodes it, too, as a script
would, and against bare httpx posting the body built beforehand; and the memory that it needs at
its peak. The server is a minimal one in a process of its own, so that
its work is not measured.
"""

from __future__ import annotations

import argparse
import base64
import json
import multiprocessing
import os
import socket
import statistics
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from palprep.client import Client
from side_by_side import Benchmark, Figure, Spent, options, run, turns

MIB = 1024 * 1024
VOICE = json.dumps({"voice_id": "v1", "voice_name": "Ada", "status": "completed", "tags": []})
RESULT = json.dumps({"passed": True, "message": "fine", "checks": [], "details": {}})


def serve(ready: Any) -> None:
    """Answer every request, reading bodies and throwing them away."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ready.send(listener.getsockname()[1])
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=converse, args=(connection,), daemon=True).start()


def converse(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer = bytearray(MIB)
    with connection, connection.makefile("rb") as stream:
        while line := stream.readline():
            length = 0
            while (header := stream.readline().strip().lower()) != b"":
                if header.startswith(b"content-length:"):
                    length = int(header.partition(b":")[2])
            while length:
                length -= stream.readinto(memoryview(buffer)[: min(length, MIB)])
            body = VOICE if line.startswith(b"GET") else RESULT
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())


def middle(runs: list[Spent]) -> Spent:
    """The median by the clock, and the one of processor time."""
    return Spent(statistics.median(r.wall for r in runs), statistics.median(r.cpu for r in runs))


def peak(action: Callable[[], object]) -> int:
    """Bytes that ``action`` allocates at its peak, beyond what was there before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def call(_: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """One short call."""
    headers = {"x-api-key": "k", "user-agent": "palprep"}
    with (
        served() as url,
        Client(api_key="k", base_url=url, trust_env=False) as client,
        httpx.Client(base_url=url, headers=headers, trust_env=False) as bare,
    ):

        def bare_call() -> Any:
            return bare.get("/v2/voices/v1").raise_for_status().json()

        def our_call() -> Any:
            return client.voices.get("v1")

        turns(200, bare_call, our_call)
        theirs, ours = map(middle, turns(arguments.calls, bare_call, our_call))
    yield ours.against(theirs, "call / bare httpx", 1.1)


def upload(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """One large upload."""
    image = folder / "large.jpg"
    image.write_bytes(b"\xff\xd8\xff\xe0" + os.urandom(21 * MIB - 4))

    def built() -> bytes:
        encoded = base64.b64encode(image.read_bytes()).decode()
        return json.dumps({"imageBase64": encoded, "mimeType": "image/jpeg"}).encode()

    beforehand = built()
    headers = {"x-api-key": "k", "content-type": "application/json"}
    with (
        served() as url,
        Client(api_key="k", base_url=url, trust_env=False) as client,
        httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as bare,
    ):

        def posted(body: bytes) -> Any:
            reply = bare.post("/v2/faces/image-validation", content=body)
            return reply.raise_for_status().json()

        def whole_call() -> Any:
            return posted(built())

        def bare_call() -> Any:
            return posted(beforehand)

        def our_call() -> Any:
            return client.faces.validate_image(image)

        calls = (whole_call, bare_call, our_call)
        turns(2, *calls)
        whole, sent, ours = map(middle, turns(arguments.uploads, *calls))
        yield ours.against(whole, "upload of 21 MiB / bare httpx that reads and encodes", 1.15)
        yield ours.against(sent, "upload of 21 MiB / bare httpx with the body at hand", 1.15)
        yield Figure("upload of 21 MiB: peak memory, MiB", peak(our_call) / MIB, 8)


BENCHMARKS: Mapping[str, Benchmark] = {"call": call, "upload": upload}


@contextmanager
def served() -> Iterator[str]:
    """Where the minimal server answers."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        server.terminate()


if __name__ == "__main__":
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--uploads", type=int, default=15)
    sys.exit(run(BENCHMARKS, parser.parse_args()))
