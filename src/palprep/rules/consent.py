"""Rules of the consent statement: was it spoken, word for word, does it open the video, and is
the person seen who speaks it.
"""

from __future__ import annotations

from palprep.consent.facts import ConsentFacts
from palprep.facts.facts import Facts
from palprep.rules.needs import CONSENT, NOT_FOUND, STATED
from palprep.rules.report import Check, Report
from palprep.rules.rule import Answer, Measured, Need, Rule, Unmeasured
from palprep.values import Outcome, Role
from palprep.vision.footage_facts import FrameSample

FEWEST_SAMPLES = 4
"""Fewer frames than this, looked at while the statement is spoken, prove nothing."""


class ConsentSpoken(Rule[ConsentFacts]):
    """The service trains nothing without its consent statement, spoken verbatim with the
    speaker's full name."""

    needs = CONSENT
    id = "consent_spoken"
    label = "Consent statement"
    predicts = "consent"
    advice = "Record the statement again, slowly, word for word as the service shows it."

    def measure(self, consent: ConsentFacts) -> Measured:
        outcome = consent.outcome.value
        first = f": {consent.reasons[0]}" if consent.reasons else ""
        more = f" (and {len(consent.reasons) - 1} more)" if len(consent.reasons) > 1 else ""
        return Measured(value=outcome, shown=f"{outcome}{first}{more}")


class ConsentStart(Rule[float]):
    """The statement belongs at the very beginning, where the service looks for it."""

    needs = STATED.then(lambda consent: consent.starts_at)
    id = "consent_start"
    label = "Statement starts at"
    unit = "s"
    predicts = "consent"
    advice = "Start with the statement, or let palprep fix trim what stands before it."

    def measure(self, starts_at: float) -> Measured:
        return Measured(value=starts_at, shown=f"{starts_at:.1f} s")


class ConsentFirst(Rule[ConsentFacts]):
    """Nothing is said before the statement: words there could change what it means."""

    needs = STATED
    id = "consent_first"
    label = "Nothing said before it"
    predicts = "consent"
    advice = "Start with the statement, or let palprep fix trim what stands before it."

    def measure(self, consent: ConsentFacts) -> Measured:
        shown = f"“{consent.said_before}” is said before it" if consent.said_before else None
        return Measured(value=not consent.said_before, shown=shown)


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


class ConsentSeen(Rule[tuple[FrameSample, ...]]):
    """The person who gives consent is seen giving it: one face, and no other, as long as the
    statement is spoken."""

    needs = Need(_samples)
    id = "consent_seen"
    label = "One face while it is spoken"
    unit = "of the samples"
    predicts = "consent"
    advice = "Speak the statement into the camera, with no one else in view."

    def measure(self, samples: tuple[FrameSample, ...]) -> Measured | Unmeasured:
        if len(samples) < FEWEST_SAMPLES:
            return Unmeasured(
                reason="Too few frames were looked at while it is spoken: shorten the video."
            )
        alone = sum(each.people == 1 and each.face_height_share is not None for each in samples)
        return Measured(
            value=round(alone / len(samples), 3), shown=f"in {alone} of {len(samples)} samples"
        )


CONSENT_CHECKS = frozenset(
    rule.id for rule in (ConsentSpoken, ConsentStart, ConsentFirst, ConsentSeen)
)
"""The ids of their checks."""


def spoken_check(report: Report) -> Check | None:
    """The check of the statement's words; None where the profile, or the file, has none."""
    return next((check for check in report.checks if check.id == ConsentSpoken.id), None)


def lacks_consent(video: Report, apart: Report | None = None) -> str | None:
    """Why a replica must not be trained from this video; None when consent to it was heard.

    Consent is given in another video, ``apart``, or else in the opening of the video itself.
    There the statement must have been heard, and no check of the consent may be open. What was
    not checked, for whatever reason, was not heard: a profile decides how strictly the words are
    judged, and can neither leave the statement out nor pass one that fails.
    """
    if apart is None and ConsentSpoken.id in video.left_out:
        return "its consent was said to be given in another video, and there is none"
    stating, where = (apart, "the consent video") if apart is not None else (video, "its opening")
    spoken = spoken_check(stating)
    if spoken is None:
        return f"the statement of consent was not heard in {where}: {_unasked(stating)}"
    consent = stating.facts.consent if stating.facts else None
    if spoken.passed is False or (consent is not None and consent.outcome is Outcome.FAIL):
        measured = spoken.measured if spoken.measured is not None else "fail"
        return f"the statement of consent is not in {where}: {measured}"
    for check in stating.checks:
        if check.id in CONSENT_CHECKS and check.passed is None:
            return (
                f"whether consent is given in {where} is not known: {check.label}: {check.advice}"
            )
    return None


def _unasked(report: Report) -> str:
    """Why a report has no check of the statement's words."""
    if report.error is not None:
        return report.error.message
    if ConsentSpoken.id in report.left_out:
        return "it was checked as a video whose consent another video holds"
    if report.facts is not None and report.facts.video is not None and report.facts.audio is None:
        return "it has no sound"
    return never_asked(report.profile, report.role)


def never_asked(profile: str, role: Role | None) -> str:
    """That a profile does not ask for the statement in that role, as words."""
    return f"profile {profile} does not ask for {ConsentSpoken.id} in a {role or 'file'}"
