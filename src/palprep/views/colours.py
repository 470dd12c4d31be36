"""The colours of drawings: told apart with red-green blindness, too (Okabe and Ito 2008)."""

from __future__ import annotations

from typing import Final

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255 each."""

ORANGE: Final = (230, 159, 0)
SKY: Final = (86, 180, 233)
GREEN: Final = (0, 158, 115)
YELLOW: Final = (240, 228, 66)
BLUE: Final = (0, 114, 178)
VERMILION: Final = (213, 94, 0)
PURPLE: Final = (204, 121, 167)
GREY: Final = (110, 116, 128)
"""Palprep's own, for what needs no attention."""
