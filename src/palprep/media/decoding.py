"""Beside a decoder: decoding ahead in another thread, and handing back the memory it leaves."""

from __future__ import annotations

import ctypes
import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Item = TypeVar("Item")

_END: Final = object()


def prefetch(items: Iterable[Item], *, most: int = 2) -> Iterator[Item]:
    """The same items in their order, made in a thread of their own while the last one is looked at,
    at most ``most`` waiting.

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


def hand_back() -> None:
    """Give the system what was freed and is not in use; nothing where malloc is not glibc's.

    A frame of 4K takes 12 MB and a decoder holds seven. Once one such block was freed, glibc
    no longer maps them each on their own but cuts them from the heap of the thread that asks
    (mallopt(3), M_MMAP_THRESHOLD: "dynamic"), and a single small block above them keeps all of
    it. Other threads, which load networks next, cannot use it either: 50 to 90 MiB of nothing.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
