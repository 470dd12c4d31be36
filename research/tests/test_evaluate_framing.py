"""Portraits that are cut by known amounts, and what is said of them."""

from __future__ import annotations

import importlib
from collections import Counter

import numpy as np
import pytest

from palprep.rules import load_profile
from palprep.values import Outcome, Rect, Role
from palprep.vision.framing import measure_framing


@pytest.fixture
def script():
    return importlib.import_module("research.evaluation.framing")


def framing(margin_top):
    """A head of 100 px that ends so many face heights below the upper border."""
    mask = np.zeros((400, 300), bool)
    mask[int(100 * margin_top) :, 100:200] = True
    face = Rect(x=110, y=100 * margin_top + 30, width=80, height=100)
    return measure_framing(face, mask)


def test_what_is_cut_off_is_what_was_asked_for(script):
    whole = framing(0.5)
    heights = {room: part.shape[0] for room, part in script.cut(np.zeros((400, 300, 3)), whole)}
    assert heights == {room: 400 - round(50 - 100 * room) for room in script.ROOMS}


def test_the_worst_broken_limit_decides(script):
    limits = load_profile().for_role(Role.FACE_IMAGE)[script.CHECK]
    roomy, tight = framing(0.3), framing(0.0)
    assert script.outcome(roomy, limits) is Outcome.PASS
    assert script.outcome(tight, limits) is Outcome.WARN
    cut = roomy.model_copy(update={"margin_top": -0.1})
    assert script.outcome(cut, limits) is Outcome.FAIL
    assert script.outcome(None, limits) is Outcome.UNKNOWN


def test_the_table_gives_shares_with_their_interval(script):
    counts = Counter({Outcome.FAIL: 1, Outcome.WARN: 1, Outcome.PASS: 2})
    [*_, line] = script.table({-0.1: counts})
    assert line == "| -0.10 | 4 | 25.0% (4.6% to 69.9%) | 25.0% | 50.0% |"
