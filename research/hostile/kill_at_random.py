"""Kill a run and the service at random moments, and count what was created twice or lost.

    uv run -m research.hostile.kill_at_random [--kills 200] [--minutes 60] [--people 5] [--seed N]
                                     [--json] [--write]

A round: people with a portrait and a recording each, whose files are prepared; a service without
memory of them; and ``run``, killed again and again (SIGKILL), now and then the service too or
instead. Then both are left alone until everybody is done. A creation in doubt is decided as a
person would decide it: by looking at what the service has. At the end of each round the service's
own database is compared with the journal: every voice and every replica must be there once, under
the id that the journal knows. ``--write`` puts the figures into docs/performance.md.

Nothing is replaced: the run is ``palprep.run`` and the service the sandbox, in processes of their
own, over real sockets and files. Exit status 1 when something was created twice or lost.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import imageio_ffmpeg

from palprep.batch import Connection, Pace, RunOptions, run
from palprep.errors import PalprepError
from palprep.journal import JOURNAL_NAME, Journal
from palprep.journal.creations import Creation, resolve_found, resolve_retry
from palprep.journal.runs import READY, status
from palprep.sandbox import USER_KEY, Choices, Sandbox
from palprep.sandbox.store import Store
from palprep.serving import until_signalled
from research.marked import replace_marked

CHECKOUT = Path(__file__).resolve().parents[2]
JANE = CHECKOUT / "sample_media" / "people" / "jane-carter"

QUICK = Choices(voice_seconds=0.2, replica_seconds=0.3, callback_retry_seconds=(0.3,) * 40)
PACE = Pace(wait_s=30.0, doubt_wait_s=0.2)

KILLS_A_ROUND = 10
MOST_ENTRIES = 25
"""A run is killed at most so many entries of the journal after it began."""

SERVICE_CHANCE, SPARED_CHANCE = 0.25, 0.5
"""Of a moment at which the service is killed; and of the run being left alone then."""

GIVE_UP_S = 5.0
"""A run that waits for a service that is gone is killed then."""

SETTLE_RUNS = 8
"""How often the command may be run until everybody is done, doubts being decided in between."""

_PROCESSES = multiprocessing.get_context("forkserver")


@dataclass
class Tally:
    """What all rounds came to."""

    rounds: int = 0
    run_kills: int = 0
    service_kills: int = 0
    wanted: int = 0
    duplicates: int = 0
    losses: int = 0
    doubts: int = 0
    at: Counter[str] = field(default_factory=Counter)
    """The journal's last entry when a run was killed, by its kind."""

    @property
    def kills(self) -> int:
        """Of both."""
        return self.run_kills + self.service_kills

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return {
            "rounds": self.rounds,
            "kills": {"run": self.run_kills, "service": self.service_kills},
            "wanted": self.wanted,
            "duplicates": self.duplicates,
            "losses": self.losses,
            "doubts": self.doubts,
            "killed_after": dict(self.at.most_common()),
        }


def table(tally: Tally) -> list[str]:
    """The figures in Markdown."""
    figures = (
        *(tally.run_kills, tally.service_kills, tally.wanted),
        *(tally.duplicates, tally.losses, tally.doubts),
    )
    killed_after = ", ".join(f"`{kind}` {times}" for kind, times in tally.at.most_common())
    return [
        "| Kills of the run | of the service | Wanted | Created twice | Lost | In doubt, decided |",
        "|---|---|---|---|---|---|",
        f"| {' | '.join(map(str, figures))} |",
        "",
        f"The last entry of the journal when the run was killed: {killed_after}.",
    ]


class Stage:
    """The folders of one experiment, and its two processes."""

    def __init__(self, place: Path, people: int) -> None:
        self.people, self.into = place / "people", place / "out"
        self._prepared, self._data = place / "prepared", place / "service"
        self._port = _free_port()
        self._service: ForkServerProcess | None = None
        self.connection = Connection(base_url=f"http://127.0.0.1:{self._port}", api_key=USER_KEY)
        recording = place / "recording.wav"
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", JANE / "recording.m4a"]
        subprocess.run([*command, "-t", "16", recording], check=True)
        for number in range(people):
            folder = self.people / f"person-{number}"
            folder.mkdir(parents=True)
            shutil.copy(JANE / "portrait.heic", folder)
            shutil.copy(recording, folder)
            settings = f'name = "Person {number}"\nstock_voice = "anna"\n'
            (folder / "person.toml").write_text(settings)
        run(self.people, into=self.into, options=RunOptions(dry_run=True, jobs=1))
        self.into.rename(self._prepared)

    def begin(self) -> None:
        """A round: everything is prepared, and nothing asked for."""
        for left in (self.into, self._data):
            shutil.rmtree(left, ignore_errors=True)
        shutil.copytree(self._prepared, self.into)

    def serve(self) -> None:
        """Start the service unless it runs, and wait until it answers."""
        if self._service is not None and self._service.is_alive():
            return
        self._service = _PROCESSES.Process(target=_service, args=(self._data, self._port))
        self._service.start()
        give_up = time.monotonic() + 60
        while True:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self._port), 1),
            ):
                return
            if time.monotonic() > give_up:
                raise SystemExit("The service does not start.")
            time.sleep(0.01)

    def end_service(self, *, kill: bool) -> None:
        """End the service, by SIGKILL or as Ctrl-C does."""
        if self._service is not None:
            os.kill(_pid(self._service), signal.SIGKILL if kill else signal.SIGINT)
            self._service.join()
            self._service = None

    def start_run(self) -> ForkServerProcess:
        """``run``, in a process that leads a group of its own."""
        started = _PROCESSES.Process(target=_run, args=(self.people, self.into, self.connection))
        started.start()
        return started

    def entries(self) -> tuple[int, str]:
        """How many entries the journal has, and the kind of the last one."""
        uri = f"{(self.into / JOURNAL_NAME).as_uri()}?mode=ro"
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(uri, uri=True, timeout=5)) as db,
        ):
            row = db.execute("SELECT seq, kind FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
            return row if row is not None else (0, "nothing")
        return 0, "nothing"

    def held(self) -> dict[tuple[str, str], list[str]]:
        """The ids that the service has, by what and by name. The service must have ended."""
        store = Store(self._data / "sandbox.sqlite")
        try:
            found: dict[tuple[str, str], list[str]] = {}
            for what in ("voice", "replica"):
                for record in store.all(what):
                    found.setdefault((what, record[f"{what}_name"]), []).append(
                        record[f"{what}_id"]
                    )
            return found
        finally:
            store.close()


def _service(data: Path, port: int) -> None:
    # A job in the background begins with it ignored, and would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Sandbox(data, port=port, choices=QUICK), until_signalled() as stop:
        stop.wait()


def _run(people: Path, into: Path, connection: Connection) -> None:
    os.setsid()
    with contextlib.suppress(PalprepError):  # The service may be gone.
        options = RunOptions(connection=connection, jobs=1, pace=PACE)
        run(people, into=into, options=options, tell=lambda _: None)


def kill_once(stage: Stage, chance: random.Random, tally: Tally) -> None:
    """Start what does not run, wait for a moment, and kill."""
    stage.serve()
    before, _ = stage.entries()
    started = stage.start_run()
    after = before + chance.randint(1, MOST_ENTRIES)
    while started.is_alive() and stage.entries()[0] < after:
        time.sleep(0.002)
    time.sleep(chance.uniform(0.0, 0.03))
    strikes_service = chance.random() < SERVICE_CHANCE
    if strikes_service:
        stage.end_service(kill=True)
        tally.service_kills += 1
    spared = strikes_service and chance.random() < SPARED_CHANCE
    started.join(GIVE_UP_S if spared else 0)
    if started.is_alive():
        _kill(started)
        tally.run_kills += 1
        tally.at[stage.entries()[1]] += 1
    started.join()


def settle(stage: Stage, tally: Tally) -> None:
    """Run undisturbed until everybody is done, deciding what is in doubt; then count."""
    for _ in range(SETTLE_RUNS):
        stage.serve()
        stage.start_run().join()
        with status(stage.into) as (head, people):
            through = all(each.status in READY for each in people)
        if not head.in_doubt and through:
            break
        stage.end_service(kill=False)
        decide(stage, head.in_doubt, tally)
    stage.end_service(kill=False)
    count(stage, tally)


def decide(stage: Stage, in_doubt: tuple[Creation, ...], tally: Tally) -> None:
    """What a person does: look at the service, and say what is there."""
    held = stage.held()
    with Journal(stage.into / JOURNAL_NAME) as journal:
        for creation in in_doubt:
            tally.doubts += 1
            ids = held.get((creation.what, creation.request[f"{creation.what}_name"]), [])
            if ids:
                resolve_found(journal, creation.key, ids[-1])
            else:
                resolve_retry(journal, creation.key)


def count(stage: Stage, tally: Tally) -> None:
    """Compare the service with the journal."""
    held = stage.held()
    with Journal(stage.into / JOURNAL_NAME) as journal:
        known = {creation.id for creation in journal.creations()}
    for folder in stage.people.iterdir():
        name = folder.name.replace("person-", "Person ")
        for what in ("voice", "replica"):
            ids = held.get((what, name), [])
            tally.wanted += 1
            tally.duplicates += max(0, len(ids) - 1)
            tally.losses += not ids or not known.intersection(ids)
    tally.rounds += 1


def kill_at_random(
    place: Path,
    *,
    kills: int,
    people: int,
    seed: int,
    seconds: float,
    tell: Callable[[Tally], object] = lambda _: None,
) -> Tally:
    """Rounds until there were so many ``kills``, or until ``seconds`` have passed."""
    _PROCESSES.set_forkserver_preload(["palprep.batch.runner", "palprep.sandbox"])
    chance, tally, ends = random.Random(seed), Tally(), time.monotonic() + seconds  # noqa: S311 -- repeatable
    stage = Stage(place, people)
    try:
        while tally.kills < kills and time.monotonic() < ends:
            stage.begin()
            for _ in range(min(KILLS_A_ROUND, kills - tally.kills)):
                kill_once(stage, chance, tally)
            settle(stage, tally)
            tell(tally)
    finally:
        stage.end_service(kill=True)
    return tally


def _kill(process: ForkServerProcess) -> None:
    """The group that it leads, or as long as it leads none, the process alone."""
    try:
        os.killpg(_pid(process), signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def _pid(process: ForkServerProcess) -> int:
    assert process.pid is not None  # noqa: S101 -- it was started
    return process.pid


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    given = parser.parse_args()

    def tell(tally: Tally) -> None:
        print(f"{tally.rounds} rounds, {tally.kills} kills ...", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="palprep-kills-") as place:
        tally = kill_at_random(
            Path(place),
            kills=given.kills,
            people=given.people,
            seed=given.seed,
            seconds=60 * given.minutes,
            tell=tell,
        )
    if given.write:
        replace_marked(CHECKOUT / "docs" / "performance.md", "kills", table(tally))
    if given.json:
        print(json.dumps(tally.to_json()))
    else:
        print(
            f"{tally.run_kills} kills of the run and {tally.service_kills} of the service in "
            f"{tally.rounds} rounds: of {tally.wanted} voices and replicas {tally.duplicates} "
            f"created twice, {tally.losses} lost; {tally.doubts} in doubt and decided."
        )
    return 1 if tally.duplicates or tally.losses else 0


if __name__ == "__main__":
    sys.exit(main())
