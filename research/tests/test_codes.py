"""A code in the sample person's voice, heard as the evaluation hears codes."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from palprep.consent import Whisper
from palprep.media.sound import stream_samples
from palprep.media.sources import Source


@pytest.fixture
def codes():
    return importlib.import_module("research.evaluation.codes")


def test_a_code_that_is_said_is_heard_and_no_other(codes, checkout):
    def sound(path):
        return np.concatenate(list(stream_samples(Source.of(path), rate_hz=16_000, channels=1)))

    ending = sound(codes.SAMPLE)[10 * 16_000 : 12 * 16_000]
    samples, model = (
        np.concatenate((ending, sound(checkout / "sample_media/code.m4a"))),
        Whisper.load(),
    )
    assert codes.heard(model, samples, ["tiger", "lemon", "cactus"])
    assert not codes.heard(model, samples, ["marble", "pilot", "umbrella"])
    assert not codes.heard(model, ending, ["tiger", "lemon", "cactus"])
