"""Work that Ctrl-C cannot break off half-way: it ends by itself once it is told to stop.

Python raises KeyboardInterrupt in the main thread, between any two steps, and in no other one.
Most of ``threading`` is written in Python: an event or a condition that the main thread was about
to wait for would stay locked, and everybody else would wait for it for ever. So the main thread
only waits here, for a lock that is written in C.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable

_LOOK_EVERY_S = 0.25
"""An interruption can take what woke the main thread: it looks by itself, too."""


class Stop:
    """Whether the work is to stop. To set it is a single step that takes no lock: also the thread
    that was interrupted may."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def raise_if_set(self) -> None:
        if self._is_set:
            raise KeyboardInterrupt


def do_aside(work: Callable[[], object], stop: Stop) -> None:
    """Do the work in a thread of its own, and wait until it has ended. Raises what it raises. When
    the waiting is interrupted, ``stop`` is set and the work has ended before that is raised; an
    error of the work's own goes before. A second interruption waits for nothing.
    """
    begun, ended = threading.Lock(), threading.Lock()
    ended.acquire()
    over = False
    raised: list[BaseException] = []

    def go() -> None:
        nonlocal over
        if not begun.acquire(blocking=False):
            return
        try:
            work()
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            raised.append(error)
        finally:
            over = True
            ended.release()

    def wait() -> None:
        while not over:
            ended.acquire(timeout=_LOOK_EVERY_S)

    try:
        # A Thread would wait for an event until it has started.
        _thread.start_new_thread(go, ())
        wait()
    except BaseException:
        stop.set()
        # It may have been interrupted before there was a thread: then none will begin.
        if not begun.acquire(blocking=False):
            wait()
        if raised and not isinstance(raised[0], KeyboardInterrupt):
            raise raised[0] from None
        raise
    if raised:
        raise raised[0]
