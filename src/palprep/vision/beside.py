"""Work beside other work: in a second thread, where this process may take one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import cv2

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def beside() -> Iterator[Executor]:
    """What takes work that does not depend on the caller's, and is done when this ends.

    It is one more thread; or none, where OpenCV may take one thread only (``cv2.setNumThreads``,
    ``OPENCV_FOR_THREADS_NUM``). A worker is told so that has a core to itself: its second thread
    would take the time of another worker.
    """
    if cv2.getNumThreads() > 1:
        with ThreadPoolExecutor(max_workers=1) as other:
            yield other
    else:
        yield AtOnce()


class AtOnce(Executor):
    """Does what it is given before it returns, in the thread that gives it."""

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The function's value or error, as a future that is done."""
        future = Future[T]()
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 -- raised where the result is asked for
            future.set_exception(error)
        return future
