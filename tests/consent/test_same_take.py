"""Whether two readings were heard in one take."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from palprep.consent.facts import ConsentFacts, WordRecord


def said_at(starts: Sequence[float]) -> ConsentFacts:
    words = (WordRecord(expected=f"word{at}", start=start) for at, start in enumerate(starts))
    return ConsentFacts(
        outcome="pass", starts_at=starts[0], ends_at=starts[-1], words=tuple(words), reasons=(),
        statement="", full_name="Ada", language="en",
    )  # fmt: skip


def test_a_long_statement_of_which_the_end_was_spoken_anew_is_told_at_once():
    """All ways to part what precedes the end were tried: 83 s for 80 words, and hours for 100."""
    choice = np.random.default_rng(1)
    one = [0.4 * at for at in range(74)]
    other = [at_s + choice.normal(0, 0.005) for at_s in one]
    # The last words are compared first.
    other[:8] = [at_s + choice.choice((-0.6, 0.6)) for at_s in other[:8]]
    began = time.process_time()
    assert not said_at(one).same_take(said_at(other))
    assert said_at(one).same_take(said_at([*one[:40], *(at_s + 2 for at_s in one[40:])]))
    assert time.process_time() - began < 2
