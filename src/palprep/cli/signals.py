"""SIGTERM and SIGHUP end the work as Ctrl-C does; a second signal ends the process at once."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from palprep.escaping import escaped_line

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """The process was asked to end. ``code`` is its exit code, as shells report the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextmanager
def interruptible(kept: str = "") -> Iterator[None]:
    """While this lasts, the first signal raises Interrupted in the main thread.

    What is under way can then end well. The second signal does not wait for that: the process is
    gone, and its workers end by themselves. Its last line says what is ``kept``, and the command
    that goes on.
    """
    asked: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        if asked:
            _leave(number, kept)
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


def same_command() -> str:
    """The command line that this process was given, as a shell takes it. No option of palprep takes
    a secret.
    """
    return shlex.join(["palprep", *sys.argv[1:]])


def _leave(number: int, kept: str) -> None:
    said = " ".join(filter(None, ("Ended at once.", kept, f"Go on with: {same_command()}")))
    # Workers notice that this process is gone, and end. A terminal that was closed takes no words.
    with contextlib.suppress(OSError):
        os.write(2, f"\n{escaped_line(said)}\n".encode())
    os._exit(128 + number)
