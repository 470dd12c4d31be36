"""Work that is told to stop, and not broken off."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest
from interrupting import require_survives

from palprep.batch.execution import ending_in_order
from palprep.batch.work.context import Stop

PROGRAM = """
    import concurrent.futures, sys, threading
    from interrupting import attack
    from palprep.batch.execution import ending_in_order
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
                        if stop.is_set:
                            raise KeyboardInterrupt
                        threads.submit(changed.set)
                        changed.wait(0.25)
                        changed.clear()
            finally:
                ended.set()

        with ending_in_order(stop):
            steps()

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
    require_survives(PROGRAM, handler, "300")


def _defect() -> None:
    raise ValueError("a defect")


def _interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def _do(stop: Stop, *steps: Callable[[], object]) -> None:
    with ending_in_order(stop):
        for step in steps:
            step()


def test_what_the_work_raises_goes_before_the_interruption() -> None:
    stop = Stop()
    with pytest.raises(ValueError, match="a defect"):
        _do(stop, _defect)
    assert not stop.is_set
    with pytest.raises(ValueError, match="a defect"):
        _do(stop, _interrupt, _defect)
    assert stop.is_set


def test_told_to_stop_it_raises_what_ctrl_c_raises() -> None:
    stop, done = Stop(), []

    def end() -> None:
        assert stop.is_set
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _do(stop, _interrupt, end, lambda: done.append("more"))
    assert not done


def test_the_first_signal_waits_for_the_end_and_the_second_does_not() -> None:
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt):
        _do(Stop(), _interrupt, lambda: done.append("the rest of the work"))
    with pytest.raises(KeyboardInterrupt):
        _do(Stop(), _interrupt, _interrupt, lambda: done.append("nothing more"))
    assert done == ["the rest of the work"]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="POSIX alone has it")
def test_a_signal_of_the_programs_own_waits_for_the_end_too() -> None:
    """Such as the alarm of a limit of time."""

    def too_late(*_: object) -> None:
        raise TimeoutError

    before, done = signal.signal(signal.SIGUSR1, too_late), []
    try:
        with pytest.raises(TimeoutError):
            _do(Stop(), lambda: signal.raise_signal(signal.SIGUSR1), lambda: done.append("more"))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert done == ["more"]


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Also where the tests themselves run under `nohup`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
