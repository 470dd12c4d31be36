"""Waveforms: where it is loud, what was chosen, and how loud the whole is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from palprep.errors import MediaError
from palprep.speech import Levels
from palprep.values import Span
from palprep.views.outcomes import BLUE, GREY, ORANGE
from palprep.views.over_time import WAVE_HEIGHT, WAVE_WIDTH, draw_waveform
from palprep.views.pictures import waveform
from tests.support.drawn import css, paths

LEVELS = Levels(
    duration_s=10.0,
    peaks=np.array([0.0, 0.5, 1.0, 1.0, 0.0], np.float32),
    short_term=((1.5, -20.0), (5.0, -30.0), (8.5, -20.0)),
    integrated_lufs=-21.0,
)


def test_what_was_kept_is_blue_and_the_rest_is_grey() -> None:
    svg = draw_waveform(LEVELS, kept=(Span(start_s=2.0, end_s=6.0),))
    [blue] = paths(svg, BLUE)
    assert blue.count("M") == 2
    assert any(path.count("M") == 3 for path in paths(svg, GREY))
    [everything] = paths(draw_waveform(LEVELS), BLUE)
    assert everything.count("M") == 5


def test_louder_reaches_further_and_nothing_leaves_the_drawing() -> None:
    [bars] = paths(draw_waveform(LEVELS), BLUE)
    reach = [float(low) - float(high) for high, low in re.findall(r"M\S+ (\S+?)V([\d.]+)", bars)]
    assert reach[0] < reach[1] < reach[2] == reach[3]
    assert max(reach) < WAVE_HEIGHT
    xs = [float(x) for x in re.findall(r"M(\S+) ", bars)]
    assert xs == sorted(xs)
    assert 0 < xs[0] < xs[-1] < WAVE_WIDTH


def test_the_loudness_of_all_is_a_dashed_line_where_it_is_known() -> None:
    assert "stroke-dasharray" in draw_waveform(LEVELS)
    silent = LEVELS._replace(short_term=(), integrated_lufs=None)
    assert css(ORANGE) not in draw_waveform(silent)


def test_a_real_recording_is_drawn_and_a_broken_one_is_said(
    sample_media: Path, tmp_path: Path
) -> None:
    svg = waveform(sample_media / "people/jane-carter/recording.m4a").data
    assert len(svg) < 40_000
    [bars] = paths(svg, BLUE)
    assert bars.count("M") == 500
    noise = tmp_path / "noise.wav"
    noise.write_bytes(b"RIFF\x24\x00\x00\x00WAVE")
    with pytest.raises(MediaError):
        waveform(noise)
