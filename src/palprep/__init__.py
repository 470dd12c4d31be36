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
    from palprep.client import AsyncClient, Client
    from palprep.consent.verify import verify_consent
    from palprep.errors import PalprepError
    from palprep.facts.probe import Speaker
    from palprep.preflight.check_and_prepare import Preflight, check, prepare
    from palprep.preflight.prepared import Prepared
    from palprep.preflight.rank import pick_best
    from palprep.preflight.same_person import same_person
    from palprep.rules.profile import Profile, load_profile
    from palprep.rules.report import Check, Report
    from palprep.sandbox import Sandbox
    from palprep.values import Outcome, Role

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
    "Outcome": "palprep.values",
    "PalprepError": "palprep.errors",
    "Preflight": "palprep.preflight.check_and_prepare",
    "Prepared": "palprep.preflight.prepared",
    "Profile": "palprep.rules.profile",
    "Report": "palprep.rules.report",
    "Role": "palprep.values",
    "Sandbox": "palprep.sandbox",
    "Speaker": "palprep.facts.probe",
    "check": "palprep.preflight.check_and_prepare",
    "load_profile": "palprep.rules.profile",
    "pick_best": "palprep.preflight.rank",
    "prepare": "palprep.preflight.check_and_prepare",
    "same_person": "palprep.preflight.same_person",
    "verify_consent": "palprep.consent.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'palprep' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    if "IPython" in sys.modules:
        importlib.import_module("palprep.views.notebook").register_if_running()
    return value


def load_ipython_extension(ipython: Any) -> None:
    """What ``%load_ext palprep`` calls: rich views of reports, prepared files and consent."""
    importlib.import_module("palprep.views.notebook").register(ipython)


def __dir__() -> list[str]:
    return __all__
