"""A consent verification on a terminal: why first, then every word, in 80 columns."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from palprep.consent import ConsentFacts, WordRecord
from palprep.values import Outcome
from palprep.views.terminal.consent import WIDEST, consent_view

NASTY = "[bold]because[/]"


def word(expected: str | None, heard: str | None, outcome: Outcome, at: float = 1.0) -> WordRecord:
    return WordRecord(
        expected=expected, heard=heard, start=at, end=at + 1, probability=0.5, outcome=outcome
    )


def facts(**changes: object) -> ConsentFacts:
    filled: dict[str, object] = {
        "outcome": Outcome.FAIL, "transcript": "So I agreed never Bye", "starts_at": 1.0,
        "ends_at": 62.0, "reasons": (NASTY,), "statement": "I agree", "full_name": "Ada",
        "language": "en", "said_before": "So", "said_after": "Bye",
        "words": (
            word("I", "I", Outcome.PASS),
            word("agree", "agreed", Outcome.FAIL),
            word(None, "never", Outcome.FAIL),
        ),
    }  # fmt: skip
    return ConsentFacts.model_validate(filled | changes)


def shown(found: ConsentFacts, *, colour: bool = False, width: int = 140) -> str:
    out = StringIO()
    Console(
        file=out, width=width, highlight=False, force_terminal=colour, no_color=not colour,
        color_system="standard" if colour else None,
    ).print(consent_view(Path("a.mp4"), found))  # fmt: skip
    return out.getvalue()


def test_the_words_of_a_statement_that_was_not_found_are_coloured_as_missing() -> None:
    unfound = facts(starts_at=None, ends_at=None, words=(word("I agree", None, Outcome.FAIL),))
    assert "\x1b[1;31mI agree" in shown(unfound, colour=True)
    assert "required I agree" in shown(unfound)


def test_why_stands_before_the_words() -> None:
    lines = [line.strip() for line in shown(facts()).splitlines()]
    assert lines[:3] == [
        "FAIL    a.mp4", "The statement was not heard as required.", f"- {NASTY}",
    ]  # fmt: skip
    assert lines[4:8] == [
        "before   So",
        "0:01.0   I [-agree-]{+agreed+} {+never+}",
        "1:02.0   end of the statement",
        "after    Bye",
    ]
    assert "{+word+}           heard, not required" in lines


def test_a_statement_as_required_needs_no_legend() -> None:
    said = facts(outcome=Outcome.PASS, reasons=(), words=(word("I", "I", Outcome.PASS),))
    text = shown(said)
    assert "Every word of the statement was heard." in text
    assert "word" not in text.replace("Every word of", "")


def test_colour_comes_on_top_of_the_signs() -> None:
    text = shown(facts(), colour=True)
    assert "\x1b[1;31m[-agree-]{+agreed+}\x1b[0m" in text
    assert "\x1b[32mI\x1b[0m" in text


@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_wider_than_eighty_columns(width: int) -> None:
    many = tuple(word(f"word{n},", f"word{n}", Outcome.WARN, n / 2) for n in range(60))
    long = facts(words=many, reasons=("because " * 40,), said_before="before " * 40)
    lines = [line.rstrip() for line in shown(long, width=width).splitlines()]
    assert len(lines) > 20
    assert max(map(len, lines)) <= WIDEST
    assert {line.strip()[:6] for line in lines} >= {"0:00.0", "0:03.0"}


def test_what_was_not_found_is_shown_next_to_what_was_heard() -> None:
    missing = tuple(
        word(each, None, Outcome.FAIL).model_copy(update={"start": None}) for each in "ab"
    )
    text = shown(facts(words=missing, starts_at=None, ends_at=None))
    assert "required I agree" in text
    assert "heard    So I agreed never Bye" in text
    assert "[-" not in text


def test_what_is_not_known_says_so() -> None:
    text = shown(
        facts(outcome=Outcome.UNKNOWN, words=(), starts_at=None, ends_at=None, transcript="")
    )
    assert text.startswith("UNKNOWN a.mp4")
    assert "It is not known whether" in text
    assert NASTY in text
