"""Signals at random moments: run by a test in a process of its own, whose main thread they hit."""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

from palprep.cli.exits import Interrupted

GIVE_UP_S, AGAIN_S = 60.0, 3.0


def raise_interrupted(number: int, _: object) -> None:
    """As the commands of palprep do."""
    raise Interrupted(number)


HANDLERS = {"own": raise_interrupted, "python": signal.default_int_handler}


def attack(
    work: Callable[[], object],
    look: Callable[[], object],
    times: int,
    *,
    handler: str,
    within_s: float,
) -> None:
    """Interrupt ``work`` so many times, each time within so many seconds.

    ``look`` is called in another thread while the interruption is being dealt with, which keeps
    alive what was broken off. Where that hangs, all threads are printed and the process ends.
    """
    faulthandler.dump_traceback_later(GIVE_UP_S, exit=True)
    chance = random.Random(7)  # noqa: S311 -- nothing secret
    signal.signal(signal.SIGINT, HANDLERS[handler])
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    hits = 0
    while hits < times:
        try:
            # Python drops what is raised in a callback of a weak reference: then another one comes.
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(20e-6, within_s), AGAIN_S)
            while True:
                work()
        except KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0)
            hits += 1
            looking = threading.Thread(target=look, daemon=True)
            looking.start()
            looking.join(10)
            if looking.is_alive():
                faulthandler.dump_traceback()
                sys.exit(f"the lock stays held after {hits} interruptions")
    faulthandler.cancel_dump_traceback_later()


def require_survives(program: str, *arguments: str | Path) -> None:
    """Run a program, which attacks something, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
