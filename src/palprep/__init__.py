"""Media preflight and asset preparation for conversational video agents.

``__init__.pyi`` names what is public. A name is loaded when it is first used, so that
``import palprep`` costs nothing and a program that only talks to the service never loads a decoder.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import lazy_loader

from palprep._version import __version__ as __version__

_attach, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "errors":  # `except palprep.errors.AT_SERVICE`, before anything else was used.
        return importlib.import_module("palprep.errors")
    value = _attach(name)
    if "IPython" in sys.modules:
        from palprep.views import register  # noqa: PLC0415 -- loads pydantic

        register()
    return value


def load_ipython_extension(ipython: Any) -> None:
    """Turn on rich views of reports, prepared files and consent. ``%load_ext palprep`` calls it."""
    from palprep.views import register  # noqa: PLC0415 -- loads pydantic

    register(ipython)
