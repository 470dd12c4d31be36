"""What rules say: whole sentences with places for what was measured, one for each way to break.

A sentence never repeats a limit. "The video is too short: it lasts 42.0 s." is true whatever
minimum a user's profile asks for; which one it is stands next to the sentence, in the check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from palprep.values import Outcome

BELOW: Final = "below"
"""The way in which a measure breaks a lower bound."""

ABOVE: Final = "above"
"""The way in which a measure breaks an upper bound."""

OTHERWISE: Final = "otherwise"
"""The way in which a measure breaks a limit that is no bound, where the rule names none."""


class ByLevel(NamedTuple):
    """Two sentences for one way: a limit that fails is broken, or one that only warns."""

    fail: str
    warn: str


class Sentences:
    """All sentences of a rule, with ``{places}`` for words.

    ``met`` states what was measured. It is said when every limit is kept, so it must be true of
    such a measure under any profile. ``broken`` holds the other sentences by the way in which a
    limit is broken: :data:`BELOW`, :data:`ABOVE`, :data:`OTHERWISE`, or one of the rule's own.
    A way that has no sentence is a limit that no rule expects, for example a minimum of clipped
    peaks; then the statement of what was measured must do.

    Every sentence can use ``{measured}``, the measure as the report shows it.
    """

    def __init__(self, met: str, /, **broken: str | ByLevel) -> None:
        self.met: Final = met
        self.broken: Final[Mapping[str, str | ByLevel]] = broken

    def when(self, way: str, level: Outcome) -> str:
        """The sentence for a way in which a limit of that level is broken."""
        sentence = self.broken.get(way, self.met)
        if isinstance(sentence, str):
            return sentence
        return sentence.fail if level is Outcome.FAIL else sentence.warn

    def listed(self) -> Iterator[tuple[str, str]]:
        """Every sentence with its outcome in words: ``pass``, ``fail``, ``warn``, or ``fail or
        warn`` where one is said for both.
        """
        yield Outcome.PASS.value, self.met
        for sentence in self.broken.values():
            if isinstance(sentence, str):
                yield f"{Outcome.FAIL.value} or {Outcome.WARN.value}", sentence
            else:
                yield Outcome.FAIL.value, sentence.fail
                yield Outcome.WARN.value, sentence.warn
