"""Moonshine through ONNX Runtime: how well a given text fits the audio, by a second model.

Moonshine tiny (Jeffries et al. 2024, arXiv:2410.15608) was trained by other people than Whisper,
on other recordings, and hears samples where Whisper sees a spectrogram. So it seldom mishears the
same words. It says how probable a wording is, and is asked where Whisper leaves a doubt: does the
required wording fit the audio better than what was heard instead?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent.decoding import joined, log_probabilities, nothing_before, read_tokens
from palprep.consent.facts import (
    NameReading,
    PartReading,
    SecondHearing,
    StatementReading,
)
from palprep.consent.wording.names import AFTER_NAME, name_in, rivals
from palprep.consent.wording.words import SAME_SOUND, negated, replaced, split_words, text_of
from palprep.media.sound import Samples
from palprep.networks import Weights, open_network, read_manifest
from palprep.speech import RATE_HZ

LONGEST_S = 30.0
"""The most audio at once. Its authors give it no more: it was trained on shorter pieces."""

_SHORTEST = 1_600
"""Samples that the encoder needs at the least: 0.1 s."""
_BEGIN = 1
_BYTES = 3
"""The tokens from here on are the 256 bytes, for what no other token has."""
_FIRST_PIECE = _BYTES + 256
_SPACE = "\u2581"
"""Stands for a space in the tokens."""


Heard = dict[str, NDArray[Any]]
"""A stretch of audio as the decoder takes it: positions of 24 ms, and a one for each sample."""


class WordScore(NamedTuple):
    """One word of a text, in the order of its spaces: how probable it is after those before it."""

    log_probability: float
    """Of all its tokens together."""
    probability: float
    """Geometric mean over the tokens that are no punctuation, 0 to 1."""


class Moonshine:
    """The loaded model. Several threads may use it at once."""

    name = "moonshine-tiny"

    def __init__(self, encoder: Any, decoder: Any, tokens: Sequence[bytes], sha256: str) -> None:
        self._encoder = encoder
        self._decoder = decoder
        self._vocabulary = Vocabulary(tokens)
        self._past = nothing_before(decoder)
        self.sha256 = sha256
        """Of the decoder's file."""

    @staticmethod
    @cache
    def load() -> Moonshine:
        """The one of this process. Raises ToolMissing for a missing or damaged file."""
        encoder, decoder, tokens = _files()
        networks = open_network(encoder.read()), open_network(decoder.read())
        return Moonshine(*networks, read_tokens(tokens.read()), decoder.sha256)

    @staticmethod
    def require() -> None:
        """Raises ToolMissing when a file of the model is missing, before it is needed."""
        for file in _files():
            file.require()

    @staticmethod
    def knows(language: str) -> bool:
        """Whether the model reads this language (an ISO 639-1 code)."""
        return language == "en"

    def hear(self, samples: NDArray[np.float32]) -> Heard:
        """Encode up to 30 s of mono audio at 16 kHz, as it is. Only a moment of less than 0.1 s is
        padded with silence.
        """
        padding = max(0, _SHORTEST - len(samples))
        given = np.pad(np.asarray(samples, np.float32), (0, padding))[None]
        mask = np.ones(given.shape, np.int64)
        (encoded,) = self._encoder.run(None, {"input_values": given, "attention_mask": mask})
        # The decoder finds out itself how many positions so many samples are.
        return {"encoder_hidden_states": encoded, "encoder_attention_mask": mask}

    def weigh(self, heard: Heard, text: str, *, lead: str = "") -> float:
        """The logarithm of a text's probability, given the audio; ``lead`` is said before it."""
        return sum(word.log_probability for word in self.words(heard, text, lead=lead))

    def words(self, heard: Heard, text: str, *, lead: str = "") -> tuple[WordScore, ...]:
        """How probable each word of a text is, given the audio and the words before it; ``lead`` is
        said before the text.
        """
        said = [self._vocabulary.tokens(word) for word in f"{lead} {text}".split()]
        ids = [token for word in said for token in word]
        tokens = np.array([[_BEGIN, *ids[:-1]]], np.int64)
        given = {"input_ids": tokens, "use_cache_branch": np.array([False]), **heard, **self._past}
        (logits,) = self._decoder.run(["logits"], given)
        scores = iter(log_probabilities(logits[0].astype(np.float64), ids).tolist())
        found = []
        for word in said:
            own: list[float] = [next(scores) for _ in word]
            spoken = [
                score
                for score, token in zip(own, word, strict=True)
                if self._vocabulary.is_spoken(token)
            ]
            mean = math.exp(sum(spoken) / len(spoken)) if spoken else 1.0
            found.append(WordScore(sum(own), mean))
        return tuple(found[len(lead.split()) :])


def _files() -> list[Weights]:
    files = read_manifest("palprep.consent")
    return [files[f"moonshine_{part}"] for part in ("encoder", "decoder", "tokens")]


class Vocabulary:
    """The tokens, and how a word is made of them. No token reaches over a space."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._texts = [token.decode("utf-8", "replace") for token in tokens]
        self._ids = {text: index for index, text in enumerate(self._texts) if index >= _FIRST_PIECE}

    def is_spoken(self, token: int) -> bool:
        """Whether a token has a letter or a digit."""
        return any(character.isalnum() for character in self._texts[token])

    def tokens(self, word: str) -> list[int]:
        ids: list[int] = []
        for part in joined([_SPACE, *word], self._ids):
            known = self._ids.get(part)
            ids += [_BYTES + byte for byte in part.encode()] if known is None else [known]
        return ids


_UNSURE = 0.1
"""Probability of a word below which the first model is not sure of it."""
_CLOSE = 1.25
"""Log likelihood ratio below which another wording fits the audio about as well as the required."""
_BEFORE_S = 12.0
"""Speech before the statement is heard with it if it lasts no longer than this."""
_LEAD_S = 0.3
_QUIET_S = 1.0
"""So much is heard before and after the words: the model that tells when they are said is not
exact."""


def leaves_doubt(part: PartReading) -> bool:
    """Whether the first model heard anything else than the required words, or hardly heard one."""
    name = part.name
    return bool(part.aligned) and (
        bool(part.instead or part.negating_words or part.negation_in_other_reading)
        or (name is not None and _leaves_name_in_doubt(name))
        or any(word.probability < _UNSURE for word in part.aligned)
        or any(one.log_likelihood_ratio < _CLOSE for one in part.negated)
    )


def _leaves_name_in_doubt(name: NameReading) -> bool:
    least = name.least_log_likelihood_ratio
    rivalled = least is not None and least < _CLOSE
    return rivalled or not name.same or name.transcript_likeness < SAME_SOUND


def hear_again(model: Moonshine, samples: Samples, reading: StatementReading) -> StatementReading:
    """The reading, with what a second model makes of each part that is in doubt.

    ``samples`` are mono at 16 kHz, from the start of the recording.
    """
    parts = tuple(
        part.model_copy(update={"second": _heard_again(model, samples, part, reading)})
        if leaves_doubt(part)
        else part
        for part in reading.parts
    )
    return reading.model_copy(
        update={"parts": parts, "second_model": model.name, "second_model_sha256": model.sha256}
    )


def _heard_again(
    model: Moonshine, samples: Samples, part: PartReading, reading: StatementReading
) -> SecondHearing:
    begins_s, before = _begins(part, reading)
    ends_s = min(part.aligned[-1].end + _QUIET_S, begins_s + LONGEST_S)
    heard = model.hear(samples[round(begins_s * RATE_HZ) : round(ends_s * RATE_HZ)])
    text = " ".join(part.expected)
    words = split_words(text)
    # What the first model heard before the part may be the part's beginning, misheard. So it counts
    # as said only where the part fits better after it.
    tried = {lead: model.words(heard, text, lead=lead) for lead in {before, ""}}
    totals = {lead: sum(word.log_probability for word in tried[lead]) for lead in sorted(tried)}
    lead = max(totals, key=totals.__getitem__)
    weigh = partial(model.weigh, heard, lead=lead)
    changes = negated(text, words)

    def ratio(other: str) -> float:
        return totals[lead] - weigh(other)

    return SecondHearing(
        probabilities=tuple(word.probability for word in tried[lead]),
        instead=tuple(
            ratio(replaced(text, words, one.first, one.last, one.heard)) for one in part.instead
        ),
        negated=tuple(
            ratio(changes.get((one.word, one.heard), text))
            if one.log_likelihood_ratio < _CLOSE
            else 0.0
            for one in part.negated
        ),
        name=_least_of_name(weigh, part, part.name, reading.transcript) if part.name else None,
    )


def _begins(part: PartReading, reading: StatementReading) -> tuple[float, str]:
    """When the audio that is heard begins, and what is said in it before the part."""
    first_s = part.aligned[0].start
    spoken_s = next((span.start_s for span in reading.speech), first_s)
    if not (part.first_word or reading.said_before):
        return max(0.0, first_s - _QUIET_S), ""
    if part.first_word or first_s - spoken_s > _BEFORE_S:
        return max(0.0, first_s - _LEAD_S), ""
    return max(0.0, spoken_s - _QUIET_S), reading.said_before


def _least_of_name(
    weigh: Callable[[str], float], part: PartReading, name: NameReading, transcript: str
) -> float | None:
    """The least log likelihood ratio of the name, up to some words after it, to what was heard in
    its place, to what the transcript has there, and to the name's rival.
    """
    words = split_words(" ".join(part.expected))
    _, written = name_in(transcript, range(name.first, name.last), words)
    heard = [name.heard, text_of(written), name.rival]
    others = rivals(words[name.first : name.last], heard)
    text = " ".join(part.expected[: name.last + AFTER_NAME])
    ratios = (
        weigh(text) - weigh(replaced(text, words, name.first, name.last, other))
        for other in others.values()
    )
    return min(ratios, default=None)
