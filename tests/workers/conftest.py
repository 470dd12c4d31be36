"""What the tests of workers share."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from palprep.workers.local import LocalEngine

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def work():
    """Importable by the workers, as their functions must be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        yield importlib.import_module("work")


@pytest.fixture(scope="module")
def engine(work):
    with LocalEngine(2) as local:
        yield local
