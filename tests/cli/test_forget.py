"""palprep forget: what it shows, asks, refuses and removes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from palprep.journal import Journal
from palprep.journal.entries.bodies import (
    Created,
    CreationUsed,
    Intent,
    PersonNames,
    RunStarted,
    Snapshot,
)

from .conftest import SCRIPT, Palprep


@pytest.fixture
def out(tmp_path: Path) -> Path:
    into = tmp_path / "out"
    people = tuple(
        PersonNames(slug=slug, name=slug.title(), full_name=full)
        for slug, full in (("ada", "Ada Lovelace"), ("ben", "Ben Bo"))
    )
    with Journal.of(into, create=True) as journal:
        about = {"target": "http://x", "profile": "core-4", "palprep_version": "0"}
        journal.append(RunStarted(people=people, dry_run=False, **about))
        journal.append(CreationUsed(what="voice"), person="ada", key="voice-1")
        journal.append(Intent(what="voice", request={}), person="ada", key="voice-1")
        made = Snapshot(id="v_123", status="completed")
        journal.append(Created(snapshot=made), person="ada", key="voice-1")
    (into / "prepared/ada/voice-audio").mkdir(parents=True)
    (into / "prepared/ada/voice-audio/r.wav").write_bytes(b"x")
    return into


def test_without_a_terminal_it_shows_and_refuses(palprep: Palprep, out: Path) -> None:
    ran = palprep("forget", out, "Ada Lovelace")
    assert ran.code == 2
    assert ran.err == "palprep: Nothing was removed: give --yes to remove it\n"
    assert "  goes: prepared/ada\n" in ran.out
    assert "no way to delete it: the voice v_123 (completed)" in ran.out
    assert palprep("forget", out, "ada", "--json").objects[0]["person"] == "ada"
    assert (out / "prepared/ada").exists()


def test_what_the_runs_own_sandbox_holds_goes_too(palprep: Palprep, out: Path) -> None:
    with Journal.of(out) as journal:
        request = {"target": "embedded sandbox"}
        journal.append(CreationUsed(what="voice"), person="ada", key="voice-2")
        journal.append(Intent(what="voice", request=request), person="ada", key="voice-2")
        made = Snapshot(id="v_124", status="completed")
        journal.append(Created(snapshot=made), person="ada", key="voice-2")
    (out / "sandbox").mkdir()
    ran = palprep("forget", out, "ada")
    assert "  goes: the voice v_124 of the run's own sandbox\n" in ran.out
    # An earlier run made this one elsewhere.
    assert "no way to delete it: the voice v_123 (completed)" in ran.out
    assert not palprep("forget", out, "ada", "--json").objects[0]["own_sandbox"]


def test_with_yes_it_goes_and_again_takes_the_person_in(palprep: Palprep, out: Path) -> None:
    ran = palprep("forget", out, "ada", "--yes")
    assert ran.code == 0
    assert ran.err.endswith("Next: delete the person's own folder; a run would pass it over.\n")
    assert not (out / "prepared/ada").exists()
    assert b"Lovelace" not in (out / "journal.sqlite").read_bytes()
    assert [each["person"] for each in palprep("status", out, "--json").objects[0]["people"]] == [
        "ben"
    ]
    assert palprep("forget", out, "ada", "--yes").code == 0
    assert palprep("forget", out, "ada", "--again").code == 0
    assert palprep("forget", out, "ada", "--again").code == 2


def test_nobody_of_that_name_and_a_run_at_work(palprep: Palprep, out: Path) -> None:
    ran = palprep("forget", out, "adda", "--yes")
    assert ran.code == 2
    assert "adda is nobody in" in ran.err
    assert "there are ada" in ran.err.lower()
    with Journal.of(out, lock=True):
        ran = palprep("forget", out, "ada", "--yes")
    assert ran.code == 5
    assert "Another run is using" in ran.err
    assert (out / "prepared/ada").exists()


def test_a_mistyped_bucket_removes_nothing(palprep: Palprep, out: Path) -> None:
    assert palprep("forget", out, "ada", "--yes", "--publish-to", "ftp://x").code == 2
    assert (out / "prepared/ada").exists()


@pytest.mark.parametrize(("answer", "code", "stays"), [(b"n\n", 1, True), (b"y\n", 0, False)])
def test_on_a_terminal_it_asks(out: Path, answer: bytes, code: int, *, stays: bool) -> None:
    typed, terminal = os.openpty()
    os.write(typed, answer)
    ran = subprocess.run(
        [SCRIPT, "forget", out, "ada"], stdin=terminal, capture_output=True, timeout=60, check=False
    )
    os.close(typed)
    os.close(terminal)
    assert ran.returncode == code
    assert b"for good? [y/N]" in ran.stderr
    assert (out / "prepared/ada").exists() is stays
