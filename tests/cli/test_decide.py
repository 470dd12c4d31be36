"""palprep decide, and how palprep status asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from palprep.journal import Journal
from palprep.journal.entries.bodies import ConsentFound, PersonEnded, PersonNames, RunStarted
from palprep.journal.runs import PersonOutcome
from palprep.rules.consent import ConsentDoubt, ConsentEvidence, ConsentFile
from palprep.values import Role, Span

from .conftest import Palprep

BY = ("--by", "Eve", "--because", "it is her")


@pytest.fixture(autouse=True)
def out(tmp_path: Path) -> Path:
    """The folder of a run that a doubt holds."""
    names = PersonNames(slug="ada", name="Ada", full_name="Ada Lovelace")
    file = ConsentFile(
        role=Role.CONSENT_VIDEO, path="prepared/ada/c.mp4", sha256="a" * 64, source_sha256=None
    )
    doubt = ConsentDoubt(
        check="mouth_moves", sentence="It rests.",
        words="c.mp4 (consent-video): It rests. Watch it.", stretch=Span(start_s=0.5, end_s=9.25),
    )  # fmt: skip
    held = PersonOutcome(status="needs_decision", reasons=(doubt.words,), held=True)
    with Journal.of(tmp_path / "out", create=True) as journal:
        journal.append(
            RunStarted(
                people=(names,), target="http://x", profile="core-4", dry_run=False,
                palprep_version="0",
            )
        )  # fmt: skip
        other = file.model_copy(update={"role": Role.TRAINING_VIDEO, "path": "prepared/ada/t.mp4"})
        evidence = ConsentEvidence(files=(other, file), doubts=(doubt,))
        journal.append(ConsentFound(evidence=evidence), person="ada")
        journal.append(PersonEnded(outcome=held), person="ada")
    return tmp_path / "out"


def test_status_says_how_to_decide_and_what_was_decided(palprep: Palprep) -> None:
    before = palprep("status", "out")
    assert before.code == 4
    assert before.out.endswith(
        "\nThe consent of ada is in doubt. Listen to out/prepared/ada/c.mp4, 0.5 s to 9.2 s, then\n"
        "  palprep decide out ada --accept --by NAME --because TEXT    if it is given\n"
        "  palprep decide out ada --refuse --by NAME --because TEXT    if it is not\n"
    )
    ran = palprep("decide", "out", "ada lovelace", "--refuse", *BY, "--json")
    [decision] = ran.objects
    assert (ran.code, decision["accepted"], decision["by"]) == (0, False, "Eve")
    assert decision["because"] == "it is her"
    assert decision["evidence"]["files"][0]["sha256"] == "a" * 64
    assert decision["evidence"]["doubts"][0]["stretch"] == {"start_s": 0.5, "end_s": 9.25}
    after = palprep("status", "out")
    assert (after.code, "palprep decide" in after.out) == (1, False)
    assert "by somebody named “Eve”: “it is her”." in after.out
    accepted = palprep("decide", "out", "ada", "--accept", *BY)
    assert accepted.err.endswith("`palprep run` again.\n")
    # And about what, since a run may have found other doubts since somebody looked.
    assert accepted.out.splitlines()[1:] == ["  c.mp4 (consent-video): It rests. Watch it."]
    assert palprep("status", "out").code == 5


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("ada", *BY), "--accept or --refuse"),
        (("ada", "--accept", "--refuse", *BY), "--accept or --refuse"),
        (("ada", "--accept"), "needs the name of who decides"),
        (("ada", "--accept", "--by", "Eve", "--because", " "), "and a reason"),
        (("ada", "--accept", "--by", "\u200b", "--because", "x"), "needs the name of who decides"),
        (("adda", "--accept", *BY), "adda is nobody in out; there are ada"),
    ],
)
def test_wrong_usage_records_nothing(palprep: Palprep, asked: tuple[str, ...], says: str) -> None:
    ran = palprep("decide", "out", *asked)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert palprep("status", "out").code == 4


def test_a_terminal_gets_no_orders_from_a_name(palprep: Palprep) -> None:
    ran = palprep("decide", "out", "ada", "--accept", "--by", "\x1b[31mEve", "--because", "x")
    assert "\\x1b[31mEve" in ran.out
    assert "\x1b" not in ran.out + palprep("status", "out").out
