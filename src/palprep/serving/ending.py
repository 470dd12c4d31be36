"""When a server that runs until it is stopped is to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def until_signalled(until: threading.Event | None = None) -> Iterator[threading.Event]:
    """The event to wait for, ``until`` where one is given: while this lasts, SIGINT and SIGTERM
    set it.

    They are handled in the main thread only, and their former handlers return at the end.
    """
    stop = until or threading.Event()
    with ExitStack() as restored:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                previous = signal.signal(number, lambda *_: stop.set())
                restored.callback(signal.signal, number, previous)
        yield stop
