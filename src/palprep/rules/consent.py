"""Rules of the consent statement: was it spoken, word for word, and does it open the video."""

from __future__ import annotations

from palprep.rules.facts import Facts
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.speech.facts import ConsentFacts

_NO_NAME = "Nobody was named to listen for: palprep consent FILE --name 'Full Name'."


class ConsentRule(Rule):
    """A rule of the spoken statement; unknown while nobody's name was given."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.audio is None:
            return None
        if facts.consent is None:
            return Unmeasured(reason=_NO_NAME)
        if facts.consent.outcome == "unknown":
            return Unmeasured(reason=" ".join(facts.consent.reasons))
        return self.measure_consent(facts.consent)

    def measure_consent(self, consent: ConsentFacts) -> Measured | Unmeasured:
        """The measure of the statement; every subclass gives one."""
        raise NotImplementedError


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
            return Unmeasured(reason="The statement was not found.")
        return Measured(value=consent.starts_at, shown=f"{consent.starts_at:.1f} s")


class ConsentFirst(ConsentRule):
    """Nothing is said before the statement, so that nothing can bear upon it."""

    id = "consent_first"
    label = "Nothing said before it"
    advice = "Start with the statement, or let palprep fix trim what stands before it."

    def measure_consent(self, consent: ConsentFacts) -> Measured | Unmeasured:
        if consent.starts_at is None:
            return Unmeasured(reason="The statement was not found.")
        shown = f"“{consent.said_before}” is said before it" if consent.said_before else None
        return Measured(value=not consent.said_before, shown=shown)


CONSENT_RULES: tuple[type[Rule], ...] = (ConsentSpoken, ConsentStart, ConsentFirst)
