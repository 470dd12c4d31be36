"""What a person costs on a cluster whose workers share nothing but a bucket.

    AWS_ENDPOINT=http://... uv run benchmarks/cluster.py --store s3://BUCKET/PREFIX [--people 8]
                                                         [--only portrait recording video]

A Dask cluster of two workers on this machine prepares people of each kind, and publishes them from
the same bucket to a sandbox. Every file has bytes of its own. Counted are the processor time of the
workers and of the machine of the run, the requests to the bucket, and the bytes both ways: a relay
stands in front of ``AWS_ENDPOINT``. docs/guides/cluster.md reckons with these figures.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, LocalCluster

from palprep.batch import Connection, Pace, RunOptions, run
from palprep.sandbox import Sandbox
from side_by_side import family_cpu_s

SAMPLE = Path(__file__).resolve().parents[1] / "sample_media" / "people" / "jane-carter"
KINDS = {
    "portrait": ("portrait.heic",),
    "recording": ("recording.m4a",),
    "video": ("training.mp4", "consent.mp4"),
}
"""The files of a person. A training video has a consent video with it."""

REQUEST = re.compile(rb"(GET|PUT|HEAD|POST|DELETE) /\S* HTTP/1\.1\r\n")
PIECE = 1 << 16


class Relay:
    """Stands in front of a server: counts the requests to it, and the bytes both ways."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "", parts.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.counted: Counter[str] = Counter()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listening.accept()
            server = socket.create_connection(self._target)
            for ends in ((client, server, "up"), (server, client, "down")):
                threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, to: socket.socket, way: str) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                self.counted[way] += len(piece)
                if way == "up":
                    self.counted.update(f.group(1).decode() for f in REQUEST.finditer(piece))
                to.sendall(piece)
        with contextlib.suppress(OSError):
            to.shutdown(socket.SHUT_WR)


def people(folder: Path, names: tuple[str, ...], count: int, step: str) -> Path:
    """So many people with these files, which differ in a box that no player reads."""
    for number in range(count):
        person = folder / f"person-{number:05}"
        person.mkdir(parents=True)
        settings = (SAMPLE / "person.toml").read_text(encoding="utf-8")
        (person / "person.toml").write_text(f'stock_voice = "anna"\n{settings}', encoding="utf-8")
        for name in names:
            text = f"{step} {number:>10}".encode()
            free = (8 + len(text)).to_bytes(4, "big") + b"free" + text
            (person / name).write_bytes((SAMPLE / name).read_bytes() + free)
    return folder


def spent() -> float:
    """Processor seconds of this process, and of the programs that it has run."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def cost(place: Path, given: Path, relay: Relay, address: str, store: str) -> dict[str, Any]:
    """What one of these people takes, on the average."""
    relay.counted.clear()
    with (
        Client(address) as cluster,
        Sandbox(place / "service", clock="virtual") as service,
    ):
        started, there, here = time.perf_counter(), sum(cluster.run(family_cpu_s).values()), spent()
        seen = run(
            given,
            into=place / "out",
            options=RunOptions(
                connection=Connection(
                    base_url=service.url, api_key=service.user_key, publish_to=store
                ),
                engine=address.replace("tcp://", "dask://"),
                store=store,
                pace=Pace(wait_s=0.0, doubt_wait_s=0.0),
            ),
            tell=lambda _: None,
        )
        used = {
            "workers_cpu_s": sum(cluster.run(family_cpu_s).values()) - there,
            "here_cpu_s": spent() - here,
        }
    count = len(seen.people)
    statuses = Counter(person.status for person in seen.people)
    output = sum(each.stat().st_size for each in (place / "out").rglob("*") if each.is_file())
    return {
        "people": count,
        "statuses": dict(statuses),
        "wall_s": time.perf_counter() - started,
        **{name: value / count for name, value in used.items()},
        "output_here_kib": output / 1024 / count,
        **{name: value / count for name, value in relay.counted.items()},
    }


def main() -> int:
    """Print one line per kind of person."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    arguments = parser.parse_args()
    if "AWS_ENDPOINT" not in os.environ:
        print("Name the bucket's server in AWS_ENDPOINT, plain http", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="palprep-benchmark-") as folder:
        for kind in arguments.only:
            found = measured(Path(folder) / kind, KINDS[kind], arguments.people, arguments.store)
            print(json.dumps({"kind": kind, **found}), flush=True)
    return 0


def measured(place: Path, names: tuple[str, ...], count: int, store: str) -> dict[str, Any]:
    """One kind of person on a fresh cluster, whose workers have loaded their models before."""
    with (
        relayed() as relay,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
    ):
        for step, number in (("first", 2), ("all", count)):
            given = people(place / step / "people", names, number, step)
            where = f"{store}/{place.name}/{step}"
            found = cost(place / step, given, relay, cluster.scheduler_address, where)
        return found


@contextlib.contextmanager
def relayed() -> Iterator[Relay]:
    """The endpoint of the environment behind a relay, for this process and the workers."""
    endpoint = os.environ["AWS_ENDPOINT"]
    relay = Relay(endpoint)
    os.environ["AWS_ENDPOINT"] = relay.url
    try:
        yield relay
    finally:
        os.environ["AWS_ENDPOINT"] = endpoint


if __name__ == "__main__":
    raise SystemExit(main())
