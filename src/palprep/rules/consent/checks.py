"""Rules of the consent statement: word for word, first in the video, by the person who is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from palprep.consent import ConsentFacts
from palprep.facts import Facts, Timeline
from palprep.rules.audio import voice_one_speaker
from palprep.rules.consent.state import ConsentDoubt
from palprep.rules.needs import CONSENT, FACTS, NOT_FOUND, STATED
from palprep.rules.profile import Limit
from palprep.rules.report import Check, Report
from palprep.rules.rule import (
    SAME_PERSON,
    SAME_VOICE,
    BaseRule,
    Measured,
    Need,
    plain,
    rule,
)
from palprep.rules.texts.words import OTHERWISE, REASONS, Unmeasured
from palprep.rules.video import listed
from palprep.rules.video_person import (
    eyes_blink,
    face_has_depth,
    head_moves,
    lip_sync,
    lips_keep_moving,
    lips_not_repeated,
    mouth_moves,
    same_person_throughout,
)
from palprep.values import Outcome, Role, Span
from palprep.vision import FootageFacts

FEWEST_SAMPLES = 4
"""Fewer frames than this, looked at while the statement is spoken, prove nothing."""


@rule(CONSENT)
def consent_spoken(consent: ConsentFacts) -> Measured:
    outcome, reasons = consent.outcome.value, consent.reasons
    reason, more = (reasons[0] if reasons else ""), max(0, len(reasons) - 1)
    ways = {0: OTHERWISE, 1: "one", 2: "two"}
    return Measured(
        value=outcome,
        shown=(f"{outcome}: {reason}" if reason else outcome)
        + (f" (and {more} more)" if more else ""),
        way=ways.get(len(reasons), "several"),
        words={
            "reason": reason,
            "more": str(more),
            "heard": "word for word" if consent.outcome is Outcome.PASS else "with doubts",
        },
    )


consent_not_taken_back = BaseRule("consent_not_taken_back")
"""Of the person's other recordings, which have no role."""

consent_start = plain("consent_start", STATED, lambda consent: consent.starts_at, "{:.1f} s")


@rule(STATED)
def consent_first(consent: ConsentFacts) -> Measured:
    said = consent.said_before
    harmless = consent.before is Outcome.PASS
    shown = f"“{said}” is said before it" if said else None
    return Measured(value=harmless, shown=shown, words={"said": said})


class Spoken(NamedTuple):
    """When the statement is spoken, by the timeline; and what is seen of the video."""

    span: Span
    line: Timeline
    footage: FootageFacts | None


def _spoken(stated: tuple[ConsentFacts, Facts]) -> Spoken | None:
    _, facts = stated
    line = facts.timeline
    return Spoken(line.consent, line, facts.footage) if line and line.consent else None


SPOKEN: Need[Spoken] = STATED.beside(FACTS).then(_spoken, NOT_FOUND)


@rule(SPOKEN)
def consent_seen(spoken: Spoken) -> Measured | Unmeasured:
    span, line, footage = spoken
    if footage is None:
        return NOT_FOUND
    samples = [
        sample
        for sample in footage.samples
        if span.start_s <= sample.at_s - line.starts_s <= span.end_s
    ]
    # Sound may go on after the picture: nobody is seen then.
    unshown_s = span.end_s - max(span.start_s, line.duration_s)
    total = len(samples) + max(0, int(unshown_s / footage.every_s))
    if total < FEWEST_SAMPLES:
        return REASONS["too_few_samples"]
    alone = sum(each.people == 1 and each.face_height_share is not None for each in samples)
    return Measured(
        value=round(alone / total, 3),
        shown=f"in {alone} of {total} samples",
        words={"alone": str(alone), "total": str(total)},
    )


@rule(SPOKEN)
def consent_uncut(spoken: Spoken) -> Measured:
    span, line, _ = spoken
    return listed([each for each in line.cuts if span.start_s < each < span.end_s])


CONSENT_CHECKS = frozenset(
    rule.id for rule in (consent_spoken, consent_start, consent_first, consent_seen, consent_uncut)
)
"""The ids of the checks of the statement itself."""

CONSENT_DOUBTS = CONSENT_CHECKS | {
    rule.id
    for rule in (
        *(same_person_throughout, voice_one_speaker, mouth_moves),
        *(lips_keep_moving, lips_not_repeated, lip_sync),
        *(eyes_blink, head_moves, face_has_depth),
    )
}
"""The ids of checks of a video that holds a consent: a warning leaves the consent in doubt, and a
failure speaks against it."""


def lacks_consent(video: Report, apart: Report | None = None) -> str | None:
    """Why a replica must not be trained from this video, in sentences; None when consent was
    heard, even with doubts.

    The statement must be heard in another video, ``apart``, or else in the opening of this one. If
    nobody listened for it, for whatever reason, it was not heard. A profile decides how strictly
    the words are judged. It can neither leave the statement out nor pass one that fails.
    """
    if apart is None and consent_spoken.id in video.left_out:
        return "Its consent was said to be given in another video, and there is none."
    stating, where = (apart, "the consent video") if apart is not None else (video, "its opening")
    spoken = next((check for check in stating.checks if check.id == consent_spoken.id), None)
    if spoken is None:
        return f"The statement of consent was not heard in {where}. {_unasked(stating)}"
    consent = stating.consent
    if spoken.passed is False or (consent is not None and consent.outcome is Outcome.FAIL):
        why = " ".join(consent.reasons) if consent and consent.reasons else spoken.sentence
        return f"The statement of consent is not in {where}. {why}"
    if spoken.passed is None:
        return f"Whether consent is given in {where} is not known. {spoken.message}"
    return None


def consent_failures(checks: Sequence[Check]) -> list[str]:
    """What speaks against a consent, whatever was heard: the failed checks, in sentences."""
    failed = (check for check in checks if check.outcome is Outcome.FAIL)
    return [check.message for check in failed if check.id in CONSENT_DOUBTS]


def consent_doubts(
    checks: Sequence[Check], consent: ConsentFacts | None, file: str = ""
) -> tuple[ConsentDoubt, ...]:
    """The doubts about the consent in a video, each finding once, with the seconds of the prepared
    file to listen to or to watch. ``file`` is the name of the video in their words.

    A check of the consent that could not be made is a doubt, too. There are none where a person
    has nothing to decide: the statement was not heard, or a check failed.
    """
    words = [check for check in checks if check.id == consent_spoken.id]
    heard = {each.outcome for each in (*words, consent) if each}
    if not heard or not all(each.passed for each in heard) or consent_failures(checks):
        return ()
    found: dict[str, ConsentDoubt] = {}
    stated = consent.stated if consent else None

    def doubt(
        check: str, said: str, shown: str, look: str, stretch: Span | None, *, more: str = ""
    ) -> None:
        if stretch is not None:
            times = f"from {stretch.start_s:.1f} s to {stretch.end_s:.1f} s{more}"
            shown = f"{shown.removesuffix(' Listen to it.')} {look} the prepared file {times}."
        words = f"{file}{': ' if file else ''}{shown}"
        new = ConsentDoubt(check=check, sentence=said, words=words, stretch=stretch)
        found.setdefault(said, new)

    if Outcome.WARN in heard:
        told = consent.reasons if consent and consent.reasons else [each.sentence for each in words]
        said = " ".join(told)
        doubtful = _doubtful_words(consent) if consent and stated else None
        more = ", and to what follows" if consent and consent.said_after and not doubtful else ""
        doubt(consent_spoken.id, said, said, "Listen to", doubtful or stated, more=more)
    for check in checks:
        unsure = check.outcome is Outcome.UNKNOWN and check.id in {*CONSENT_CHECKS, lip_sync.id}
        warned = check.outcome is Outcome.WARN and check.id in CONSENT_DOUBTS
        if (warned or unsure) and check.id != consent_spoken.id:
            before = check.id in {consent_start.id, consent_first.id}
            stretch = stated and Span(start_s=0.0 if before else stated.start_s, end_s=stated.end_s)
            doubt(check.id, check.sentence, check.message, "Watch", stretch)
    return tuple(found.values())


def not_taken_back(file: str, said: str, videos: tuple[str, ...], limits: Sequence[Limit]) -> Check:
    """The check of a ``file`` beside the consent, in which a consent is taken back or refused in
    the words ``said``; ``videos`` are the sha256 of the videos that it speaks about."""
    found = Measured(value=False, shown=said, words={"file": file, "said": said})
    return consent_not_taken_back.check(found, limits).model_copy(update={"files": videos})


_UNSURE = {
    SAME_PERSON.id: {Outcome.WARN, Outcome.UNKNOWN},
    SAME_VOICE.id: {Outcome.WARN},
    consent_not_taken_back.id: {Outcome.WARN},
}
"""The checks of several files that consent needs, and the outcomes that leave a doubt."""


def files_doubts(compared: Iterable[Check]) -> tuple[ConsentDoubt, ...]:
    """The doubts that checks of several files leave: whether they show one face, also where no face
    could be compared; whether they hold one voice; and whether one takes the consent back."""
    return tuple(
        ConsentDoubt(
            check=check.id,
            sentence=check.sentence,
            # Where nothing was compared, only the label names the files.
            words=f"{'' if check.measured else f'{check.label}: '}{check.message}",
            stretch=None,
        )
        for check in compared
        if check.outcome in _UNSURE.get(check.id, ())
    )


def _doubtful_words(consent: ConsentFacts) -> Span | None:
    """From the first to the last of the words in doubt; None where they have no times."""
    words = [each for each in consent.words if each.outcome is Outcome.WARN]
    starts = [each.start for each in words if each.start is not None]
    ends = [each.end for each in words if each.end is not None]
    return Span(start_s=min(starts), end_s=max(ends)) if starts and ends else None


def _unasked(report: Report) -> str:
    """Why a report has no check of the statement's words."""
    if report.error is not None:
        return report.error.message
    if consent_spoken.id in report.left_out:
        return "It was checked as a video whose consent another video holds."
    if report.facts is not None and report.facts.video is not None and report.facts.audio is None:
        return "It has no audio."
    return never_asked(report.profile, report.role)


def never_asked(profile: str, role: Role | None) -> str:
    """The sentence that a profile does not ask for the statement in that role."""
    return f"Profile {profile} does not ask for {consent_spoken.id} in a {role or 'file'}."
