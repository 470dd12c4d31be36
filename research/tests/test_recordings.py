"""What is done to recordings of a voice, and what measures that are not palprep's say of them."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from palprep.rules.catalogue import RULES

RATE = 16_000
NO_RULE = {"voice_clicks", "voice_speed"}
"""Defects that palprep does not look for."""


@pytest.fixture
def made():
    return importlib.import_module("research.evaluation.spoilt")


@pytest.fixture
def recordings():
    return importlib.import_module("research.evaluation.recordings")


@pytest.fixture
def voice():
    """Words of half a second with pauses between them, in the noise of a quiet room."""
    time, chance = np.arange(8 * RATE) / RATE, np.random.default_rng(1)
    buzz = np.sign(np.sin(2 * np.pi * 130 * time)) * (np.sin(2 * np.pi * time) > 0)
    return 0.1 * buzz + 1e-4 * chance.standard_normal(len(time))


def test_what_sounds_under_speech_is_as_far_below_it_as_said(made, voice):
    hiss = np.random.default_rng(2).standard_normal(len(voice))
    added = made.under(voice, RATE, hiss, 20) - voice
    assert np.sqrt((added**2).mean()) == pytest.approx(made.active_rms(voice, RATE) / 10, rel=1e-6)


def test_an_echo_falls_by_60_db_in_its_time(made):
    click = np.zeros(2 * RATE)
    click[0] = 1.0
    wet = made.echoing(click, RATE, 1.0, np.random.default_rng(2))
    start, end = (np.sqrt((wet[at : at + 800] ** 2).mean()) for at in (1, RATE))
    assert 20 * np.log10(start / end) == pytest.approx(60, abs=3)


def test_every_defect_is_sound_that_a_rule_is_named_for(made, voice):
    cases = [*made.spoilt(voice, RATE, [voice] * 6, voice, np.random.default_rng(3))]
    assert len(cases) > 40
    for case in cases:
        assert np.isfinite(case.sound).all(), case
        assert case.sound.any(), case
        assert set(case.named_by) <= set(RULES) | NO_RULE


def test_two_readers_speak_in_turns(made, voice):
    long = np.tile(voice, 3)
    talk = [("F", long), ("F", 0.5 * long), ("M", long)]
    kinds = {case.kind for case in made.dialogues(talk, RATE, np.random.default_rng(4), 1)}
    assert kinds == {"two of one sex", "two of both sexes"}


def test_findings_are_weighed_by_other_measures(recordings, made, voice, tmp_path):
    quiet = recordings.written(tmp_path / "quiet.wav", voice, RATE)
    assert not {"voice_snr", "voice_hum", "voice_clipping"} & set(recordings.deserved(quiet))
    hum = np.sin(2 * np.pi * 50 * np.arange(len(voice)) / RATE)
    noisy = made.under(voice, RATE, np.random.default_rng(5).standard_normal(len(voice)), 15)
    loud = np.clip(4 * made.under(noisy, RATE, hum, 10), -0.5, 0.5)
    spoiled = recordings.written(tmp_path / "spoiled.wav", loud, RATE)
    wanted = {"voice_snr", "voice_snr: fail", "voice_hum", "voice_clipping"}
    assert wanted <= set(recordings.deserved(spoiled))
