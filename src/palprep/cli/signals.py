"""SIGTERM and SIGHUP end the work as Ctrl-C does; a second signal ends the process at once."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_AT_ONCE = (
    b"\nEnded at once. A request that was under way may be in doubt: `palprep status` tells.\n"
)


class Interrupted(KeyboardInterrupt):
    """The process was asked to end. ``code`` is its exit code, as shells report the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """While this lasts, the first signal raises Interrupted in the main thread.

    What is under way can then end well. The second signal does not wait for that: the process is
    gone, and its workers end by themselves.
    """
    asked: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        if asked:
            _leave(number)
        asked.append(number)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        # What is ignored stays ignored: that is how `nohup` starts a program.
        signal.signal(number, handler if handler is signal.SIG_IGN else end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int) -> None:
    # Workers notice that this process is gone, and end. A terminal that was closed takes no words.
    with contextlib.suppress(OSError):
        os.write(2, _AT_ONCE)
    os._exit(128 + number)
