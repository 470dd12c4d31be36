"""Texts as the tokens of a model, and what a decoder's numbers say: the most probable texts, and
when each token was said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Real = TypeVar("Real", np.float32, np.float64)
Part = TypeVar("Part", str, bytes)
Advance = Callable[[NDArray[np.intp], NDArray[np.intp]], Floats]
"""Takes the next tokens and the row of the last step that each of them continues, and gives the
logits after each, shape ``(rows, tokens)``."""
_BOTH, _ROW, _COLUMN = 0, 1, 2
"""What a step of a path goes on by."""
_BORDER = np.float32(np.inf)
_SMOOTHING = 7
"""Width of the median filter in positions, an odd number (that of Whisper's authors)."""
_LONG = 128
"""From so many bytes on the length of a token takes two bytes, the lower one first."""
_PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
"""Words, numbers and signs, each with the space before it: no token is part of two (Radford et al.,
"Language Models are Unsupervised Multitask Learners", 2019, and the code they published)."""


class Encoding(NamedTuple):
    ids: list[int]
    spans: list[tuple[int, int]]
    """Per token its characters in the text, from the first up to the one after the last."""


class ByteTokens:
    """A vocabulary whose tokens are any bytes."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._tokens = tokens
        self._numbers = {token: number for number, token in enumerate(tokens) if token}

    def __len__(self) -> int:
        return len(self._tokens)

    def number(self, token: str) -> int | None:
        """The number of a token, the model's own signs such as ``<|endoftext|>`` included."""
        return self._numbers.get(token.encode())

    def encode(self, text: str) -> Encoding:
        """The tokens of a text. A sign of the model that stands in it is encoded as plain text."""
        found = Encoding([], [])
        for piece in _PIECES.finditer(text):
            characters = [
                piece.start() + index
                for index, character in enumerate(piece[0])
                for _ in character.encode()
            ]
            at = 0
            for part in joined([bytes([byte]) for byte in piece[0].encode()], self._numbers):
                after = at + len(part)
                found.ids.append(self._numbers[part])
                found.spans.append((characters[at], characters[after - 1] + 1))
                at = after
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens; bytes that are no text become U+FFFD."""
        return b"".join(self._tokens[number] for number in ids).decode("utf-8", "replace")


def joined(parts: list[Part], numbers: Mapping[Part, int]) -> list[Part]:
    """Byte pair encoding: neighbours are joined as long as they make a token, those with the lowest
    number first. Changes ``parts``.
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


def beam_search(
    logits: Floats,
    advance: Advance,
    *,
    beams: int,
    length: int,
    end: int,
    never: Sequence[int] = (),
    never_first: Sequence[int] = (),
    before: int = 0,
) -> list[tuple[int, ...]]:
    """The most probable texts of at most ``length`` tokens, best first, without the token ``end``.

    ``logits``, shape ``(1, tokens)``, are those of the first token. ``beams`` texts are followed at
    a time. None has a token of ``never``, nor begins with one of ``never_first``. A text's score is
    the sum of the logarithms of its tokens' probabilities over its length, which counts ``before``
    tokens more: what the text was made to begin with. The search ends when as many texts have ended
    as are followed.
    """
    scores: Floats = np.zeros(1, np.float32)
    texts: list[tuple[int, ...]] = [()]
    ended: list[tuple[float, tuple[int, ...]]] = []
    for step in range(length):
        logits[:, never] = -np.inf
        if step == 0:
            logits[:, never_first] = -np.inf
        totals = (log_softmax(logits) + scores[:, None]).ravel()
        count = min(2 * beams, len(totals))
        best = np.argpartition(totals, -count)[-count:]
        best = best[np.argsort(-totals[best], kind="stable")]
        best = best[np.isfinite(totals[best])]
        rows, tokens = np.divmod(best, logits.shape[1])
        last = step + 1 == length
        going_on = [place for place, token in enumerate(tokens) if token != end]
        for place in range(min(beams, len(best))):
            text = texts[rows[place]]
            if tokens[place] != end:
                text = (*text, int(tokens[place]))
                if not last:
                    continue
            ended.append((float(totals[best[place]]) / max(1, before + len(text)), text))
        # A text that has ended leaves its place to the next best one.
        kept = going_on[:beams]
        if last or not kept or len(ended) >= beams:
            break
        scores = totals[best[kept]]
        texts = [(*texts[rows[place]], int(tokens[place])) for place in kept]
        logits = advance(tokens[kept], rows[kept])
    return [text for _, text in sorted(ended, key=lambda one: -one[0])]


def nothing_before(decoder: Any) -> dict[str, Floats]:
    """A decoder's inputs where there is no text before: keys and values of no position."""
    return {
        entry.name: np.zeros((1, entry.shape[1], 0, entry.shape[3]), np.float32)
        for entry in decoder.get_inputs()
        if entry.name.startswith("past_")
    }


def log_softmax(logits: NDArray[Real]) -> NDArray[Real]:
    """The logarithms of probabilities, over the last axis."""
    highest = logits.max(axis=-1, keepdims=True)
    total = np.exp(logits - highest).sum(axis=-1, keepdims=True)
    return np.asarray(logits - highest - np.log(total))


def log_probabilities(logits: NDArray[Real], ids: Sequence[int]) -> NDArray[Real]:
    """The logarithm of the probability of each token, one a row."""
    return np.asarray(log_softmax(logits)[np.arange(len(ids)), ids])


def align_tokens(scores: Floats, first: int, count: int) -> list[tuple[int, int]]:
    """When each of ``count`` tokens was said, by where the decoder looked: pairs of a token and a
    position, in order, which visit every token and the end of the text.

    ``scores`` are those of attention, shape ``(heads, rows, positions)``; token 0 is told by row
    ``first``. Made into probabilities, each position's are normalised over the rows, smoothed, and
    averaged over the heads, as in OpenAI's ``timing.py``; then comes dynamic time warping.
    """
    weights = np.exp(log_softmax(scores))
    spread = weights.std(axis=1, keepdims=True)
    weights = (weights - weights.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    weights = weights[:, first : first + count + 1]
    reach = _SMOOTHING // 2
    if weights.shape[-1] > reach:
        padded = np.pad(weights, ((0, 0), (0, 0), (reach, reach)), mode="reflect")
        windows = np.lib.stride_tricks.sliding_window_view(padded, _SMOOTHING, axis=-1)
        weights = np.partition(windows, reach, axis=-1)[..., reach]
    return dtw_path(weights.mean(axis=0))


def dtw_path(likeness: Floats) -> list[tuple[int, int]]:
    """The cells of the path with the largest sum through a matrix, from its first cell to its last,
    by a row, a column or both at a time: dynamic time warping (Sakoe and Chiba, 1978).
    """
    rows, columns = likeness.shape
    # By diagonals, so that all cells of a step are worked out at once: cell (row, column) of the
    # matrix stands in line row + column + 2, at row + 1. Line and place 0 are the border.
    cost = np.full((rows + columns + 1, rows + 1), np.inf, np.float32)
    row, column = np.indices(likeness.shape)
    cost[row + column + 2, row + 1] = -likeness
    moves = np.zeros(cost.shape, np.int8)
    before = np.full(rows + 1, np.inf, np.float32)
    before[0] = 0
    last = np.full(rows + 1, np.inf, np.float32)
    for line in range(2, len(cost)):
        both, down, right = before[:-1], last[:-1], last[1:]
        straight, lower = (both < down) & (both < right), (down < both) & (down < right)
        moves[line, 1:] = np.where(straight, _BOTH, np.where(lower, _ROW, _COLUMN))
        best = np.where(straight, both, np.where(lower, down, right))
        before, last = last, np.append(_BORDER, cost[line, 1:] + best)
    path = []
    at, position = rows, columns
    while at > 0 and position > 0:
        path.append((at - 1, position - 1))
        move = moves[at + position, at]
        at -= move != _COLUMN
        position -= move != _ROW
    return path[::-1]
