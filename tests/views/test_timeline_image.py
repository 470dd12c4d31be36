"""What the rows of a time line's picture say."""

from __future__ import annotations

import pytest

from palprep.facts.timeline import Second, Timeline
from palprep.values import Span
from palprep.views.timeline_image import lanes_of


@pytest.fixture
def line() -> Timeline:
    """Four seconds: speaks, speaks, turns away, was not looked at."""
    return Timeline(
        duration_s=3.5,
        seconds=(
            Second(at_s=0, speaking=True, mouth_moves=True, seen=True, facing=True, luma=100.0),
            Second(at_s=1, speaking=True, mouth_moves=True, seen=True, facing=True, luma=110.0),
            Second(at_s=2, speaking=False, mouth_moves=False, seen=True, facing=False),
            Second(at_s=3, speaking=False),
        ),
        speech=(Span(start_s=0.2, end_s=1.9),),
        cuts=(2.0,),
        freezes=(Span(start_s=2.0, end_s=3.25),),
    )


def lanes(line):
    return {lane.label: lane for lane in lanes_of(line)}


def test_every_row_says_what_it_amounts_to(line):
    said = {label: lane.said for label, lane in lanes(line).items()}
    assert said == {
        "Speech": "50%", "Mouth moves": "67%", "Face seen": "100%", "At the lens": "67%",
        "Still": "50%", "Light": "steady", "Breaks": "1 cut, 1.2 s frozen",
    }  # fmt: skip


def test_stretches_are_joined_and_end_with_the_video(line):
    rows = lanes(line)
    assert rows["Speech"].spans == [(0.2, 1.9)]
    assert rows["At the lens"].spans == [(0.0, 2.0)]
    assert rows["At the lens"].unknown == [(3.0, 3.5)]
    assert rows["Still"].spans == [(2.0, 3.5)]
    assert rows["Breaks"].marks == (2.0,)


def test_consent_comes_first_where_it_was_heard(line):
    heard = line.model_copy(update={"consent": Span(start_s=0.2, end_s=1.5)})
    first = lanes_of(heard)[0]
    assert (first.label, first.spans, first.said) == ("Consent", [(0.2, 1.5)], "0.2 to 1.5 s")
    assert "Consent" not in lanes(line)


def test_what_nobody_measured_says_so():
    bare = Timeline(duration_s=2.0, seconds=(Second(at_s=0), Second(at_s=1)))
    assert lanes(bare)["Mouth moves"].said == "not measured"
    assert lanes(bare)["Mouth moves"].unknown == [(0.0, 2.0)]
    assert lanes(bare)["Breaks"].said == "none"
