"""Items are made ahead; what was freed in the middle of the heap is the system's again."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from palprep.errors import DamagedMedia
from palprep.media.images import prefetch
from palprep.system import trim_heap

BLOCK, BLOCKS = 64 * 1024, 1000
"""Below glibc's smallest threshold for blocks of their own; 62 MiB together."""


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps what was freed like this")
def test_freed_memory_below_a_block_in_use_is_handed_back():
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        pytest.skip("this system's malloc is not glibc's")
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    blocks = [libc.malloc(BLOCK) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    *freed, kept = blocks
    for block in freed:
        libc.free(block)
    before = _resident_mib()
    trim_heap()
    assert before - _resident_mib() > 50
    libc.free(kept)


def test_items_keep_their_order():
    assert list(prefetch(range(50))) == list(range(50))
    assert list(prefetch([])) == []


def test_items_are_made_in_another_thread_and_few_wait():
    made: list[int] = []
    threads: set[int] = set()

    def items() -> Iterator[int]:
        for number in range(20):
            threads.add(threading.get_ident())
            made.append(number)
            yield number

    for number in prefetch(items()):
        # Two wait, one is at the door, and this one is looked at.
        assert len(made) <= number + 4
    assert len(made) == 20
    assert threading.get_ident() not in threads


def test_what_making_raises_comes_after_the_items_before_it():
    def items() -> Iterator[int]:
        yield 1
        raise DamagedMedia("It breaks off")

    seen: list[int] = []
    with pytest.raises(DamagedMedia, match="breaks off"):
        seen.extend(prefetch(items()))
    assert seen == [1]


@pytest.mark.parametrize("looked_at", [0, 1, 5])
def test_leaving_early_ends_the_thread_and_closes_the_source(looked_at):
    closed = threading.Event()

    def endless() -> Iterator[int]:
        number = 0
        try:
            while True:
                yield number
                number += 1
        finally:
            closed.set()

    before = threading.active_count()
    numbers = prefetch(endless())
    for _ in range(looked_at):
        next(numbers)
    numbers.close()
    assert threading.active_count() <= before
    assert closed.is_set() is (looked_at > 0)
