"""Whisper through ONNX Runtime: what is said, and how well a given text fits the audio.

The default model is Whisper tiny.en with weights of 8 bits. Any other Whisper that
research/conversion/whisper.py has converted can be named instead.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent import decoding
from palprep.consent.model_folder import DEFAULT_MODEL, read_part, require_model
from palprep.errors import ToolFailed, ToolMissing
from palprep.media.sound import Samples
from palprep.networks import open_network
from palprep.speech import FRAME_S, RATE_HZ, WINDOW_S, filterbank, log_mel

_MOST_POSITIONS = 1500
"""Positions of the encoder in 30 s."""
_MOST_TOKENS = 448
"""Whisper's decoder has this many positions. Half of them are for the text before."""
_TOKEN_S = 2 * FRAME_S
"""The encoder halves the frame rate: one position of an alignment is 20 ms."""
_ENGLISH_TOKENS = 51_864
"""Models of English alone have so many tokens; the others have more."""
_LEAST = 1e-9
_ENOUGH = 6.0
"""Log likelihood ratio beyond which an unlikely text counts for nothing."""
_BEAMS = 5
WORKERS = 2
"""Texts weighed at a time, each in one thread. The decoder's matrices are small: two threads
would wait for each other longer than they save."""
Arrays = Mapping[str, decoding.Floats]


class Token(NamedTuple):
    text: str
    probability: float
    start_s: float
    """From the start of the samples that were given."""
    end_s: float
    begin: int
    """Characters ``begin`` up to ``end`` of the text."""
    end: int


@dataclass(frozen=True, eq=False)
class Heard:
    """A stretch of audio as the decoder looks it up."""

    encoded: Arrays
    """Keys of each layer, shape ``(1, heads, 64, 1500)``, and values, ``(1, heads, 1500, 64)``; a
    position is 20 ms.
    """
    frames: int
    """How many 10 ms frames of the window hold audio; the rest is padding."""


class Encoder:
    """The half of a model that listens. Several threads may use it at once."""

    def __init__(self, content: bytes) -> None:
        self._network = open_network(content, alone=True)
        self._filters = filterbank(self._network.get_inputs()[0].shape[1])

    @staticmethod
    @cache
    def load(directory: str | Path | None = None) -> Encoder:
        """That of the default model, or of the one in ``directory``: the one of this process."""
        return Encoder(read_part(directory, "encoder"))

    def encode(self, samples: Samples, positions: int = _MOST_POSITIONS) -> decoding.Floats:
        """Up to 30 s of mono audio at 16 kHz as so many positions of 20 ms, with silence after it:
        shape ``(1, positions, numbers)``. What a decoder is to read needs all of them.
        """
        features = log_mel(samples, self._filters)[None, :, : 2 * positions]
        (encoded,) = self._network.run(None, {"features": np.ascontiguousarray(features)})
        return np.asarray(encoded, np.float32)


class Whisper:
    """A loaded model: the default one, or the converted one in ``directory``. Several threads may
    use it at once."""

    def __init__(self, directory: str | Path | None = None) -> None:
        memory, decoder, tokens = (
            read_part(directory, part) for part in ("memory", "decoder", "tokens")
        )
        self._encoder = Encoder.load(directory)
        self._memory, self._decoder = (
            open_network(content, alone=True) for content in (memory, decoder)
        )
        self._tokens = decoding.ByteTokens(decoding.read_tokens(tokens))
        metadata = self._decoder.get_modelmeta().custom_metadata_map
        self._never, self._never_first = (
            json.loads(metadata[key]) for key in ("suppress_ids", "suppress_ids_begin")
        )
        self._nothing_before = decoding.nothing_before(self._decoder)
        self.name = require_model(Path(directory)).name if directory else DEFAULT_MODEL
        self.sha256 = hashlib.sha256(decoder).hexdigest()
        """Of the decoder's file."""

    @staticmethod
    @cache
    def load(directory: str | Path | None = None) -> Whisper:
        """The one of this process.

        Raises ToolMissing when a file is missing, or is not the one that the manifest names;
        ToolFailed when a model of one's own cannot be loaded.
        """
        try:
            return Whisper(directory)
        except ToolMissing:
            raise
        except Exception as error:
            if directory is None:
                raise
            # ONNX Runtime has exceptions of its own, one for each status.
            raise ToolFailed(
                f"The Whisper model in {directory} cannot be loaded: {error}. Convert it again "
                "with research/conversion/whisper.py."
            ) from None

    def knows(self, language: str) -> bool:
        """Whether the model reads this language (an ISO 639-1 code)."""
        if not self._is_multilingual:
            return language == "en"
        return self._tokens.number(f"<|{language}|>") is not None

    def hear(self, samples: Samples) -> Heard:
        """Encode up to 30 s of mono audio at 16 kHz."""
        encoded = self._encoder.encode(samples)
        frames = min(len(samples), int(RATE_HZ * WINDOW_S)) // int(RATE_HZ * FRAME_S)
        names = [entry.name for entry in self._memory.get_outputs()]
        memory = dict(zip(names, self._memory.run(names, {"encoded": encoded}), strict=True))
        return Heard(memory, max(1, frames))

    def transcribe(
        self,
        heard: Heard,
        language: str,
        *,
        hypotheses: int = 1,
        begun: str = "",
        tokens: int = _MOST_TOKENS,
    ) -> tuple[str, ...]:
        """Free decoding by beam search: the most probable texts, best first. They begin with
        ``begun``. A text has at most half as many tokens as its prompt and ``tokens`` together.
        """
        said = self._ids(begun)
        prompt = [*self._start(language), self._id("<|notimestamps|>"), *said]
        length = min(_MOST_TOKENS, len(prompt) + tokens) // 2 - len(said)
        logits, past = self._decode(heard, [prompt], self._nothing_before)

        def advance(next_tokens: NDArray[np.intp], rows: NDArray[np.intp]) -> decoding.Floats:
            nonlocal past
            past = {name: array[rows] for name, array in past.items()}
            found, past = self._decode(heard, next_tokens[:, None], past)
            return found[:, -1]

        texts = decoding.beam_search(
            logits[:, -1],
            advance,
            beams=max(_BEAMS, hypotheses),
            length=max(0, length),
            end=self._id("<|endoftext|>"),
            never=self._never,
            never_first=self._never_first,
            before=len(said),
        )
        found = (self._tokens.decode([*said, *ids]).strip() for ids in (texts or [()])[:hypotheses])
        return tuple(dict.fromkeys(found))

    def align(
        self,
        heard: Heard,
        text: str,
        language: str,
        *,
        lead: str = "",
        tail: str = "",
        prompt: str | None = None,
    ) -> tuple[Token, ...]:
        """Align a text with the audio: per token its probability, given the audio and the
        text before it, and when it is said.

        ``lead`` and ``tail`` are said in the audio before and after the text. ``prompt`` is
        given to the model as text that came before the audio, so that it knows how a name is
        spelled.
        """
        encoding = self._tokens.encode(" " + text)
        before = self._ids(lead)
        start = self._start(language, prompt)
        ids = [*before, *encoding.ids, *self._ids(tail)]
        tokens = [*start, self._id("<|notimestamps|>"), *ids, self._id("<|endoftext|>")]
        given = {"tokens": np.array([tokens]), **heard.encoded, **self._nothing_before}
        logits, scores = (each[0] for each in self._decoder.run(["logits", "scores"], given))
        positions = heard.frames // 2
        path: list[tuple[int, int]] = []
        if positions:
            path = decoding.align_tokens(scores[..., :positions], len(start), len(ids))
        own = logits[len(start) : len(start) + len(ids)]
        chosen = self._probabilities(own, ids)[len(before) :]
        return _tokens(" " + text, encoding, chosen, path, len(before))

    def weigh(
        self,
        heard: Heard,
        texts: Sequence[str],
        language: str,
        *,
        lead: str = "",
        prompt: str | None = None,
        unlikely: Sequence[str] = (),
    ) -> tuple[float, ...]:
        """Per text the logarithm of its probability; when it is said is not worked out.

        A text is read only from where it differs from the first one: name that text first which the
        others are changes of. The ``unlikely`` texts come last. Of these one is not read on once
        its first token that differs makes it e^6 times less probable than the first text; what is
        returned for it is then an upper bound.
        """
        start = [*self._start(language, prompt), self._id("<|notimestamps|>")]
        before = self._ids(lead)
        ids = [[*before, *self._ids(text)] for text in (*texts, *unlikely)]
        logits, after = self._decode(heard, [[*start, *ids[0]]], self._nothing_before)
        own_logits = logits[0, len(start) - 1 : -1]
        first = self._probabilities(own_logits, ids[0])
        total = _log_product(first[len(before) :])

        def one(own: Sequence[int], enough: float) -> float:
            pairs = zip(own[:-1], ids[0], strict=False)
            same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
            if same < len(first):
                begun = [*first[:same], *self._probabilities(own_logits[same:][:1], own[same:][:1])]
                most = _log_product(begun[len(before) :])
                if total - most > enough:
                    return most
            known = len(start) + same - 1
            past = {name: array[:, :, :known] for name, array in after.items()}
            logits, _ = self._decode(heard, [[*start, *own][known:-1]], past)
            probabilities = first[:same] + self._probabilities(logits[0], own[same:])
            return _log_product(probabilities[len(before) :])

        with ThreadPoolExecutor(WORKERS) as workers:
            enough = [*(math.inf for _ in texts), *(_ENOUGH for _ in unlikely)]
            return (total, *workers.map(one, ids[1:], enough[1:]))

    def remembering(self) -> Whisper:
        """The same model for one recording that is read several times: it keeps what it heard last,
        and what it wrote down of it."""
        return _Remembering(self)

    @property
    def _is_multilingual(self) -> bool:
        return len(self._tokens) > _ENGLISH_TOKENS

    def _decode(
        self, heard: Heard, tokens: Any, past: Arrays
    ) -> tuple[decoding.Floats, dict[str, decoding.Floats]]:
        """The logits after each token, shape ``(rows, positions, tokens)``, and what the next ones
        follow on.
        """
        states = [name.replace("past_", "next_") for name in past]
        given = {"tokens": np.asarray(tokens, np.int64), **heard.encoded, **past}
        logits, *following = self._decoder.run(["logits", *states], given)
        return logits, dict(zip(past, following, strict=True))

    def _probabilities(self, logits: decoding.Floats, ids: Sequence[int]) -> list[float]:
        """The probability of each token among tokens of text, without signs of the model."""
        logs = decoding.log_probabilities(logits[:, : self._id("<|endoftext|>")], ids)
        return [math.exp(log) for log in logs]

    def _ids(self, text: str) -> list[int]:
        return self._tokens.encode(" " + text).ids if text else []

    def _start(self, language: str, prompt: str | None = None) -> list[int]:
        start: list[int] = []
        if prompt is not None:
            start += [self._id("<|startofprev|>"), *self._ids(f"{prompt}.")]
        start.append(self._id("<|startoftranscript|>"))
        if self._is_multilingual:
            start += [self._id(f"<|{language}|>"), self._id("<|transcribe|>")]
        return start

    def _id(self, token: str) -> int:
        found = self._tokens.number(token)
        if found is None:
            raise ToolFailed(f"The model {self.name} does not know the token {token}")
        return found


class _Remembering(Whisper):
    def __init__(self, model: Whisper) -> None:
        vars(self).update(vars(model))
        # The window of the statement, and what follows it.
        self._hear = lru_cache(2)(lambda audio: model.hear(np.frombuffer(audio, np.float32)))
        self._transcribe = lru_cache(2)(model.transcribe)

    def hear(self, samples: Samples) -> Heard:
        return self._hear(samples.tobytes())

    def transcribe(self, heard: Heard, language: str, **options: Any) -> tuple[str, ...]:
        return self._transcribe(heard, language, **options)


def mean_probability(tokens: Sequence[Token], begin: int, end: int) -> float:
    """The geometric mean over the tokens of a stretch of text, punctuation aside."""
    spoken = [
        token
        for token in tokens
        if token.begin < end and token.end > begin and any(char.isalnum() for char in token.text)
    ]
    return math.exp(_log_product([token.probability for token in spoken]) / max(1, len(spoken)))


def _log_product(probabilities: Sequence[float]) -> float:
    """The logarithm; none counts as less probable than one in a thousand million."""
    return sum(math.log(max(_LEAST, probability)) for probability in probabilities)


def _tokens(
    text: str,
    encoding: decoding.Encoding,
    probabilities: Sequence[float],
    path: Sequence[tuple[int, int]],
    before: int,
) -> tuple[Token, ...]:
    """Join a text's tokens with their probabilities and times. ``path`` visits every token, the
    ``before`` tokens of the lead first.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for token, position in path:
        first.setdefault(token - before, position)
        last[token - before] = position
    # The tail's tokens stand at the end of the longer list.
    found = zip(encoding.spans, probabilities, strict=False)
    return tuple(
        Token(
            text=text[begin:end],
            probability=probability,
            start_s=first.get(index, 0) * _TOKEN_S,
            end_s=(last.get(index, first.get(index, 0)) + 1) * _TOKEN_S,
            # One space stands before the text that the caller gave.
            begin=max(0, begin - 1),
            end=end - 1,
        )
        for index, ((begin, end), probability) in enumerate(found)
    )
