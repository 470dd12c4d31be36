"""Choices from words."""

from __future__ import annotations

import pytest

from palprep.errors import UsageError
from palprep.sandbox.chosen import chosen


def test_words_are_values_by_their_names():
    words = ["voice-seconds=1.5", "outbound=anywhere", 'stock_voices=["iris"]', "trainer=bytes"]
    choices = chosen(words, trainer="given", replica_seconds=9.0)
    assert (choices.voice_seconds, choices.replica_seconds) == (1.5, 9.0)
    assert (choices.outbound, choices.trainer) == ("anywhere", "bytes")
    assert choices.stock_voices == ("iris",)
    assert chosen([]).voice_seconds == 2.0


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("voice-secnods=1", "Did you mean voice-seconds"),
        ("voice-seconds", "NAME=VALUE"),
        ("=1", "NAME=VALUE"),
        ("voice-seconds=soon", "The choice voice-seconds is wrong"),
        ("outbound=mars", "The choice outbound is wrong"),
    ],
)
def test_what_is_no_choice_is_said(word, says):
    with pytest.raises(UsageError, match=says):
        chosen([word])
