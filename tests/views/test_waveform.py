"""Waveforms: where it is loud, what was chosen, and how loud the whole is."""

from __future__ import annotations

import re
from pathlib import Path

from voices import voice_of

from palprep import check, speech
from palprep.media.sources import Source
from palprep.speech.facts import Waveform
from palprep.values import Span
from palprep.views.drawings.over_time import WAVE_HEIGHT, WAVE_WIDTH, draw_waveform
from palprep.views.drawings.pictures import waveform
from palprep.views.outcomes import BLUE, GREY, ORANGE
from tests.support.drawn import css, paths

LEVELS = Waveform(
    peaks=(0.0, 0.5, 1.0, 1.0, 0.0), short_term_lufs=(-20.0, -30.0, -20.0), step_s=3.5
)
VOICE = voice_of(duration_s=10.0, integrated_lufs=-21.0, waveform=LEVELS)


def test_what_was_kept_is_blue_and_the_rest_is_grey() -> None:
    svg = draw_waveform(VOICE, kept=(Span(start_s=2.0, end_s=6.0),))
    [blue] = paths(svg, BLUE)
    assert blue.count("M") == 2
    assert any(path.count("M") == 3 for path in paths(svg, GREY))
    [everything] = paths(draw_waveform(VOICE), BLUE)
    assert everything.count("M") == 5


def test_louder_reaches_further_and_nothing_leaves_the_drawing() -> None:
    [bars] = paths(draw_waveform(VOICE), BLUE)
    reach = [float(low) - float(high) for high, low in re.findall(r"M\S+ (\S+?)V([\d.]+)", bars)]
    assert reach[0] < reach[1] < reach[2] == reach[3]
    assert max(reach) < WAVE_HEIGHT
    xs = [float(x) for x in re.findall(r"M(\S+) ", bars)]
    assert xs == sorted(xs)
    assert 0 < xs[0] < xs[-1] < WAVE_WIDTH


def test_the_loudness_of_all_is_a_dashed_line_where_it_is_known() -> None:
    assert "stroke-dasharray" in draw_waveform(VOICE)
    level = LEVELS.model_copy(update={"short_term_lufs": ()})
    silent = VOICE.model_copy(update={"waveform": level, "integrated_lufs": None})
    assert css(ORANGE) not in draw_waveform(silent)


def test_a_real_recording_is_drawn_of_its_facts(sample_media: Path) -> None:
    _, voice = speech.measure_voice(Source.of(sample_media / "people/jane-carter/recording.m4a"))
    svg = waveform(voice).data
    assert len(svg) < 40_000
    [bars] = paths(svg, BLUE)
    assert bars.count("M") == 300


def test_what_a_report_holds_of_it_is_short(sample_media: Path) -> None:
    facts = check(sample_media / "people/jane-carter/recording.m4a").facts
    assert facts is not None
    assert facts.voice is not None
    assert len(facts.voice.waveform.model_dump_json()) < 5_000
