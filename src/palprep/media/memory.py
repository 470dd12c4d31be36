"""Memory that a decoder leaves behind, handed back to the system."""

from __future__ import annotations

import ctypes
import sys


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
