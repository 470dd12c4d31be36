"""Work that is told to stop, and not broken off."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from palprep.batch.execution import do_aside
from palprep.batch.work.context import Stop

SUPPORT = Path(__file__).parents[1] / "support"

PROGRAM = """
    import concurrent.futures, sys, threading
    from interrupting import attack
    from palprep.batch.execution import do_aside
    from palprep.batch.work.context import Stop

    handler, times = sys.argv[1], int(sys.argv[2])
    state = {}

    def work():
        stop, changed, ended = Stop(), threading.Event(), threading.Event()
        begun = threading.Event()
        state["last"] = begun, ended

        def steps():
            begun.set()
            try:
                with concurrent.futures.ThreadPoolExecutor(2) as threads:
                    while True:
                        stop.raise_if_set()
                        threads.submit(changed.set)
                        changed.wait(0.25)
                        changed.clear()
            finally:
                ended.set()

        do_aside(steps, stop)

    def look():
        begun, ended = state.get("last", (None, None))
        # The work of a round that began has ended before anybody hears of the interruption.
        assert begun is None or not begun.is_set() or ended.is_set()
        state["looked"] = state.get("looked", 0) + 1

    attack(work, look, times, handler=handler, within_s=3e-3)
    assert state["looked"] == times, (state["looked"], times)
"""


@pytest.mark.parametrize("handler", ["own", "python"])
def test_an_interruption_at_any_moment_ends_it(handler: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), handler, "300"],
        env={**os.environ, "PYTHONPATH": str(SUPPORT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_what_the_work_raises_is_raised_here() -> None:
    stop, threads = Stop(), []

    def fail() -> None:
        threads.append(threading.get_ident())
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        do_aside(fail, stop)
    assert threads != [threading.get_ident()]
    assert not stop.is_set
    do_aside(lambda: threads.append(0), stop)
    assert threads[1:] == [0]


def test_told_to_stop_it_raises_what_ctrl_c_raises() -> None:
    stop = Stop()
    stop.raise_if_set()
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        do_aside(stop.raise_if_set, stop)
