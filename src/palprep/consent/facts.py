"""What can be known of a consent statement that is spoken in a recording.

Times are in seconds from the start of the recording, probabilities 0 to 1. A log likelihood
ratio is the natural logarithm of P(required wording) / P(other wording), given the audio.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from statistics import linear_regression, pstdev
from typing import Any

from pydantic import Field

from palprep.consent.wording.statement import CodeReading
from palprep.values import Outcome, Span, Value

LEAST_TO_SYNC_S = 5.0
"""With fewer seconds of lips too many genuine talkers would be doubted (docs/accuracy.md)."""

_TAKE_WORDS, _TAKE_S, _PART_S = 12, 0.03, 0.02
"""Two files hold one take if so many words or more start at one pace, with a standard deviation of
so many seconds at the most: copies reach 0.02, a second take of one synthetic voice 0.04. Parts of
a take, between which something was cut out or put in, must keep to less."""

_JOINT_WORDS = 3

OPENING_S = 30.0
"""The statement must begin within so many seconds."""

AFTERWARDS_S = 12.0
"""Seconds after the statement that are listened to."""


class WordRecord(Value):
    """One word of the required statement, or one that was added to it.

    ``expected`` is None for an added word, ``heard`` for one that was not said. ``start``
    and ``end`` are None where nothing was found. ``probability`` is that of the word in the
    required text, aligned with the audio; None for an added word. ``outcome`` is ``unknown`` until
    the word is graded.
    """

    expected: str | None
    heard: str | None = None
    start: float | None = None
    end: float | None = None
    probability: float | None = None
    outcome: Outcome = Outcome.UNKNOWN


class AlignedWord(WordRecord):
    """A required word aligned with the audio, whether or not it was said there. ``heard`` is what
    the free reading has in its place, ``probability`` the geometric mean of those of its tokens.
    """

    start: float
    end: float
    probability: float


class HeardInstead(Value):
    """Required words ``first`` up to ``last`` were heard as something else. None are required
    where ``first`` equals ``last``: words were added there."""

    first: int
    last: int
    heard: str
    log_likelihood_ratio: float
    in_every_reading: bool
    """Whether all readings of the search have these words, after the word before them."""


class NegatedWording(Value):
    """A small change of a required word that gives the statement the opposite sense."""

    word: int
    heard: str
    """The words that would then stand there."""
    log_likelihood_ratio: float
    """Above 6 it is a lower bound."""


class NameReading(Value):
    """What was heard in the place of the name, the required words ``first`` up to ``last``."""

    first: int
    last: int
    heard: str = ""
    likeness: float = 0.0
    """Best similarity in sound between the name, as it is spoken or written, and any free reading
    of its place, 0 to 1."""
    same: bool = False
    """Whether a free reading heard the very name, word for word by its sound."""
    transcript_likeness: float = 0.0
    """Similarity in sound between the name and what the best free reading of the whole statement,
    the transcript, has in its place."""
    prompted_probability: float = 0.0
    """Probability of the name's least probable word once the model is prompted with the name's
    spelling. A name that is not spoken stays improbable (research/evaluation/names.py)."""
    log_likelihood_ratio: float | None = 0.0
    """Of the name against what was heard, the model being prompted with both spellings; None
    where the very name was heard."""
    rival: str = ""
    """Of the free readings of the place that differ from the name, the one that fits best."""
    least_log_likelihood_ratio: float | None = None
    """The ratio against that one, the least of all; None where no reading differs from the name."""


class SecondHearing(Value):
    """How well the wordings of a part fit the same audio for a second model, which was trained by
    others and on other recordings. It transcribes nothing itself."""

    probabilities: tuple[float, ...]
    """Per expected word, as those of the first model."""
    instead: tuple[float, ...]
    """Per entry of ``instead`` the log likelihood ratio."""
    negated: tuple[float, ...] = ()
    """Per entry of ``negated``; 0 where the first model is sure."""
    name: float | None = None
    """The least log likelihood ratio of the name against what the first model heard in its place,
    also in its transcript, and against the rival; None where all are the very name."""


class PartReading(Value):
    """The reading of the statement, or of a part of one that is too long for the model."""

    first_word: int
    """How many words of the statement stand before this part."""
    expected: tuple[str, ...]
    inserted: str = ""
    """What is heard between the part before and this one."""
    aligned: tuple[AlignedWord, ...] = ()
    """One per expected word; empty where the part was not heard."""
    instead: tuple[HeardInstead, ...] = ()
    """Where the free reading differs, except in the name."""
    name: NameReading | None = None
    """None where the part does not hold the name."""
    negated: tuple[NegatedWording, ...] = ()
    negating_words: tuple[str, ...] = ()
    """Words heard within the statement that negate, and that it does not have."""
    negation_in_other_reading: bool = False
    """Whether a less probable reading hears a negation."""
    second: SecondHearing | None = None
    """None where the first model had no doubt, or there is no second one for the language."""


class Listening(Value):
    """What was listened for in an opening, what was heard, and who listened."""

    statement: str
    """The required statement with the name filled in."""
    full_name: str
    spoken_as: str | None = None
    """How the name sounds, which is then listened for instead of the name as it is written."""
    language: str
    transcript: str = ""
    """What was heard in the opening, whether or not it is the statement."""
    said_before: str = ""
    """What is heard before the statement; empty when it opens the recording."""
    said_after: str = ""
    """What is heard after it within the opening."""
    model: str | None = None
    """The model that listened, and the sha256 of its decoder."""
    model_sha256: str | None = None
    second_model: str | None = None
    """The one that was asked where the first left a doubt; None where it was not."""
    second_model_sha256: str | None = None
    code: CodeReading | None = None
    """What was heard of a fresh code; None where none was given out."""


class Surroundings(Value):
    """What is heard before and after the statement."""

    before: str = ""
    """Before it, as the transcript has it."""
    perhaps_before: str = ""
    """Between that and the statement: it may be the misheard beginning of the statement."""
    after: tuple[str, ...] = ()
    """After it: as the transcript has it, then readings of it alone, the most probable one first.
    """


class StatementReading(Listening):
    """Everything that was read of a statement, ungraded."""

    problem: str | None = None
    """Why nothing could be read; None where it was."""
    speech: tuple[Span, ...] = ()
    """Stretches of speech in the opening."""
    parts: tuple[PartReading, ...] = ()
    surroundings: Surroundings = Surroundings()

    @property
    def aligned(self) -> list[AlignedWord]:
        """The words of all parts that were found."""
        return [word for part in self.parts for word in part.aligned]


class ConsentFacts(Listening):
    """Whether the required statement was spoken, word by word.

    ``outcome`` is ``pass`` when two readings agree on every word, or the required word fits the
    audio as well as what was written down; ``warn`` when it fits less well, but no other word is
    sure; ``fail`` when a word is missing, changed, added or negated; ``unknown`` when nothing could
    be read. ``reasons`` say it in sentences.
    """

    outcome: Outcome
    before: Outcome = Outcome.PASS
    """Of ``said_before`` alone: ``pass`` for nothing and for what is harmless, ``warn`` for what
    may change what the statement means, ``fail`` for what does."""
    after: Outcome = Outcome.PASS
    """The same of ``said_after``."""
    starts_at: float | None
    """When the statement's first word begins; None when it was not found."""
    ends_at: float | None
    words: tuple[WordRecord, ...] = Field(repr=False)
    reasons: tuple[str, ...]
    path: str | None = Field(default=None, exclude=True, repr=False)
    """The file that ``verify_consent`` listened to. Not part of the JSON."""

    @property
    def stated(self) -> Span | None:
        """When the statement is spoken; None where it was not found."""
        if self.starts_at is None or self.ends_at is None:
            return None
        return Span(start_s=self.starts_at, end_s=self.ends_at)

    def same_take(self, other: ConsentFacts | None) -> bool:
        """Whether both were heard in one take, even if it was cut, converted or played at another
        pace: nobody speaks twice in quite the same way. The last required words are compared: a
        name before them may be spelled otherwise."""
        one, another = (
            [word for word in reversed(each.words if each else ()) if word.expected]
            for each in (self, other)
        )
        pairs = zip(one, another, strict=False)
        starts = [
            (same.start, word.start)
            for word, same in takewhile(lambda pair: pair[0].expected == pair[1].expected, pairs)
            if word.start is not None and same.start is not None
        ]
        return _steady(starts, _TAKE_S) or _steady_in_parts(starts)

    def shown(self, path: str) -> dict[str, Any]:
        """The object that ``palprep consent --json`` prints, keys in the documented order."""
        data = self.to_json()
        keys = ("outcome", "transcript", "starts_at", "ends_at", "words", "reasons")
        asked = ("code",) if self.code else ()
        return {"path": path, **{key: data[key] for key in (*keys, *asked)}}


def _steady(starts: Sequence[tuple[float, float]], most_s: float) -> bool:
    """Whether words start at these times in two files at one pace."""
    if len(dict(starts)) < _TAKE_WORDS:
        return False
    pace, _ = linear_regression(*zip(*starts, strict=True))
    return pace > 0 and pstdev(at - pace * same_at for same_at, at in starts) <= most_s


def _steady_in_parts(starts: Sequence[tuple[float, float]]) -> bool:
    """The same of all parts but for the words at the joints, whose times a joint blurs."""
    whole, rests = len(starts), set[int]()
    # The words from which on it is so. From the last one back, since many ways to part what stands
    # before have the same rest.
    for first in range(whole - _TAKE_WORDS, -1, -1):
        joints = (
            end
            for end in range(first + _TAKE_WORDS, whole)
            if not rests.isdisjoint(range(end, end + _JOINT_WORDS + 1))
        )
        if any(_steady(starts[first:end], _PART_S) for end in (whole, *joints)):
            rests.add(first)
    return 0 in rests


class Synchrony(Value):
    """How lips and sound go together."""

    correlation: float
    """Mean of the four correlations, at the best shift of the sound by up to 0.24 s."""
    margin: float
    """How much that exceeds the best correlation at shifts of 0.36 to 2 s."""
    lag_s: float
    """The best of all shifts; positive when the sound is late."""


class LipsFacts(Value):
    """Lips, eyes and head over a stretch of speech, from frame to frame. Times count from where a
    player starts."""

    stated: bool
    """Whether the stretch is that of the statement; else it is the densest speech."""
    span: Span
    motion: float | None = None
    """The least motion of the lips over three seconds of speech: the mean standard deviation of six
    distances, in lengths of the nose or distances of the eyes. None without three seconds of speech
    that show a face throughout."""
    rests_at_s: float | None = None
    """When those three seconds begin."""
    repeat: float | None = None
    """How much the course of the lips differs from itself, played forwards or backwards, where two
    seconds of it come closest to any two before: the root mean square distance, 1 for unrelated
    courses of that spread and 0 for the same frames. None where too little is seen."""
    repeats_at_s: float | None = None
    """When those two seconds come again."""
    blink: float | None = None
    """The deepest blink, in widths of the eye: how far the mean of three frames lies below those
    half a second before and after. About 0.2 if the eyes shut. None with less than 8 s of the face.
    """
    head: float | None = None
    """How far the head moves against its surroundings, in widths of the face: the median, over all
    8 s, of the standard deviation of where it is. None where less than 8 s of both are seen."""
    parallax: float | None = None
    """How far the nose moves against the rest of the face, in widths of the face: the standard
    deviation. About 0 on a flat picture. None with less than 8 s of the face."""
    synchrony: Synchrony | None = None
    """How they go together with the sound; None with less than :data:`LEAST_TO_SYNC_S` of lips, or
    too little of both."""
