"""What the client costs next to bare httpx, on loopback.

    python benchmarks/api.py [--calls N] [--uploads N] [--json]

``call``: one GET of a voice, the median of many, palprep's client against bare httpx with
the same connection and the same reply. ``upload``: a validation of a 21 MiB image, against
bare httpx posting the body built beforehand; and the memory that each needs at its peak.
The server is a minimal one in a process of its own, so that its work is not measured.
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
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from palprep.client import Client
from side_by_side import Spent, turns

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


def median_s(runs: list[Spent]) -> float:
    """Seconds by the clock."""
    return statistics.median(run.wall for run in runs)


def peak(run: Callable[[], object]) -> int:
    """Bytes that ``run`` allocates at its peak, beyond what was there before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure_calls(url: str, times: int) -> dict[str, float]:
    headers = {"x-api-key": "k", "user-agent": "palprep"}
    with (
        Client(api_key="k", base_url=url, trust_env=False) as client,
        httpx.Client(base_url=url, headers=headers, trust_env=False) as bare,
    ):

        def bare_call() -> Any:
            return bare.get("/v2/voices/v1").raise_for_status().json()

        def our_call() -> Any:
            return client.voices.get("v1")

        turns(200, bare_call, our_call)
        theirs, ours = map(median_s, turns(times, bare_call, our_call))
    return {"bare_us": theirs * 1e6, "palprep_us": ours * 1e6, "ratio": ours / theirs}


def measure_upload(url: str, times: int, image: Path) -> dict[str, float]:
    body = json.dumps(
        {"imageBase64": base64.b64encode(image.read_bytes()).decode(), "mimeType": "image/jpeg"}
    ).encode()
    headers = {"x-api-key": "k", "content-type": "application/json"}
    with (
        Client(api_key="k", base_url=url, trust_env=False) as client,
        httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as bare,
    ):

        def bare_call() -> Any:
            reply = bare.post("/v2/faces/image-validation", content=body)
            return reply.raise_for_status().json()

        def our_call() -> Any:
            return client.faces.validate_image(image)

        turns(2, bare_call, our_call)
        theirs, ours = map(median_s, turns(times, bare_call, our_call))
        return {
            "bare_prebuilt_ms": theirs * 1e3,
            "palprep_ms": ours * 1e3,
            "ratio": ours / theirs,
            "palprep_peak_mib": peak(our_call) / MIB,
            "prebuilt_body_mib": len(body) / MIB,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--uploads", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}"
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "large.jpg"
        image.write_bytes(b"\xff\xd8\xff\xe0" + os.urandom(21 * MIB - 4))
        found = {
            "call": measure_calls(url, options.calls),
            "upload": measure_upload(url, options.uploads, image),
        }
    server.terminate()
    if options.json:
        json.dump(found, sys.stdout)
        return
    for name, figures in found.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key:<18} {value:10.2f}")


if __name__ == "__main__":
    main()
