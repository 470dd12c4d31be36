"""Carries out a routine where no client sends anything."""

from __future__ import annotations

import time
from typing import Any

from palprep.client.steps import Pause, Step, Work, drive


def carried_out(doing: Any) -> Any:
    """The routine's result."""
    return drive(doing, _perform)


def _perform(step: Step) -> Any:
    match step:
        case Work(do):
            return do()
        case Pause(seconds):
            return time.sleep(seconds)
    raise AssertionError(step)
