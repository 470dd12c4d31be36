"""Media preflight and asset preparation for conversational video agents.

Names are loaded when they are first used, so that ``import palprep`` costs nothing and a
program that only talks to the service never loads a decoder.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from palprep._version import __version__

if TYPE_CHECKING:
    from palprep.best import pick_best
    from palprep.client import AsyncClient, Client
    from palprep.errors import PalprepError
    from palprep.likeness import same_person
    from palprep.preflight import Preflight, Prepared, check, prepare
    from palprep.probe import Speaker
    from palprep.rules.profile import Profile, load_profile
    from palprep.rules.report import Check, Report
    from palprep.rules.roles import Outcome, Role
    from palprep.sandbox import Sandbox
    from palprep.speech.verify import verify_consent

__all__ = [
    "AsyncClient",
    "Check",
    "Client",
    "Outcome",
    "PalprepError",
    "Preflight",
    "Prepared",
    "Profile",
    "Report",
    "Role",
    "Sandbox",
    "Speaker",
    "__version__",
    "check",
    "load_profile",
    "pick_best",
    "prepare",
    "same_person",
    "verify_consent",
]

_HOMES = {
    "AsyncClient": "palprep.client",
    "Check": "palprep.rules.report",
    "Client": "palprep.client",
    "Outcome": "palprep.rules.roles",
    "PalprepError": "palprep.errors",
    "Preflight": "palprep.preflight",
    "Prepared": "palprep.preflight",
    "Profile": "palprep.rules.profile",
    "Report": "palprep.rules.report",
    "Role": "palprep.rules.roles",
    "Sandbox": "palprep.sandbox",
    "Speaker": "palprep.probe",
    "check": "palprep.preflight",
    "load_profile": "palprep.rules.profile",
    "pick_best": "palprep.best",
    "prepare": "palprep.preflight",
    "same_person": "palprep.likeness",
    "verify_consent": "palprep.speech.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'palprep' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    if "IPython" in sys.modules:
        importlib.import_module("palprep.notebook").register_if_running()
    return value


def __dir__() -> list[str]:
    return __all__
