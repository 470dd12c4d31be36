"""How outcomes look on every surface: each has a sign, a word and a colour, because many readers
cannot tell colours apart, and paper may have none. The colours of drawings can be told apart with
red-green blindness, too (Okabe and Ito 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from palprep.journal import runs
from palprep.values import Outcome


class Shade(NamedTuple):
    """CSS colours of a text and of the ground below it, on a light page and on a dark one."""

    text: str
    ground: str
    dark_text: str
    dark_ground: str


SHADES: Mapping[str, Shade] = {
    "pass": Shade("#17703f", "#e4f4ea", "#6fd49b", "#163225"),
    "warn": Shade("#855500", "#fdf1d6", "#f0c163", "#38290c"),
    "fail": Shade("#b3261e", "#fce8e6", "#ff9c93", "#43191a"),
    "unknown": Shade("#565b66", "#ecedf0", "#b3b8c4", "#2b2e36"),
    "doubt": Shade("#7a2fa0", "#f5e8fb", "#d9a4f3", "#361b43"),
}
"""Every text reaches a contrast of at least 4.5 to 1 on its ground (WCAG 2.2, level AA)."""


class Look(NamedTuple):
    """How one outcome looks: ``style`` is the terminal's, in the words of rich."""

    sign: str
    word: str
    style: str
    shade: str
    """Its name in :data:`SHADES`."""
    meaning: str = ""

    def counted(self, count: int) -> str:
        """The number of people: ``1 needs an answer``, ``2 need an answer``."""
        word = self.word.lower()
        return f"{count:,} {word if count == 1 else word.replace('needs', 'need')}"


OUTCOMES: Mapping[Outcome, Look] = {
    Outcome.FAIL: Look("✕", "failed", "bold red", "fail"),
    Outcome.WARN: Look("!", "warning", "yellow", "warn"),
    Outcome.UNKNOWN: Look("?", "not measured", "dim", "unknown"),
    Outcome.PASS: Look("✓", "passed", "green", "pass"),
}
"""The outcomes of checks, in the order in which every surface lists them."""

STATUSES: Mapping[runs.PersonStatus, Look] = {
    "done": Look("✓", "Done", "green", "pass", "everything that was asked for is ready"),
    "voice_only": Look(
        "♪", "Voice only", "green", "pass", "not all was given that a replica needs"
    ),
    "waiting": Look("…", "Waiting", "cyan", "unknown", "not finished yet"),
    "in_doubt": Look("?", "In doubt", "bold yellow", "doubt", "a create may have happened"),
    "needs_decision": Look(
        *("◆", "Needs decision", "bold yellow", "doubt"), "a doubt about consent holds the replica"
    ),
    "needs_answer": Look(
        "✎", "Needs an answer", "bold yellow", "warn", "a file or setting is missing"
    ),
    "redo": Look("✕", "Redo", "red", "fail", "needs new files from the person"),
    "failed": Look("!", "Failed", "bold red", "warn", "the service or a tool gave up"),
}

WORST_FIRST: Sequence[runs.PersonStatus] = (
    *("in_doubt", "needs_decision", "needs_answer", "failed", "redo"),
    *("waiting", "voice_only", "done"),
)
"""The statuses in the order of pages: first those that need a decision, last those that are done.
"""

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
