"""The fresh code: words that nobody knew before they were drawn. Whoever speaks them after the
statement was recorded after that moment: an older recording, however genuine, does not hold them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

from pydantic import AwareDatetime

from palprep.values import Value

WORDS = 3
VALID_S = 1800.0
"""How long a code is valid unless somebody says otherwise."""

Choose = Callable[[Sequence[str]], str]
"""Chooses one of several, each as probable as any other: :func:`secrets.choice`."""


class FreshCode(Value):
    """Words to say after the statement, and the time in which they are valid."""

    words: tuple[str, ...]
    given_at: AwareDatetime
    ends_at: AwareDatetime


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
