"""Texts as tokens: what the tokeniser that Whisper was trained with says of the same texts."""

from __future__ import annotations

import pytest

from palprep.consent.decoding import ByteTokens, read_tokens
from palprep.networks import read_manifest


@pytest.fixture(scope="module")
def tokens() -> ByteTokens:
    return ByteTokens(read_tokens(read_manifest("palprep.consent")["whisper_tokens"].read()))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            " I, Jane Carter, am currently speaking.",
            [314, 11, 12091, 10831, 11, 716, 3058, 5486, 13],
        ),
        (" Siobhán Ó Briain", [15638, 672, 71, 21162, 6184, 241, 25866, 391]),
        (" don't I've O'Brien", [836, 470, 314, 1053, 440, 6, 20118]),
        (" 1,234 and 50%", [352, 11, 24409, 290, 2026, 4]),
        (" two  spaces", [734, 220, 9029]),
        (" 😀", [30325, 222]),
    ],
)
def test_a_text_is_cut_as_whisper_learnt_it(tokens: ByteTokens, text: str, ids: list[int]) -> None:
    found = tokens.encode(text)
    assert found.ids == ids
    assert tokens.decode(ids) == text


def test_each_token_knows_its_characters(tokens: ByteTokens) -> None:
    text = " François, 王伟"
    found = tokens.encode(text)
    assert {at for begin, end in found.spans for at in range(begin, end)} == set(range(len(text)))
    assert found.spans[-2:] == [(12, 13), (12, 13)], "parts of one character"


def test_signs_of_the_model_are_tokens_but_no_text_becomes_one(tokens: ByteTokens) -> None:
    assert tokens.number("<|endoftext|>") == 50_256
    assert tokens.number("<|no such sign|>") is None
    assert 50_256 not in tokens.encode(" <|endoftext|>").ids


def test_bytes_that_are_no_text_are_marked(tokens: ByteTokens) -> None:
    [first, *_] = tokens.encode("伟").ids
    assert tokens.decode([first]) == "\ufffd"


def test_lengths_from_128_on_take_two_bytes() -> None:
    long = b"x" * 200
    assert read_tokens(b"\x02ab\x00" + bytes((128 + 200 % 128, 1)) + long) == (b"ab", b"", long)
