"""What the rows of a timeline say, whatever draws them."""

from __future__ import annotations

import pytest

from palprep.facts import FacingLimits, Timeline
from palprep.facts.facts import Second
from palprep.values import Span
from palprep.views.drawings.timeline_rows import rows, tick_every


@pytest.fixture
def line() -> Timeline:
    """Four seconds: speaks, speaks, turns away, was not looked at."""
    return Timeline(
        duration_s=3.5,
        seconds=(
            Second(at_s=0, speaking=True, mouth_moves=True, seen=True, head_off_deg=3, luma=100.0),
            Second(at_s=1, speaking=True, mouth_moves=True, seen=True, head_off_deg=3, luma=110.0),
            Second(at_s=2, speaking=False, mouth_moves=False, seen=True, head_off_deg=30),
            Second(at_s=3, speaking=False),
        ),
        speech=(Span(start_s=0.2, end_s=1.9),),
        cuts=(2.0,),
        freezes=(Span(start_s=2.0, end_s=3.25),),
    )


def by_label(line):
    return {row.label: row for row in rows(line, FacingLimits(head_deg=20.0))}


def ends(spans):
    return [(span.start_s, span.end_s) for span in spans]


def test_every_row_says_what_it_amounts_to(line):
    summaries = {label: row.summary for label, row in by_label(line).items()}
    assert summaries == {
        "Speech": "50%", "Mouth": "67%", "Face": "100%", "At lens": "67%",
        "Still": "50%", "Light": "steady", "Breaks": "1 cut, 1.2 s frozen",
    }  # fmt: skip


def test_stretches_are_joined_and_end_with_the_video(line):
    found = by_label(line)
    assert ends(found["Speech"].spans) == [(0.2, 1.9)]
    assert ends(found["At lens"].spans) == [(0.0, 2.0)]
    assert ends(found["At lens"].unknown) == [(3.0, 3.5)]
    assert ends(found["Still"].spans) == [(2.0, 3.5)]
    assert found["Breaks"].marks == (2.0,)


def test_consent_comes_first_where_it_was_heard(line):
    heard = line.model_copy(update={"consent": Span(start_s=0.2, end_s=1.5)})
    first = rows(heard, FacingLimits(head_deg=20.0))[0]
    assert (first.label, ends(first.spans)) == ("Consent", [(0.2, 1.5)])
    assert first.summary == "0:00.2 to 0:01.5"
    assert "Consent" not in by_label(line)


def test_what_nobody_measured_says_so():
    bare = Timeline(duration_s=2.0, seconds=(Second(at_s=0), Second(at_s=1)))
    found = by_label(bare)
    assert found["Mouth"].summary == "not measured"
    assert ends(found["Mouth"].unknown) == [(0.0, 2.0)]
    assert found["Breaks"].summary == "none"


@pytest.mark.parametrize(
    ("shortest_s", "step"), [(0.1, 1), (2.0, 2), (7.6, 10), (150.0, 300), (9999.0, 3600)]
)
def test_a_scale_has_ticks_where_people_count(shortest_s, step):
    assert tick_every(shortest_s) == step
