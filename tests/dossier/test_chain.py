"""The consent dossier: nothing changes unnoticed."""

from __future__ import annotations

import datetime as dt

import pytest

from palprep.consent import ConsentFacts
from palprep.dossier.chain import (
    ConsentCheck,
    Dossier,
    FileProof,
    extended,
    verify_dossier,
)
from palprep.rules.consent import ConsentDecision

NOW = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
LATER = NOW + dt.timedelta(days=365)


def consent(outcome: str = "pass") -> ConsentFacts:
    return ConsentFacts(
        outcome=outcome,
        transcript="I agree.",
        starts_at=0.1,
        ends_at=0.9,
        words=(),
        reasons=(),
        statement="I agree.",
        full_name="Ada Lovelace",
        language="en",
    )


def dossier(outcome: str = "pass", **other) -> Dossier:
    return extended(
        Dossier(entries=()),
        kind="evidence",
        person="Ada Lovelace",
        consent=consent(outcome),
        source=FileProof(name="raw.mov", sha256="a" * 64, size_bytes=10),
        output=FileProof(name="consent.mp4", sha256="b" * 64, size_bytes=9),
        written_at=NOW,
        checks=(ConsentCheck(id="same_face", outcome="pass", sentence="It is the same face."),),
        tools={"palprep": "0.1.0"},
        **other,
    )


def problems(found: Dossier) -> list[str]:
    return [flaw.problem for flaw in verify_dossier(found)]


def test_a_chain_holds_and_survives_json():
    chain = extended(
        extended(dossier(), kind="expiry", expires_at=LATER, written_at=NOW),
        kind="revocation",
        written_at=NOW,
    )
    assert problems(chain) == []
    assert Dossier.model_validate(chain.to_json()) == chain
    assert [entry.kind for entry in chain.entries] == ["evidence", "expiry", "revocation"]


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (0, {"person": "Somebody Else"}),
        (0, {"written_at": LATER}),
        (0, {"consent": consent("warn")}),
        (1, {"expires_at": LATER + dt.timedelta(days=1)}),
        (1, {"note": "added later"}),
    ],
)
def test_a_changed_entry_is_noticed(number, change):
    chain = extended(dossier(), kind="expiry", expires_at=LATER, written_at=NOW)
    entries = list(chain.entries)
    entries[number] = entries[number].model_copy(update=change)
    assert "was changed after it was written" in problems(Dossier(entries=tuple(entries)))


def test_an_entry_that_was_taken_out_or_swapped_is_noticed():
    chain = extended(
        extended(dossier(), kind="expiry", expires_at=LATER, written_at=NOW),
        kind="revocation",
        written_at=NOW,
    )
    first, second, third = chain.entries
    assert problems(Dossier(entries=(first, third))) == [
        "stands in place 2: an entry is missing",
        "does not follow the entry before it",
    ]
    assert problems(Dossier(entries=(first, third, second)))
    assert "the dossier does not begin with its evidence" in problems(
        Dossier(entries=(second, third))
    )
    assert problems(Dossier(entries=()))


@pytest.mark.parametrize(
    ("outcome", "given", "to_decide"),
    [
        ("pass", True, False),
        ("warn", False, True),
        ("fail", False, False),
        ("unknown", False, False),
    ],
)
def test_only_a_spoken_statement_is_in_force(outcome, given, to_decide):
    assert dossier(outcome).in_force(NOW) is given
    assert dossier(outcome).is_open(NOW) is to_decide


def test_expiry_and_revocation_end_it():
    dated = extended(dossier(), kind="expiry", expires_at=LATER, written_at=NOW)
    assert dated.in_force(NOW)
    assert not dated.in_force(LATER)
    assert extended(
        dated, kind="expiry", expires_at=LATER + dt.timedelta(days=1), written_at=NOW
    ).in_force(LATER)
    revoked = extended(dated, kind="revocation", written_at=NOW)
    assert not revoked.in_force(NOW)
    assert extended(revoked, kind="revocation", written_at=LATER).revoked_at == NOW
    # The clock was set back since.
    assert revoked.ended(NOW - dt.timedelta(days=1)) != ()


def test_a_doubt_about_the_voice_is_open_and_a_decision_counts_until_it_falls():
    other = ConsentCheck(id="same_voice", outcome="warn", sentence="It may be another voice.")
    was = dossier().evidence
    again = {"consent": was.consent, "output": was.output, "checks": (other,), "written_at": NOW}
    doubtful = extended(dossier(), kind="evidence", **again)
    assert doubtful.is_open(NOW)
    yes = ConsentDecision(
        accepted=True, by="Bo", because="heard", decided_at=NOW, evidence=doubtful.consent.evidence
    )
    decided = extended(doubtful, kind="decision", decision=yes, written_at=NOW)
    assert decided.in_force(NOW)
    assert extended(decided, kind="lapse", written_at=NOW).is_open(NOW)


def test_times_must_carry_a_zone():
    with pytest.raises(ValueError, match="timezone"):
        extended(dossier(), kind="expiry", expires_at=dt.datetime(2027, 1, 1), written_at=NOW)  # noqa: DTZ001


def test_a_video_of_different_people_is_no_consent_of_either():
    sentence = "Different faces are seen: this is more than one person."
    two = ConsentCheck(id="same_person_throughout", outcome="fail", sentence=sentence)
    was = dossier().evidence
    again = {"consent": was.consent, "output": was.output, "checks": (two,), "written_at": NOW}
    swapped = extended(dossier(), kind="evidence", **again)
    assert not swapped.in_force(NOW)
    assert not swapped.is_open(NOW)
    assert swapped.consent.reasons == (sentence,)
