"""Made-up readings of a short statement, each with one thing that matters, and their outcomes."""

from __future__ import annotations

from palprep.consent import ConsentFacts, StatementReading, Surroundings
from palprep.consent.compare import compare
from palprep.consent.facts import AlignedWord, NameReading, NegatedWording
from palprep.consent.reading import Reading, heard_instead, part_reading
from palprep.consent.wording import CodeReading, Statement, split_words
from palprep.consent.wording.names import locate_name
from palprep.rules.consent.grading import grade_statement
from palprep.rules.profile import load_profile
from palprep.values import Span

TEXT = "I, Jane Doe, give my consent that videos can be made."
SCRIPT = Statement.of(TEXT, "Jane Doe", "en")
LIMITS = load_profile().consent


def name_reading(
    heard: str,
    likeness: float,
    *,
    same: bool,
    told: float,
    favour: float | None,
) -> NameReading:
    """``told`` is the prompted probability, ``favour`` the log likelihood ratio."""
    return NameReading(
        first=1, last=3, heard=heard, likeness=likeness, same=same, transcript_likeness=likeness,
        prompted_probability=told, log_likelihood_ratio=favour, least_log_likelihood_ratio=favour,
    )  # fmt: skip


JANE = name_reading("Jane Doe", 1.0, same=True, told=0.95, favour=None)
RARE = {"Jane": 0.001, "Doe,": 0.001}
"""What the forced reading holds of a name it has never seen."""


def reading(
    heard: str = TEXT,
    *,
    improbable: dict[str, float] | None = None,
    support: float = 0.0,
    turned: tuple[tuple[str, int, float], ...] = (("cannot", 7, 9.0),),
    name: NameReading = JANE,
    others: tuple[str, ...] = (),
) -> Reading:
    """A reading in which everything is sure but what is said otherwise."""
    words = split_words(heard)
    found = compare(SCRIPT.words, words)
    place = locate_name(found, SCRIPT.name, SCRIPT.words, words)
    probabilities = [(improbable or {}).get(word.shown, 0.9) for word in SCRIPT.words]
    plain = Reading(
        statement=SCRIPT,
        transcript=heard,
        heard=words,
        comparison=found,
        aligned=tuple(
            AlignedWord(
                expected=word.shown, start=index * 0.5, end=index * 0.5 + 0.4, probability=p
            )
            for index, (word, p) in enumerate(zip(SCRIPT.words, probabilities, strict=True))
        ),
        negated=tuple(
            NegatedWording(word=index, heard=said, log_likelihood_ratio=ratio)
            for said, index, ratio in turned
        ),
        other_transcripts=others,
        name=name,
        place=place,
    )
    instead = [heard_instead(plain, one, support) for one in plain.differences]
    return plain._replace(instead=tuple(instead))


def stated(
    *parts: Reading,
    around: Surroundings | None = None,
    speech: tuple[Span, ...] = (),
    code: CodeReading | None = None,
) -> ConsentFacts:
    read = StatementReading(
        statement=TEXT, full_name="Jane Doe", language="en", speech=speech,
        parts=tuple(map(part_reading, parts)), surroundings=around or Surroundings(), code=code,
    )  # fmt: skip
    return grade_statement(read, LIMITS)
