"""The fresh code: words that nobody knew before they were drawn. Whoever speaks them after the
statement was recorded after that moment: an older recording, however genuine, does not hold them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

from pydantic import AwareDatetime

from palprep.consent.words import NEAR_SOUND, Word, keys_of, similarity
from palprep.values import Span, Value

WORDS = 3
VALID_S = 1800.0
"""How long a code is valid unless somebody says otherwise."""

_KNOWN = 0.6
"""Words that sound so much like a code which is known to be there are it: in two synthetic voices
195 codes of 208. So are 2 of 2,080 remarks that stood beside them, and 21 at 0.55."""

Choose = Callable[[Sequence[str]], str]
"""Chooses one of several, each as probable as any other: :func:`secrets.choice`."""


class FreshCode(Value):
    """Words to say after the statement, and the time in which they are valid."""

    words: tuple[str, ...]
    given_at: AwareDatetime
    ends_at: AwareDatetime


class AskedCode(FreshCode):
    """The code that a file must hold, and what decides whether it proves anything."""

    judged_at: AwareDatetime
    """When the file was first judged: it was recorded before."""
    spoken_in: str | None = None
    """Another file in which the same code was spoken before."""


class CodeReading(AskedCode):
    """What was heard of a code after the statement."""

    heard: str = ""
    """The words in its place, or all that is heard after the statement."""
    spoken: Span | None = None
    """From the pause before it, in seconds of the recording; None where the code was not heard."""
    kept_in: str | None = None
    """The file beside this one that holds statement and code in one take, where the code was cut
    from this one. The times are of that file."""


@cache
def code_words() -> tuple[str, ...]:
    """The words that codes are drawn from: common English ones, no two of which are alike by their
    sound, as :func:`palprep.consent.words.similarity` has it.
    """
    file = resources.files("palprep.consent").joinpath("codes", "en.txt")
    return tuple(file.read_text("utf-8").split())


def draw_code(now: dt.datetime, choose: Choose, *, valid_s: float = VALID_S) -> FreshCode:
    """A code of different words, given ``now`` and valid for ``valid_s`` seconds."""
    words: list[str] = []
    while len(words) < WORDS:
        left = [word for word in code_words() if word not in words]
        words.append(choose(left))
    return FreshCode(words=tuple(words), given_at=now, ends_at=now + dt.timedelta(seconds=valid_s))


def nearest_to_code(code: Sequence[str], heard: Sequence[Word]) -> tuple[range, float]:
    """The stretch of heard words that sounds most like the code, and how much, 0 to 1.

    They are compared as one, since a word may have been written down as two.
    """
    wanted, most = " ".join(code), len(heard)
    stretches = (
        range(first, last)
        for first in range(most)
        for last in range(first + 1, min(most, first + 2 * len(code)) + 1)
    )
    alike = {each: similarity(wanted, keys_of(heard[each.start : each.stop])) for each in stretches}
    return max(alike.items(), key=lambda each: each[1], default=(range(0), 0.0))


def without_code(code: AskedCode | None, heard: Sequence[Word]) -> tuple[Word, ...]:
    """Heard words but for those of the code. Where it is known to have been spoken, they are those
    that sound most like it, however they were written down.
    """
    if code is None:
        return tuple(heard)
    place, likeness = nearest_to_code(code.words, heard)
    known = isinstance(code, CodeReading) and code.spoken is not None
    if likeness < (_KNOWN if known else NEAR_SOUND):
        return tuple(heard)
    return (*heard[: place.start], *heard[place.stop :])
