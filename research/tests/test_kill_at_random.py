"""A few kills at random moments, on the way on which the script makes hundreds."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture
def script():
    return importlib.import_module("research.hostile.kill_at_random")


def test_nothing_is_created_twice_and_nothing_is_lost(script, tmp_path):
    tally = script.kill_at_random(tmp_path, kills=4, people=2, seed=3, seconds=240)
    assert tally.kills >= 4
    assert tally.run_kills == sum(tally.at.values()) > 0
    assert (tally.wanted, tally.duplicates, tally.losses) == (4 * tally.rounds, 0, 0)


def test_what_was_created_twice_or_lost_is_counted(script, tmp_path, monkeypatch):
    stage, tally = script.Stage.__new__(script.Stage), script.Tally()
    stage.people, stage.into = tmp_path / "people", tmp_path / "out"
    (stage.people / "person-0").mkdir(parents=True)
    stage.into.mkdir()
    held = {("voice", "Person 0"): ["v1", "v2"]}
    monkeypatch.setattr(stage, "held", lambda: held)
    with script.Journal.of(stage.into, lock=True, create=True):
        pass
    script.count(stage, tally)
    assert (tally.wanted, tally.duplicates, tally.losses) == (2, 1, 2)
