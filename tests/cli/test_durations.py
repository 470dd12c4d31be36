"""How long, as command lines say it."""

from __future__ import annotations

import pytest
import typer

from palprep.cli.durations import seconds


@pytest.mark.parametrize(
    ("text", "length"),
    [("90", 90), ("90s", 90), ("15m", 900), ("1.5h", 5400), ("2D", 172_800), ("0", 0)],
)
def test_durations(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["", "soon", "-3", "4 weeks", "h"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="write 90s, 15m, 4h or 2d"):
        seconds(text)
