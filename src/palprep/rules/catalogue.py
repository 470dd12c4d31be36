"""All rules by id: a file's facts judged by them, and an entry that explains each.

``palprep explain`` and docs/checks.md show these entries.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Final

from palprep.facts import Facts
from palprep.rules import audio, image, portrait, rule, video, video_person
from palprep.rules.consent import checks as consent
from palprep.rules.consent.grading import grade_statement
from palprep.rules.profile import ConsentLimit, Limit, Profile
from palprep.rules.report import Check, Report
from palprep.rules.rule import BaseRule, Rule
from palprep.rules.texts.words import TEXTS
from palprep.speech import VoiceFacts
from palprep.values import Outcome, Role, Value


def _rules_of(*modules: ModuleType) -> dict[str, BaseRule]:
    values = (value for module in modules for value in vars(module).values())
    return {value.id: value for value in values if isinstance(value, BaseRule)}


RULES: Final[Mapping[str, BaseRule]] = MappingProxyType(
    _rules_of(image, portrait, audio, video, video_person, rule, consent)
)
"""All rules by id, of one file or of two: whatever these modules define."""

PORTRAIT_CHECKS: Final = frozenset(_rules_of(portrait))
"""Ids of the checks that judge what a portrait shows."""


def report_on(
    path: str, facts: Facts, role: Role, profile: Profile, *, left_out: Collection[str] = ()
) -> Report:
    """The report on a file with these facts, its statement of consent graded by the profile.

    ``left_out`` are ids of checks that are not asked for.
    """
    if facts.statement is not None:
        graded = grade_statement(facts.statement, profile.consent)
        facts = facts.model_copy(update={"consent": graded})
    return Report(
        path=path,
        role=role,
        profile=profile.name,
        checks=judge(facts, role, profile, left_out=left_out),
        left_out=tuple(sorted(left_out)),
        facts=facts,
    )


def judge(
    facts: Facts, role: Role, profile: Profile, *, left_out: Collection[str] = ()
) -> tuple[Check, ...]:
    """Every check that the profile asks for in that role, in the profile's order.

    A rule that does not apply to such a file, or is ``left_out``, gives no check.
    """
    checks = (
        asked.judge(facts, limits)
        for rule_id, limits in profile.for_role(role).items()
        if rule_id not in left_out and isinstance(asked := RULES[rule_id], Rule)
    )
    return _told_once([check for check in checks if check is not None], facts)


_FAMILIES = (
    ("voice_clipping", "voice_level", "voice_true_peak", "audio_sample_peak"),
    ("voice_snr", "voice_noise_floor"),
    ("audio_complete", "audio_duration", "voice_speech_length"),
)
"""Checks with one cause: loudness, noise, or length, of which a cut leaves little. Of those that
are equally grave the first tells it."""
_RATE = ("audio_sample_rate", "voice_bandwidth")
"""Checks with one cause where the audio contains all that its sample rate lets it."""
_RATE_SHARE = 0.4
"""So much of the sample rate, at the least, is then the highest frequency; half is the most."""
_HUM = ("voice_hum", "voice_snr", "voice_noise_floor")
"""Checks with one cause where hum is most of the noise."""
_LIGHT = ("image_quality_acceptable", "face_brightness")
"""Checks with one cause where light is the worst of the quality."""
_COMPLETENESS = (
    *("video_complete", "video_duration", "video_frame_rate", "video_constant_frame_rate"),
    *("audio_audible", "video_speaking_share", "video_still_share"),
)
"""The check that a video is complete, then those that mean nothing where it is not."""
_GRAVEST_FIRST = (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN)


def _told_once(checks: Sequence[Check], facts: Facts) -> tuple[Check, ...]:
    """The checks, of which those are marked that follow from another one.

    Checks have one cause if they say the same sentence, belong to one of :data:`_FAMILIES`, judge
    a video that is cut off, or the light on a face. The gravest of them tells it; of equally grave
    ones the first.
    """
    cut = any(each.id == _COMPLETENESS[0] and each.outcome is Outcome.FAIL for each in checks)
    scores = facts.portrait.quality.scores if facts.portrait else {}
    lit = min(scores, key=scores.__getitem__, default=None) in {"too dark", "too bright"}
    voice, rate_hz = facts.voice, facts.audio.stream.sample_rate_hz if facts.audio else 0
    hums = voice is not None and voice.background == "hum"
    full = voice is not None and (voice.bandwidth_hz or 0) >= _RATE_SHARE * rate_hz
    conditional = ((_HUM, hums), (_RATE, full), (_COMPLETENESS, cut), (_LIGHT, lit))
    families = (*(each for each, applies in conditional if applies), *_FAMILIES)
    causes: dict[tuple[str, ...], list[Check]] = {}
    for check in checks:
        known = check.outcome is not Outcome.UNKNOWN and not _apart(check, voice)
        family = next((each for each in families if known and check.id in each), None)
        if check.outcome is not Outcome.PASS:
            causes.setdefault(family or (check.sentence,), []).append(check)
    follows: dict[str, str] = {}
    for cause, alike in causes.items():
        places = {each: place for place, each in enumerate(cause)}
        teller = min(
            alike, key=lambda check: (_GRAVEST_FIRST.index(check.outcome), places.get(check.id, 0))
        )
        follows |= {check.id: teller.id for check in alike if check is not teller}
    return tuple(
        check.model_copy(update={"follows": follows[check.id]}) if check.id in follows else check
        for check in checks
    )


def _apart(check: Check, voice: VoiceFacts | None) -> bool:
    """Whether a check of a family has a cause of its own: soft speech, and little speech in a long
    recording."""
    if voice is not None and check.id == "voice_level":
        return (voice.speech_rms_dbfs or 0.0) <= (check.at_most or 0.0)
    if voice is not None and check.id == "voice_speech_length":
        return voice.speech_s < (check.at_least or 0.0) <= voice.duration_s
    return False


class CatalogueLimit(Limit):
    """A limit with its role (``pair`` for a rule of two files), and the limit in words."""

    role: str
    limit: str


class WordLimit(ConsentLimit):
    """A limit by which the words of a statement of consent are graded, and what it means."""

    id: str
    text: str


class CatalogueSentence(Value):
    """A sentence of a check, with ``{places}`` for words, and the outcome with which it is said."""

    outcome: str
    sentence: str


class CatalogueEntry(Value):
    """One check under one profile. Without limits the profile does not ask for it."""

    id: str
    label: str
    text: str
    unit: str
    predicts: str | None
    sentences: tuple[CatalogueSentence, ...]
    advice: str
    profile: str
    limits: tuple[CatalogueLimit, ...]
    words: tuple[WordLimit, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(limit.role for limit in self.limits))


def entry_of(rule_id: str, profile: Profile) -> CatalogueEntry:
    """The entry of a check. Raises KeyError for an id that no rule has."""
    texts = RULES[rule_id].texts
    asked = {role.value: profile.for_role(role).get(rule_id, ()) for role in Role}
    asked["pair"] = profile.pairs.get(rule_id, ())
    words = TEXTS.consent_limits if rule_id == consent.consent_spoken.id else {}
    return CatalogueEntry(
        id=rule_id,
        sentences=tuple(
            CatalogueSentence(outcome=when, sentence=each) for when, each in texts.listed()
        ),
        profile=profile.name,
        limits=tuple(
            CatalogueLimit(role=role, limit=limit.words(texts.unit), **limit.model_dump())
            for role, limits in asked.items()
            for limit in limits
        ),
        words=tuple(
            WordLimit(id=name, text=text, **getattr(profile.consent, name).model_dump())
            for name, text in words.items()
        ),
        advice=f"{texts.advice} {texts.fix}".rstrip(),
        **texts.model_dump(exclude={"sentences", "limit", "advice", "fix"}),
    )
