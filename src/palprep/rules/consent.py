"""Rules of the consent statement: was it spoken, word for word, does it open the video, and is
the person seen who speaks it.
"""

from __future__ import annotations

from palprep.consent import ConsentFacts
from palprep.facts import Facts
from palprep.rules.needs import CONSENT, NOT_FOUND, STATED
from palprep.rules.report import Check, Report
from palprep.rules.rule import Answer, Measured, Need, rule
from palprep.rules.texts import OTHERWISE, REASONS, Unmeasured
from palprep.rules.video_person import mouth_moves
from palprep.values import Outcome, Role
from palprep.vision import FrameSample

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
        words={"reason": reason, "more": str(more)},
    )


@rule(STATED.then(lambda consent: consent.starts_at))
def consent_start(starts_at: float) -> Measured:
    return Measured(value=starts_at, shown=f"{starts_at:.1f} s")


@rule(STATED)
def consent_first(consent: ConsentFacts) -> Measured:
    said = consent.said_before
    shown = f"“{said}” is said before it" if said else None
    return Measured(value=not said, shown=shown, words={"said": said or ""})


def _samples(facts: Facts) -> tuple[FrameSample, ...] | Answer:
    """The frames that were looked at while the statement is spoken."""
    stated = STATED.get(facts)
    line, footage = facts.timeline, facts.footage
    if not isinstance(stated, ConsentFacts):
        return stated
    if line is None or line.consent is None or footage is None:
        return NOT_FOUND
    return tuple(
        sample
        for sample in footage.samples
        if line.consent.start_s <= sample.at_s - line.starts_s <= line.consent.end_s
    )


@rule(Need(_samples))
def consent_seen(samples: tuple[FrameSample, ...]) -> Measured | Unmeasured:
    if len(samples) < FEWEST_SAMPLES:
        return REASONS["too_few_samples"]
    alone = sum(each.people == 1 and each.face_height_share is not None for each in samples)
    return Measured(
        value=round(alone / len(samples), 3),
        shown=f"in {alone} of {len(samples)} samples",
        words={"alone": str(alone), "total": str(len(samples))},
    )


CONSENT_CHECKS = frozenset(
    rule.id for rule in (consent_spoken, consent_start, consent_first, consent_seen)
)
"""The ids of their checks."""

CONSENT_DOUBTS = CONSENT_CHECKS | {mouth_moves.id}
"""The ids of the checks whose warning leaves the consent of the video that holds it in doubt."""


def spoken_check(report: Report) -> Check | None:
    """The check of the statement's words; None where the profile, or the file, has none."""
    return next((check for check in report.checks if check.id == consent_spoken.id), None)


def lacks_consent(video: Report, apart: Report | None = None) -> str | None:
    """Why a replica must not be trained from this video, in sentences; None when consent to it
    was heard.

    Consent is given in another video, ``apart``, or else in the opening of the video itself.
    There the statement must have been heard, and no check of the consent may be open. What was
    not checked, for whatever reason, was not heard: a profile decides how strictly the words are
    judged, and can neither leave the statement out nor pass one that fails.
    """
    if apart is None and consent_spoken.id in video.left_out:
        return "Its consent was said to be given in another video, and there is none."
    stating, where = (apart, "the consent video") if apart is not None else (video, "its opening")
    spoken = spoken_check(stating)
    if spoken is None:
        return f"The statement of consent was not heard in {where}. {_unasked(stating)}"
    consent = stating.facts.consent if stating.facts else None
    if spoken.passed is False or (consent is not None and consent.outcome is Outcome.FAIL):
        why = " ".join(consent.reasons) if consent and consent.reasons else spoken.sentence
        return f"The statement of consent is not in {where}. {why}"
    for check in stating.checks:
        if check.id in CONSENT_CHECKS and check.passed is None:
            return f"Whether consent is given in {where} is not known. {check.message}"
    return None


def consent_doubts(stating: Report) -> tuple[str, ...]:
    """Why it is in doubt that consent is given in this video, in sentences, with the seconds of the
    prepared file to listen to or to watch.

    Empty where nothing is in doubt, and where there is nothing to decide: the statement was not
    listened for, or a check of it failed or is open.
    """
    spoken = spoken_check(stating)
    consent = stating.facts.consent if stating.facts else None
    asked = [check for check in stating.checks if check.id in CONSENT_CHECKS]
    if spoken is None or not all(check.passed for check in asked):
        return ()
    doubts = []
    if Outcome.WARN in {spoken.outcome, consent.outcome if consent else None}:
        said = " ".join(consent.reasons) if consent and consent.reasons else spoken.sentence
        place = _place("Listen to", consent, by_word=True)
        doubts.append((said.removesuffix(" Listen to it.") if place else said) + place)
    doubts += [
        check.message
        + _place("Watch", consent, before=check.id in {consent_start.id, consent_first.id})
        for check in stating.told(Outcome.WARN)
        if check.id in CONSENT_DOUBTS and check.id != spoken.id
    ]
    return tuple(doubts)


def _place(
    look: str, consent: ConsentFacts | None, *, by_word: bool = False, before: bool = False
) -> str:
    """Where to listen or to look, as a sentence; empty where the statement has no times. By words
    it is where those are that are in doubt, or else all of it, and what is said after it. What
    comes ``before`` the statement can belong to it.
    """
    if consent is None or consent.starts_at is None or consent.ends_at is None:
        return ""
    start, end, after = 0.0 if before else consent.starts_at, f"to {consent.ends_at:.1f} s", ""
    if by_word:
        words = [each for each in consent.words if each.outcome is Outcome.WARN]
        starts = [each.start for each in words if each.start is not None]
        ends = [each.end for each in words if each.end is not None]
        if starts and ends:
            start, end = min(starts), f"to {max(ends):.1f} s"
        elif consent.said_after:
            after = ", and to what follows"
    return f" {look} the prepared file from {start:.1f} s {end}{after}."


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
    """That a profile does not ask for the statement in that role, as a sentence."""
    return f"Profile {profile} does not ask for {consent_spoken.id} in a {role or 'file'}."
