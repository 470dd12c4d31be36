"""Work ahead: the next items are made in another thread while the last one is looked at."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Item = TypeVar("Item")

_END: Final = object()


def prefetch(items: Iterable[Item], *, most: int = 2) -> Iterator[Item]:
    """The same items in their order, made in a thread of their own, at most ``most`` waiting.

    Worth it where making an item leaves Python's lock alone, as decoders do. What making them
    raises is raised here. Closing the iterator ends the thread after the item that it makes.
    """
    waiting: queue.Queue[object] = queue.Queue(most)
    unwanted = threading.Event()

    def make() -> None:
        try:
            for item in items:
                waiting.put(item)
                if unwanted.is_set():
                    break
        finally:
            waiting.put(_END)

    with ThreadPoolExecutor(max_workers=1) as maker:
        making = maker.submit(make)
        item: object = None
        try:
            while (item := waiting.get()) is not _END:
                yield item  # type: ignore[misc]  # only _END is no Item
        finally:
            unwanted.set()
            while item is not _END:
                item = waiting.get()
        making.result()
