"""What evidence and a decision come to: the whole table."""

from __future__ import annotations

import datetime as dt

import pytest

from palprep.rules.consent import (
    ConsentDecision,
    ConsentDoubt,
    ConsentEvidence,
    ConsentFile,
    consent_state,
)
from palprep.values import Span

AT = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)


def evidence(files="ab", doubts=("unsure",), **more):
    return ConsentEvidence(
        files=tuple(
            ConsentFile(role=None, path=f"{each}.mp4", sha256=each * 64, source_sha256=None)
            for each in files
        ),
        doubts=tuple(
            ConsentDoubt(check="mouth_moves", sentence=each, words=f"{each}. Watch it.",
                         stretch=Span(start_s=0.5, end_s=9.0))
            for each in doubts
        ),
        **more,
    )  # fmt: skip


def decided(accepted=True, **taken_on):
    return ConsentDecision(
        accepted=accepted, by="Eve", because="I listened", decided_at=AT,
        evidence=evidence(**taken_on),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "decision", "state"),
    [
        ({"doubts": ()}, None, "holds"),
        ({}, None, "open"),
        ({"doubts": (), "missing": ("not heard",)}, None, "fails"),
        ({"missing": ("not heard",)}, None, "fails"),
        ({"doubts": (), "against": ("two people",)}, None, "fails"),
        # Decided on the same files and doubts, or on more.
        ({}, decided(), "holds"),
        ({}, decided(doubts=("unsure", "blurred")), "holds"),
        ({}, decided(files="abc"), "holds"),
        ({}, decided(accepted=False), "refused"),
        # A refusal stands, also where nothing is in doubt any more.
        ({"doubts": ()}, decided(accepted=False), "refused"),
        # A file is another one, or new.
        ({"files": "ac"}, decided(), "open"),
        ({"files": "abc"}, decided(), "open"),
        ({"files": "ac"}, decided(accepted=False), "open"),
        ({"files": "ac", "doubts": ()}, decided(accepted=False), "holds"),
        # A doubt is new.
        ({"doubts": ("unsure", "blurred")}, decided(), "open"),
        ({"doubts": ("blurred",)}, decided(accepted=False), "open"),
        # No decision gives what is missing.
        ({"missing": ("not heard",)}, decided(), "fails"),
        ({"against": ("two people",)}, decided(), "fails"),
    ],
)
def test_the_table(found, decision, state):
    come_to = consent_state(evidence(**found), decision)
    assert come_to.state == state
    counts = decision is not None and decision.covers(evidence(**found))
    assert bool(come_to.reasons) is (state != "holds" or counts)
    if decision is not None:
        told = come_to.decided
        assert told.startswith(decision.words)
        assert ("counts no more" in told) is not counts


@pytest.mark.parametrize(
    ("found", "decision", "state"),
    [
        ({}, None, "holds"),
        ({"missing": ("not heard",)}, None, "holds"),
        ({"against": ("two people",)}, None, "fails"),
        ({}, decided(accepted=False), "refused"),
    ],
)
def test_a_waiver_passes_over_neither_a_refusal_nor_two_people(found, decision, state):
    assert consent_state(evidence(**found), decision).waived().state == state


def test_the_reasons_name_the_doubts_and_the_decision_that_fell():
    said = decided().words
    assert said == (
        "The consent was accepted on 2026-11-23 12:00 UTC, by somebody named “Eve”: “I listened”."
    )
    come_to = consent_state(evidence(files="ac"), decided())
    assert come_to.reasons == ("unsure. Watch it.", come_to.decided)
    assert come_to.decided.startswith(f"{said} That counts no more")
