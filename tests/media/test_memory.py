"""What was freed in the middle of the heap is the system's again."""

import ctypes
import os
import sys
from pathlib import Path

import pytest

from palprep.media.memory import hand_back

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
    hand_back()
    assert before - _resident_mib() > 50
    libc.free(kept)
