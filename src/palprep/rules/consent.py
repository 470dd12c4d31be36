"""Rules of the consent statement: was it spoken, word for word, does it open the video, and is
the person seen who speaks it.
"""

from __future__ import annotations

from abc import abstractmethod

from palprep.consent.facts import ConsentFacts
from palprep.facts.facts import Facts
from palprep.facts.timeline import timeline
from palprep.rules.report import Check, Report
from palprep.rules.rule import Measured, Rule, Unmeasured

_NOT_LISTENED = "Nobody listened for it: say who speaks (--name 'Full Name'), without --quick."
_NOT_FOUND = "The statement was not found."

FEWEST_SAMPLES = 4
"""Fewer frames than this, looked at while the statement is spoken, prove nothing."""


class ConsentRule(Rule):
    """A rule of the spoken statement; unknown while nobody's name was given, and without a
    place in a video whose consent is given in another one."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.audio is None or facts.consent_apart:
            return None
        if facts.consent is None:
            return Unmeasured(reason=_NOT_LISTENED)
        if facts.consent.outcome == "unknown":
            return Unmeasured(reason=" ".join(facts.consent.reasons))
        return self.measure_consent(facts.consent)

    @abstractmethod
    def measure_consent(self, consent: ConsentFacts) -> Measured | Unmeasured:
        """The measure of a statement that was listened for."""


class ConsentSpoken(ConsentRule):
    """The service trains nothing without its consent statement, spoken verbatim with the
    speaker's full name."""

    id = "consent_spoken"
    label = "Consent statement"
    predicts = "consent"
    advice = "Record the statement again, slowly, word for word as the service shows it."

    def measure_consent(self, consent: ConsentFacts) -> Measured:
        first = f": {consent.reasons[0]}" if consent.reasons else ""
        more = f" (and {len(consent.reasons) - 1} more)" if len(consent.reasons) > 1 else ""
        return Measured(value=consent.outcome, shown=f"{consent.outcome}{first}{more}")


class ConsentStart(ConsentRule):
    """The statement belongs at the very beginning, where the service looks for it."""

    id = "consent_start"
    label = "Statement starts at"
    unit = "s"
    predicts = "consent"
    advice = "Start with the statement, or let palprep fix trim what stands before it."

    def measure_consent(self, consent: ConsentFacts) -> Measured | Unmeasured:
        if consent.starts_at is None:
            return Unmeasured(reason=_NOT_FOUND)
        return Measured(value=consent.starts_at, shown=f"{consent.starts_at:.1f} s")


class ConsentFirst(ConsentRule):
    """Nothing is said before the statement, so that nothing can bear upon it."""

    id = "consent_first"
    label = "Nothing said before it"
    predicts = "consent"
    advice = "Start with the statement, or let palprep fix trim what stands before it."

    def measure_consent(self, consent: ConsentFacts) -> Measured | Unmeasured:
        if consent.starts_at is None:
            return Unmeasured(reason=_NOT_FOUND)
        shown = f"“{consent.said_before}” is said before it" if consent.said_before else None
        return Measured(value=not consent.said_before, shown=shown)


class ConsentSeen(ConsentRule):
    """Whoever gives consent is seen giving it: one face, and no other, as long as the
    statement is spoken."""

    id = "consent_seen"
    label = "One face while it is spoken"
    unit = "of the samples"
    predicts = "consent"
    advice = "Speak the statement into the camera, alone in the picture."

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        line, footage = timeline(facts), facts.footage
        if line is None or line.consent is None or footage is None or facts.consent_apart:
            return super().measure(facts)
        samples = [
            sample
            for sample in footage.samples
            if line.consent.start_s <= sample.at_s - line.starts_s <= line.consent.end_s
        ]
        if len(samples) < FEWEST_SAMPLES:
            return Unmeasured(
                reason="Too few frames were looked at while it is spoken: shorten the video."
            )
        alone = sum(each.people == 1 and each.face_height_share is not None for each in samples)
        return Measured(
            value=round(alone / len(samples), 3), shown=f"in {alone} of {len(samples)} samples"
        )

    def measure_consent(self, consent: ConsentFacts) -> Unmeasured:
        del consent
        return Unmeasured(reason=_NOT_FOUND)


CONSENT_RULES: tuple[type[Rule], ...] = (ConsentSpoken, ConsentStart, ConsentFirst, ConsentSeen)

CONSENT_CHECKS = frozenset(rule.id for rule in CONSENT_RULES)
"""The ids of their checks."""


def spoken_check(report: Report) -> Check | None:
    """The check of the statement's words; None where the profile, or the file, has none."""
    return next((check for check in report.checks if check.id == ConsentSpoken.id), None)


def lacks_consent(video: Report, apart: Report | None = None) -> str | None:
    """Why a replica must not be trained from this video, None when consent to it is given.

    It is given in the video's opening, where it must have been heard; or in a video ``apart``,
    which must not be known to say something else. A profile that asks for no statement
    settles it as well.
    """
    if apart is None and video.facts is not None and video.facts.consent_apart:
        return "its consent was said to be given in another video, and there is none"
    check = spoken_check(apart or video)
    if check is None or check.passed or (apart is not None and check.passed is None):
        return None
    if check.passed is None:
        return f"whether it opens with the statement of consent is not known: {check.advice}"
    where = "the consent video" if apart is not None else "its opening"
    return f"the statement of consent is not in {where}: {check.measured}"
