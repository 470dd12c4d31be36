from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter

from palprep.rules.plans.values import (
    Crop,
    ImagePlan,
    Plan,
    Reason,
    VideoPlan,
    VoicePlan,
    with_less,
)
from palprep.values import Span

PLANS = [
    ImagePlan(
        reasons=(),
        max_base64_chars=100,
        level_deg=2.0,
        crop=Crop(left=1, top=2, width=3, height=4),
    ),
    VoicePlan(reasons=(), mix="keep", copies=True),
    VideoPlan(reasons=(), copy_video=False, copy_audio=False, trim=Span(start_s=0.5, end_s=2.0)),
    VoicePlan(reasons=(), spans=(Span(start_s=1, end_s=2), Span(start_s=2, end_s=4))),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: type(plan).__name__)
def test_a_plan_survives_json(plan: Plan):
    assert TypeAdapter(Plan).validate_python(plan.to_json()) == plan


@given(
    left=st.integers(-20, 120),
    top=st.integers(-20, 120),
    width=st.integers(1, 120),
    height=st.integers(1, 120),
    degrees=st.floats(-60, 60),
)
def test_a_crop_lies_within_exactly_when_its_turned_corners_do(left, top, width, height, degrees):
    crop = Crop(left=left, top=top, width=width, height=height)
    turn = math.radians(degrees)
    x, y = left + width / 2, top + height / 2
    corners = [
        (
            x + dx * math.cos(turn) - dy * math.sin(turn),
            y + dx * math.sin(turn) + dy * math.cos(turn),
        )
        for dx in (-width / 2, width / 2)
        for dy in (-height / 2, height / 2)
    ]
    overhang = max(max(-cx, cx - 100, -cy, cy - 80) for cx, cy in corners)
    if abs(overhang) > 1e-5:  # closer than that it is rounding that decides
        assert crop.lies_within(100, 80, level_deg=degrees) is (overhang < 0)


@pytest.mark.parametrize(
    ("fixes", "out"),
    [
        (["exposure", "encode"], [("exposure",)]),
        (["white_balance", "exposure", "encode"],
         [("white_balance",), ("exposure",), ("white_balance", "exposure")]),
        (["exposure"], []),
    ],
)  # fmt: skip
def test_a_step_that_is_left_out_changes_nothing(fixes, out):
    reasons = tuple(Reason(fix=each, answers=(each,)) for each in fixes)
    plan = ImagePlan(
        reasons=reasons, max_base64_chars=9, white_balance=(1.1, 1.0, 0.9), exposure_ev=0.5
    )
    found = list(with_less(plan))
    assert [each for each, _ in found] == out
    for left_out, less in found:
        assert less.reasons == tuple(each for each in reasons if each.fix not in left_out)
        assert less.exposure_ev == (0.0 if "exposure" in left_out else 0.5)
        assert (less.white_balance == (1.0, 1.0, 1.0)) is ("white_balance" in left_out)
