"""Texts as the tokens of a model, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

Part = TypeVar("Part", str, bytes)

_LONG = 128
"""A token of so many bytes or more has its length in two bytes, the lesser one first."""
_PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
"""What is cut into tokens by itself: words, numbers, signs, each with the space before it (Radford
et al., "Language Models are Unsupervised Multitask Learners", 2019, and the code they published).
"""


class Encoding(NamedTuple):
    ids: list[int]
    spans: list[tuple[int, int]]
    """Per token its characters in the text, from the first up to the one after the last."""


class ByteTokens:
    """A vocabulary whose tokens are any bytes."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._tokens = tokens
        self._numbers = {token: number for number, token in enumerate(tokens) if token}
        self._pieces = lru_cache(maxsize=4096)(self._join)

    def __len__(self) -> int:
        return len(self._tokens)

    def number(self, token: str) -> int | None:
        """The number of a token, the model's own signs such as ``<|endoftext|>`` included."""
        return self._numbers.get(token.encode())

    def encode(self, text: str) -> Encoding:
        """The tokens of a text; signs of the model are taken for what they look like."""
        found = Encoding([], [])
        for piece in _PIECES.finditer(text):
            characters = [
                piece.start() + index
                for index, character in enumerate(piece[0])
                for _ in character.encode()
            ]
            at = 0
            for number in self._pieces(piece[0]):
                after = at + len(self._tokens[number])
                found.ids.append(number)
                found.spans.append((characters[at], characters[after - 1] + 1))
                at = after
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens; bytes that are no text become U+FFFD."""
        return b"".join(self._tokens[number] for number in ids).decode("utf-8", "replace")

    def _join(self, piece: str) -> tuple[int, ...]:
        parts = joined([bytes([byte]) for byte in piece.encode()], self._numbers)
        return tuple(self._numbers[part] for part in parts)


def joined(parts: list[Part], numbers: Mapping[Part, int]) -> list[Part]:
    """The parts, neighbours joined as long as what they make is a token, those with the lowest
    number first: byte pair encoding.
    """
    while len(parts) > 1:
        pairs = [left + right for left, right in pairwise(parts)]
        lowest = min(pairs, key=lambda pair: numbers.get(pair, math.inf))
        if lowest not in numbers:
            break
        at = pairs.index(lowest)
        parts[at : at + 2] = [lowest]
    return parts


def read_tokens(data: bytes) -> tuple[bytes, ...]:
    """The tokens of a file, one after the other: the length, then the bytes."""
    tokens: list[bytes] = []
    at = 0
    while at < len(data):
        length, at = data[at], at + 1
        if length >= _LONG:
            length, at = data[at] * _LONG + length - _LONG, at + 1
        tokens.append(data[at : at + length])
        at += length
    return tuple(tokens)
