from __future__ import annotations

import numpy as np
import pytest

from palprep.values import Rect
from palprep.vision.arrays import Mask
from palprep.vision.framing import HAIR, measure_framing

FACE = Rect(x=180, y=150, width=80, height=100)


def person(*, hair_top: int = 110, size: tuple[int, int] = (600, 440)) -> Mask:
    mask = np.zeros(size, bool)
    mask[hair_top:250, 170:270] = True
    mask[250:280, 195:245] = True
    mask[280:600, 100:340] = True
    return mask


def test_margins_are_in_face_heights() -> None:
    framing = measure_framing(FACE, person())
    assert framing.margin_top == pytest.approx(1.1)
    assert framing.margin_side == pytest.approx(1.7)
    assert framing.margin_bottom == pytest.approx(3.5)
    assert framing.centre_x == pytest.approx(0.5)
    assert framing.face_height_share == pytest.approx(1 / 6)


def test_hair_that_touches_the_border_is_judged_by_the_face() -> None:
    low = FACE.model_copy(update={"y": 50.0})
    mask = np.roll(person(hair_top=100), -100, axis=0)
    assert measure_framing(low, mask).margin_top == 0
    cut = FACE.model_copy(update={"y": 30.0})
    assert measure_framing(cut, mask).margin_top == pytest.approx(0.3 - HAIR)
    lower = FACE.model_copy(update={"y": 25.0})
    assert measure_framing(lower, np.roll(person(hair_top=100), -125, axis=0)).margin_top < 0


@pytest.mark.parametrize(
    ("box", "margin"),
    [
        (Rect(x=-10, y=150, width=80, height=100), "margin_side"),
        (Rect(x=380, y=150, width=80, height=100), "margin_side"),
        (Rect(x=180, y=540, width=80, height=100), "margin_bottom"),
        (Rect(x=180, y=5, width=80, height=100), "margin_top"),
    ],
)
def test_what_passes_the_border_is_cut(box: Rect, margin: str) -> None:
    framing = measure_framing(box, person())
    assert getattr(framing, margin) < 0
    assert framing.margin < 0
