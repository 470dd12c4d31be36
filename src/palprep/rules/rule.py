"""What a rule is: the facts that it needs, what it answers where they are missing, and a measure
that is held against limits.

A rule only measures. What it is compared with stands in a profile as data, which users extend;
what it says in :mod:`palprep.rules.texts`, under the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from palprep import media
from palprep.consent import ConsentFacts, LipsFacts
from palprep.facts import Facts, Timeline
from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.rules.texts import (
    ABOVE,
    BELOW,
    MET,
    OTHERWISE,
    REASONS,
    TEXTS,
    Measure,
    RuleText,
    Unmeasured,
    measure_words,
)
from palprep.speech import VoiceFacts
from palprep.values import Outcome, Rect, Value
from palprep.vision import FootageFacts, FrameSample, Framing, PortraitFacts, Quality, SubjectFacts

F = TypeVar("F")
G = TypeVar("G")


class Measured(Value):
    """What a rule found. ``value`` is what the limits are held against.

    ``shown`` replaces the value in the report where the bare value says too little. ``words``
    fill the places of all of the rule's sentences, whichever is said. ``way`` names the sentence,
    where the side of the broken limit does not tell. ``advice`` replaces the rule's general advice
    where this file's own is known. ``cause`` says that ``value`` stands for something that cannot
    be measured, and why: its reason and its advice are told instead of the rule's.
    """

    value: Measure
    shown: str | None = None
    words: Mapping[str, str] = {}
    way: str | None = None
    advice: str | None = None
    region: Rect | None = None
    cause: Unmeasured | None = None


Answer = Measured | Unmeasured | None
"""A measure, why there is none, or None where the rule does not apply to such a file."""


@dataclass(frozen=True, slots=True)
class Need(Generic[F]):
    """The facts that a rule needs, and the answer where they are missing.

    ``get`` takes them out of a file's facts. In their place it may return an answer: a reason,
    a measure where it is the absence that counts, or None where the rule does not apply.
    """

    get: Callable[[Facts], F | Answer]

    def then(
        self, part: Callable[[F], G | Answer], missing: Measured | Unmeasured | None = None
    ) -> Need[G]:
        """The need of a part of these facts; ``missing`` is the answer where it is None."""

        def get(facts: Facts) -> G | Answer:
            whole = self.get(facts)
            if whole is None or isinstance(whole, Measured | Unmeasured):
                return whole
            found = part(whole)
            return missing if found is None else found

        return Need(get)


@dataclass(frozen=True)
class Checked:
    """What is held against limits under an id, and says what was found."""

    id: str

    @property
    def texts(self) -> RuleText:
        return TEXTS.rules[self.id]

    def check(
        self, found: Measured | Unmeasured, limits: Sequence[Limit], *, label: str | None = None
    ) -> Check:
        """Hold a measure against every limit; the worst broken limit decides. Where all hold, the
        first one is shown.

        ``label`` stands in the check instead of the rule's own.
        """
        broken = []
        if isinstance(found, Measured):
            broken = [limit for limit in limits if not limit.holds(found.value)]
        decisive = min(broken, key=lambda limit: limit.level is not Outcome.FAIL, default=limits[0])
        common = {
            "id": self.id,
            "label": label or self.texts.label,
            "limit": self.texts.limit or decisive.words(self.texts.unit),
            "at_least": max((each.min for each in limits if each.min is not None), default=None),
            "at_most": min((each.max for each in limits if each.max is not None), default=None),
            "source": decisive.source,
        }
        if isinstance(found, Unmeasured):
            return Check(
                outcome=Outcome.UNKNOWN, sentence=found.reason, advice=found.advice, **common
            )
        shown = found.value if found.shown is None else found.shown
        caused = found.cause.advice if found.cause else None
        return Check(
            outcome=decisive.level if broken else Outcome.PASS,
            sentence=self._sentence(found, shown, decisive, kept=not broken),
            measured=shown,
            advice=(caused or found.advice or self.texts.advice) if broken else None,
            region=found.region,
            **common,
        )

    def _sentence(self, found: Measured, shown: Measure, limit: Limit, *, kept: bool) -> str:
        """The finding in words: the cause, what was measured, or how it breaks the limit.

        A yes or no says itself, whichever of them a profile asks for.
        """
        if found.cause is not None:
            return found.cause.reason
        said = kept if not isinstance(found.value, bool) else found.value
        way = MET if said else found.way or _way(found.value, limit)
        sentence = self.texts.sentence(way, limit.level)
        return sentence.format_map({"measured": measure_words(shown), **found.words})


def _way(value: Measure, limit: Limit) -> str:
    """On which side of a limit that it breaks a value lies."""
    if not isinstance(value, int | float) or (limit.min is None and limit.max is None):
        return OTHERWISE
    return BELOW if limit.min is not None and value < limit.min else ABOVE


@dataclass(frozen=True)
class Rule(Checked):
    """One rule of one file, and its measure: a pure function of the facts that it needs."""

    measure: Need[Measured]
    place: Callable[[Facts], Rect | None] | None = None
    """Where the file shows what was measured, unless the measure itself says it."""

    def judge(self, facts: Facts, limits: Sequence[Limit]) -> Check | None:
        """The check of a file against its limits; None where the rule does not apply."""
        found = self.measure.get(facts)
        if self.place and isinstance(found, Measured) and found.region is None:
            found = found.model_copy(update={"region": self.place(facts)})
        return None if found is None else self.check(found, limits)


def rule(
    needs: Need[F], place: Callable[[Facts], Rect | None] | None = None
) -> Callable[[Callable[[F], Answer]], Rule]:
    """Makes a rule of the function that measures what it ``needs``: the measure, why there is none,
    or None where the rule does not apply. The function's name is the rule's id.
    """

    def made(measure: Callable[[F], Answer]) -> Rule:
        return Rule(measure.__name__, needs.then(measure), place)

    return made


def plain(
    rule_id: str,
    needs: Need[F],
    value: Callable[[F], Measure],
    shown: str | tuple[str, str] | None = None,
) -> Rule:
    """A rule that holds one value against limits, and does not apply where it is None.

    ``shown`` is how a report shows it: a format, or the words for true and for false. None shows
    the bare value.
    """

    def measure(needed: F) -> Measured | None:
        found = value(needed)
        if found is None:
            return None
        words = (shown[0] if found else shown[1]) if isinstance(shown, tuple) else shown
        return Measured(value=found, shown=words and words.format(found))

    return Rule(rule_id, needs.then(measure))


def sides(
    chosen: Callable[[int, int], int], picture: media.ImageFacts | media.VideoFacts
) -> Measured:
    """The shorter or the longer side of an image or of frames, shown with the other one."""
    width, height = picture.width, picture.height
    return Measured(value=chosen(width, height), shown=f"{width} x {height} px")


BARELY_VISIBLE = 0.5
"""Of a face that is less visible, age, colour and photographic look are not judged."""

PERSON_THERE = 0.25
"""Least share of a portrait that the mask of a person covers."""

NO_FACE = REASONS["no_face"]
HIDDEN = REASONS["hidden"]
NOT_LISTENED = REASONS["not_listened"]
NOT_FOUND = REASONS["not_found"]
KEY_FRAMES_ONLY = REASONS["key_frames_only"]
NO_FRAMES = REASONS["no_frames"]


class Framed(NamedTuple):
    """A portrait in which a face was found, and where that face stands."""

    framing: Framing
    portrait: PortraitFacts


def face_place(facts: Facts) -> Rect | None:
    """Where the largest face of a portrait stands."""
    framing = facts.portrait and facts.portrait.framing
    return framing.face if framing else None


def _skin(portrait: PortraitFacts) -> Quality | Unmeasured:
    if portrait.framing is None:
        return NO_FACE
    if portrait.subject is None or portrait.subject.visibility.whole < BARELY_VISIBLE:
        return REASONS["covered"]
    return portrait.quality


def face_or(
    nobody: Measured | Unmeasured, somebody: Measured | Unmeasured, hidden: Measured | Unmeasured
) -> Need[SubjectFacts]:
    """The largest face. ``nobody`` answers for a portrait that shows no one, ``somebody`` for one
    that shows a person and no face, ``hidden`` for a face that is there and cannot be made out.
    """

    def get(portrait: PortraitFacts) -> SubjectFacts | Measured | Unmeasured:
        if portrait.framing is None:
            return nobody if portrait.person_share < PERSON_THERE else somebody
        return portrait.subject or hidden

    return PORTRAIT.then(get)


def _structure(facts: Facts) -> Timeline | Answer:
    if facts.timeline is None or facts.audio is None:
        return None
    return NOT_LISTENED if facts.voice is None else facts.timeline


def _lips(facts: Facts) -> LipsFacts | Answer:
    heard = _structure(facts)
    return facts.lips or REASONS["no_lips"] if isinstance(heard, Timeline) else heard


def _consent(facts: Facts) -> ConsentFacts | Answer:
    if facts.audio is None:
        return None
    if facts.consent is None:
        return REASONS["no_name"]
    if facts.consent.outcome is Outcome.UNKNOWN:
        return Unmeasured(reason=" ".join(facts.consent.reasons))
    return facts.consent


FACTS: Need[Facts] = Need(lambda facts: facts)
FILE: Need[media.FileFacts] = Need(lambda facts: facts.file)
IMAGE: Need[media.ImageFacts] = Need(lambda facts: facts.image)
AUDIO: Need[media.AudioFacts] = Need(lambda facts: facts.audio)
"""The sound of a recording or of a video."""
LEVELS: Need[media.AudioLevels] = AUDIO.then(lambda audio: audio.levels, REASONS["no_levels"])
VIDEO: Need[media.VideoFacts] = Need(lambda facts: facts.video)
SIGNAL: Need[media.SignalFacts] = VIDEO.then(lambda video: video.signal, NO_FRAMES)
EVERY_FRAME: Need[media.SignalFacts] = SIGNAL.then(
    lambda signal: None if signal.cuts is None else signal, KEY_FRAMES_ONLY
)
"""The signal, where all frames were looked at and not only key frames."""
TIMING: Need[media.TimingFacts] = VIDEO.then(lambda video: video.timing)
FOOTAGE: Need[FootageFacts] = Need(
    lambda facts: (facts.footage or NO_FRAMES) if facts.video is not None else None
)
SEEN: Need[tuple[FrameSample, ...]] = FOOTAGE.then(lambda footage: footage.seen or None, NO_FACE)
"""The frames that show a face, one at the least."""
VOICE: Need[VoiceFacts] = Need(
    lambda facts: facts.voice or (None if facts.audio is None else NOT_LISTENED)
)
STRUCTURE: Need[Timeline] = Need(_structure)
"""The timeline of a video with sound that was listened to."""
LIPS: Need[LipsFacts] = Need(_lips)
"""The lips while the statement is spoken, or else while somebody speaks."""
PORTRAIT: Need[PortraitFacts] = Need(
    lambda facts: facts.portrait or (None if facts.image is None else REASONS["not_looked"])
)
FRAMED: Need[Framed] = PORTRAIT.then(
    lambda portrait: Framed(portrait.framing, portrait) if portrait.framing else None, NO_FACE
)
SKIN: Need[Quality] = PORTRAIT.then(_skin)
"""The look of a face that is bare."""
FACE: Need[SubjectFacts] = face_or(NO_FACE, NO_FACE, HIDDEN)
CONSENT: Need[ConsentFacts] = Need(_consent)
"""A statement that was listened for."""
STATED: Need[ConsentFacts] = CONSENT.then(
    lambda consent: None if consent.starts_at is None else consent, NOT_FOUND
)
"""A statement that was found."""


@dataclass(frozen=True)
class PairRule(Checked):
    """One rule of two files, whose limits stand in the profile's table ``pairs``, and not under a
    role. ``unknown`` names the reason that stands where one of the files has nothing to compare.
    """

    unknown: str

    def judge(
        self, first: str, second: str, similarity: float | None, limits: Sequence[Limit]
    ) -> Check:
        """The check of the files with these names.

        ``similarity`` is the cosine similarity of their embeddings, -1 to 1, None where one of
        them has none. There is one limit at the least.
        """
        label = f"{self.texts.label} in {first} and {second}"
        if similarity is None:
            return self.check(REASONS[self.unknown], limits, label=label)
        measured = Measured(value=similarity, words={"first": first, "second": second})
        found = self.check(measured, limits, label=label)
        return found.model_copy(update={"measured": round(similarity, 3)})


SAME_PERSON = PairRule("same_person", "no_face_to_compare")
"""Of the SFace embeddings of faces."""

SAME_VOICE = PairRule("same_voice", "no_voice_to_compare")
"""Of the CAM++ embeddings of voices."""
