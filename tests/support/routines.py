"""Carries out a routine where no client sends anything."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from palprep.client.routine import perform
from palprep.client.steps import drive

_NO_CLIENT: Any = SimpleNamespace(_sender=SimpleNamespace(sleep=time.sleep))


def carried_out(doing: Any) -> Any:
    """The routine's result."""
    return drive(doing, lambda wanted: perform(_NO_CLIENT, wanted))
