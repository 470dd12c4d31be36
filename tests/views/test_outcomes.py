"""Every outcome and every status has its sign, its word and a colour that can be read."""

from __future__ import annotations

from typing import get_args

import pytest

from palprep.journal.runs import PersonStatus
from palprep.values import Outcome
from palprep.views.outcomes import OUTCOMES, SHADES, STATUSES


def contrast(one: str, other: str) -> float:
    """The contrast of two ``#rrggbb`` colours, 1 to 21, as WCAG 2.2 defines it."""
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_none_is_left_out() -> None:
    assert set(OUTCOMES) == set(Outcome)
    assert set(STATUSES) == set(get_args(PersonStatus))


@pytest.mark.parametrize("looks", [OUTCOMES, STATUSES], ids=["outcomes", "statuses"])
def test_signs_and_words_tell_them_apart_without_colour(looks) -> None:
    assert len({look.sign for look in looks.values()}) == len(looks)
    assert len({look.word for look in looks.values()}) == len(looks)
    assert {look.shade for look in looks.values()} <= set(SHADES)


@pytest.mark.parametrize("shade", SHADES.values(), ids=SHADES)
def test_text_stands_out_from_its_ground(shade) -> None:
    assert contrast(shade.text, shade.ground) >= 4.5
    assert contrast(shade.text, "#ffffff") >= 4.5
    assert contrast(shade.dark_text, shade.dark_ground) >= 4.5
