"""The most probable texts, and the path of an alignment, against what trying everything finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from palprep.consent.decoding import align_tokens, beam_search, dtw_path, log_softmax

END = 0


class Chain:
    """A language of a few tokens in which each depends on the one before it."""

    def __init__(self, seed: int, size: int = 5) -> None:
        draws = np.random.default_rng(seed).normal(0, 2, (size, size)).astype(np.float32)
        self.logs = log_softmax(draws)
        self.size = size

    def first(self) -> np.ndarray:
        return self.logs[:1].copy()

    def advance(self, tokens: np.ndarray, rows: np.ndarray) -> np.ndarray:
        assert len(tokens) == len(rows)
        return self.logs[tokens].copy()

    def score(self, text: tuple[int, ...], *, ends: bool = True) -> float:
        steps = itertools.pairwise((END, *text, *([END] if ends else [])))
        return sum(float(self.logs[before, after]) for before, after in steps) / len(text)


def search(**changed: object) -> dict[str, object]:
    return {"beams": 8, "length": 4, "end": END, "never_first": (END,), **changed}


@pytest.mark.parametrize("seed", range(8))
def test_the_best_text_is_the_best_of_all(seed: int) -> None:
    chain = Chain(seed)
    [best, *_] = beam_search(chain.first(), chain.advance, **search(beams=60))
    # The first token's logits lose the end, and are normalised over the others.
    lost = float(np.log1p(-np.exp(chain.logs[END, END])))
    texts = [
        text
        for length in range(1, 5)
        for text in itertools.product(range(1, chain.size), repeat=length)
    ]
    scores = {text: chain.score(text, ends=len(text) < 4) - lost / len(text) for text in texts}
    assert scores[best] == pytest.approx(max(scores.values()), abs=1e-5)


def test_no_text_has_what_is_forbidden() -> None:
    chain = Chain(3)
    texts = beam_search(chain.first(), chain.advance, **search(never=(2,)))
    assert texts
    assert all(2 not in text and text for text in texts)


def test_a_text_stops_at_its_length() -> None:
    chain = Chain(1)
    chain.logs[:, END] = -40
    texts = beam_search(chain.first(), chain.advance, **search(length=3))
    assert {len(text) for text in texts} == {3}


def test_what_a_text_begins_with_counts_for_its_length() -> None:
    """With much before, a longer text gains less by its length."""
    logs = np.log(np.array([[0.1, 0.8, 0.1], [0.5, 0.01, 0.49], [0.6, 0.39, 0.01]], np.float32))

    def best(before: int) -> tuple[int, ...]:
        found = beam_search(
            logs[:1].copy(),
            lambda tokens, _: logs[tokens].copy(),
            **search(beams=3, length=3, before=before),
        )
        return found[0]

    assert len(best(0)) > len(best(1000))


def everyone(likeness: np.ndarray) -> float:
    """The largest sum of all paths, one after the other."""
    rows, columns = likeness.shape
    best = np.full((rows, columns), -np.inf)
    for row, column in itertools.product(range(rows), range(columns)):
        before = [
            best[at]
            for at in ((row - 1, column - 1), (row - 1, column), (row, column - 1))
            if min(at) >= 0
        ]
        best[row, column] = likeness[row, column] + max(before, default=0.0)
    return float(best[-1, -1])


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (4, 9), (9, 4)])
def test_the_path_is_the_best_of_all(shape: tuple[int, int]) -> None:
    likeness = np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)
    path = dtw_path(likeness)
    assert path[0] == (0, 0)
    assert path[-1] == (shape[0] - 1, shape[1] - 1)
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(path)}
    assert steps <= {(0, 1), (1, 0), (1, 1)}
    assert sum(likeness[cell] for cell in path) == pytest.approx(everyone(likeness), abs=1e-4)


def test_tokens_are_said_where_attention_looked() -> None:
    """Rows 0 and 1 are signs of the model; then three tokens and the end, ten positions each."""
    scores = np.random.default_rng(0).normal(0, 0.1, (4, 6, 40)).astype(np.float32)
    for row in range(4):
        scores[:, 2 + row, 10 * row : 10 * row + 10] += 6
    path = align_tokens(scores, first=2, count=3)
    begin = dict(reversed(path))
    assert [abs(begin[token] - 10 * token) <= 3 for token in range(4)] == [True] * 4


def test_fewer_positions_than_are_smoothed_over_are_taken_as_they_are() -> None:
    scores = np.zeros((2, 4, 2), np.float32)
    assert {token for token, _ in align_tokens(scores, first=1, count=2)} == {0, 1, 2}
