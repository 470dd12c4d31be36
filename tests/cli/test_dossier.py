"""palprep dossier: what holds, what was changed, what was taken back."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from bucket import KEYS, real_bucket

from palprep.consent import ConsentFacts
from palprep.dossier import Dossier, add_entry
from palprep.dossier.chain import FileProof, extended
from palprep.journal import Journal
from palprep.journal.entries.bodies import DossierKept
from palprep.storage import Bucket

from .conftest import Palprep

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def written(
    folder: Path, outcome: str = "pass", person: str = "ada", *, coded: bool = False
) -> Dossier:
    """A dossier beside its video, as ``consent.consent.json``; ``coded``, with its fresh code."""
    video, source = folder / "consent.mp4", folder / "raw.mov"
    proofs = []
    for path in (source, video, *([folder / "consent-code.mp4"] if coded else [])):
        path.write_bytes(path.name.encode())
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        proofs.append(FileProof(name=path.name, sha256=digest, size_bytes=8))
    heard = ConsentFacts(
        outcome=outcome, transcript="I, Ada", starts_at=0.2, ends_at=1.0, words=(), reasons=(),
        statement="I, Ada", full_name="Ada Lovelace", language="en",
    )  # fmt: skip
    dossier = extended(Dossier(entries=()), kind="evidence",
        person=person, consent=heard, source=proofs[0], output=proofs[1], written_at=NOON,
        code=proofs[2] if coded else None,
    )  # fmt: skip
    (folder / "consent.consent.json").write_text(dossier.model_dump_json())
    return dossier


def test_evidence_that_holds(script: Palprep, tmp_path: Path) -> None:
    written(tmp_path)
    ran = script("dossier", "consent.consent.json", "--source", "raw.mov", "--json")
    assert ran.code == 0
    (entry,) = ran.objects
    assert (entry["intact"], entry["in_force"], entry["flaws"]) == (True, True, [])
    assert entry["entries"][0]["consent"]["full_name"] == "Ada Lovelace"
    shown = script("dossier", "consent.consent.json")
    assert shown.out.startswith("HOLDS")
    following = "palprep dossier consent.consent.json --export consent.html"
    assert shown.err == f"1 dossier: 1 holds. Next: {following}\n"
    assert script("dossier", "consent.consent.json", "--quiet").err == ""


def test_one_that_cannot_be_read_stops_no_other(script: Palprep, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, person=name)
    (tmp_path / "a" / "consent.consent.json").write_text("{")
    both = ("a/consent.consent.json", "b/consent.consent.json")
    told = script("dossier", *both, "--json")
    assert told.code == 1
    assert [each["intact"] for each in told.objects] == [False, True]
    assert "a/consent.consent.json" in told.objects[0]["error"]["message"]
    shown = script("dossier", *both)
    assert shown.out.startswith("HOLDS")
    assert "2 dossiers: 1 flawed, 1 holds. Next: find out what was changed." in shown.err


def test_words_that_were_not_said_hold_nothing(palprep: Palprep, tmp_path: Path) -> None:
    written(tmp_path, "fail")
    ran = palprep("dossier", "consent.consent.json")
    assert ran.code == 1
    assert ran.out.startswith("VOID")


def test_a_doubt_leaves_it_open(palprep: Palprep, tmp_path: Path) -> None:
    written(tmp_path, "warn")
    ran = palprep("dossier", "consent.consent.json", "--json")
    assert ran.code == 4
    (entry,) = ran.objects
    assert (entry["intact"], entry["in_force"], entry["open"]) == (True, False, True)
    shown = palprep("dossier", "consent.consent.json")
    assert shown.out.startswith("OPEN")
    assert "1 dossier: 1 open. Next: listen to what is open" in shown.err
    assert palprep("dossier", "consent.consent.json", "--revoke").code == 0
    assert palprep("dossier", "consent.consent.json").out.startswith("VOID")


def test_an_expiry_and_a_revocation_are_added(palprep: Palprep, tmp_path: Path) -> None:
    written(tmp_path)
    path = "consent.consent.json"
    assert palprep("dossier", path, "--expires", "soon").code == 2
    assert palprep("dossier", path, "--expires", "2999-12-31", "--note", "contract").code == 0
    assert "given an end: 2999-12-31 00:00 UTC. Note: contract" in palprep("dossier", path).out
    assert palprep("dossier", path, "--revoke", "--note", "by letter").code == 0
    ran = palprep("dossier", path)
    assert ran.code == 1
    assert ran.out.startswith("VOID")
    assert "1 dossier: 1 void. Next: where a consent does not hold" in ran.err
    assert "by letter" in ran.out
    entries = json.loads((tmp_path / path).read_text())["entries"]
    assert [entry["kind"] for entry in entries] == ["evidence", "expiry", "revocation"]


@pytest.mark.parametrize(
    ("name", "says"), [("consent.mp4", "consent.mp4 was changed"), ("raw.mov", "raw.mov was")]
)
def test_a_changed_video_or_source_is_told(
    palprep: Palprep, tmp_path: Path, name: str, says: str
) -> None:
    written(tmp_path)
    (tmp_path / name).write_bytes(b"another")
    ran = palprep("dossier", "consent.consent.json", "--source", "raw.mov")
    assert ran.code == 1
    assert ran.out.startswith("FLAWED")
    assert says in ran.out
    (tmp_path / name).unlink()
    assert "is not there" in palprep("dossier", "consent.consent.json", "--source", "raw.mov").out


def test_an_export_is_one_page_and_changes_nothing(palprep: Palprep, tmp_path: Path) -> None:
    written(tmp_path)
    before = (tmp_path / "consent.consent.json").read_bytes()
    ran = palprep("dossier", "consent.consent.json", "--export", "of ada.html", "--json")
    assert ran.code == 0
    assert [entry["person"] for entry in ran.objects] == ["ada"]
    assert ran.err.endswith("Next: open 'of ada.html'\n")
    html = (tmp_path / "of ada.html").read_text()
    assert "Consent of Ada Lovelace" in html
    assert "nothing in this dossier spoke against this consent" in html
    assert (tmp_path / "consent.consent.json").read_bytes() == before


def test_an_export_over_the_dossier_is_usage(palprep: Palprep, tmp_path: Path) -> None:
    written(tmp_path)
    before = (tmp_path / "consent.consent.json").read_bytes()
    ran = palprep("dossier", "consent.consent.json", "--export", "consent.consent.json")
    assert ran.code == 2
    assert "consent.consent.html" in ran.err
    assert (tmp_path / "consent.consent.json").read_bytes() == before


@pytest.mark.parametrize("options", [["--revoke", "--export", "x.txt"], ["--note", "by letter"]])
def test_what_cannot_be_meant_adds_no_entry(
    palprep: Palprep, tmp_path: Path, options: list[str]
) -> None:
    written(tmp_path)
    before = (tmp_path / "consent.consent.json").read_bytes()
    ran = palprep("dossier", "consent.consent.json", *options)
    assert (ran.code, ran.out) == (2, "")
    assert (tmp_path / "consent.consent.json").read_bytes() == before


def test_a_waiver_is_told_first(palprep: Palprep, tmp_path: Path) -> None:
    written(tmp_path, "fail")
    path, why = tmp_path / "consent.consent.json", "The name was not heard."
    add_entry(path, kind="waiver", written_at=NOON, note=why)
    lines = palprep("dossier", "consent.consent.json").out.splitlines()
    assert lines[0].startswith("VOID")
    assert lines[1].strip() == (
        "Consent was waived: the work went on without it. The name was not heard."
    )


def test_a_dossier_written_anew_is_told_by_the_journal(palprep: Palprep, tmp_path: Path) -> None:
    first = written(tmp_path, "fail")
    with Journal.of(tmp_path, create=True) as journal:
        kept = DossierKept(path="consent.consent.json", dossier=first.to_json())
        journal.append(kept, person="ada")
    written(tmp_path, "pass")
    for named in ("consent.consent.json", "."):
        ran = palprep("dossier", named)
        assert ran.code == 1
        assert "not the one that the journal of the run holds" in ran.out
    # One that lies elsewhere, or whose journal cannot be read, speaks for itself.
    copy = tmp_path / "copy"
    copy.mkdir()
    written(copy)
    assert palprep("dossier", "copy/consent.consent.json").code == 0
    (tmp_path / "journal.sqlite").write_bytes(b"x" * 5000)
    assert palprep("dossier", "consent.consent.json").code == 0


def test_a_journal_elsewhere_keeps_what_is_recorded_by_its_folder(
    palprep: Palprep, tmp_path: Path
) -> None:
    (ready := tmp_path / "ready").mkdir()
    with Journal.of(tmp_path / "log", create=True) as journal:
        kept = DossierKept(
            path=str(ready / "consent.consent.json"), dossier=written(ready).to_json()
        )
        journal.append(kept, person="ada", key="source")
    ran = palprep("dossier", str(tmp_path / "log"), "--revoke", "--expires", "2027-01-01")
    assert (ran.code, ran.out[:4]) == (0, "VOID")
    with Journal.of(tmp_path / "log") as journal:
        last = Dossier.model_validate(journal.entries(DossierKept, person="ada")[-1].body.dossier)
    assert [each.kind for each in last.entries] == ["evidence", "expiry", "revocation"]


def test_people_of_a_run_are_named_after_its_folder(palprep: Palprep, tmp_path: Path) -> None:
    with Journal.of(tmp_path, create=True) as journal:
        for person in ("ada", "bob"):
            (tmp_path / person).mkdir()
            dossier = written(tmp_path / person, person=person)
            kept = DossierKept(path=f"{person}/consent.consent.json", dossier=dossier.to_json())
            journal.append(kept, person=person)
    ran = palprep("dossier", ".", "bob", "--json")
    assert ran.code == 0
    assert [each["person"] for each in ran.objects] == ["bob"]
    assert len(palprep("dossier", ".", "bob", "ada", "--json").objects) == 2
    ran = palprep("dossier", ".", "bop")
    assert ran.code == 2
    assert "kept no dossier of bop: did you mean bob?" in ran.err
    before = (tmp_path / "ada" / "consent.consent.json").read_bytes()
    assert (
        palprep("dossier", "ada/consent.consent.json", "--revoke", "--note", "by letter").code == 0
    )
    (tmp_path / "ada" / "consent.consent.json").write_bytes(before)
    ran = palprep("dossier", ".", "ada", "--json")
    assert (ran.code, ran.objects[0]["intact"]) == (1, False)
    (tmp_path / "ada" / "consent.consent.json").unlink()
    ran = palprep("dossier", ".", "--json")
    assert ran.code == 1
    assert [each["intact"] for each in ran.objects] == [False, True]


def test_a_video_that_lies_in_a_bucket_alone(
    palprep: Palprep, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As after a run with --store: fetched for as long as it is looked at."""
    dossier = written(tmp_path, coded=True)
    video, code = tmp_path / "consent.mp4", tmp_path / "consent-code.mp4"
    content = video.read_bytes()
    video.unlink()
    code.unlink()
    there = {each.name for each in tmp_path.iterdir()}
    with real_bucket(tmp_path_factory.mktemp("s3")) as endpoint:
        keys = {**KEYS, "endpoint": endpoint, "allow_http": "true"}
        ask = partial(
            palprep,
            *("dossier", "consent.consent.json"),
            PALPREP_STORE="s3://media/work",
            **{f"AWS_{name.upper()}": value for name, value in keys.items()},
        )
        allowed = {"config": {**KEYS, "endpoint": endpoint, "allow_http": True}}
        bucket = Bucket("s3://media/work", **allowed)
        assert dossier.evidence.output is not None
        key = f"{dossier.evidence.output.sha256[:20]}-consent.mp4"
        nowhere = ask()
        assert nowhere.code == 1
        assert "consent.mp4 is not there" in nowhere.out
        assert "name the bucket with --store" in nowhere.err
        bucket.put(key, b"another")
        changed = ask()
        assert changed.code == 1
        assert "consent.mp4 was changed since" in changed.out
        bucket.put(key, content)
        assert "consent-code.mp4 is not there" in ask().out
        assert dossier.evidence.code is not None
        bucket.put(f"{dossier.evidence.code.sha256[:20]}-consent-code.mp4", code.name.encode())
        found = ask()
        assert found.code == 0
        assert "--store s3://media/work --export" in found.err
        assert {each.name for each in tmp_path.iterdir()} == there
        assert ask("--export", "consent.html").code == 0
    page = (tmp_path / "consent.html").read_text(encoding="utf-8")
    assert "The prepared video was not there" not in page
    assert "The prepared video shows no frames" in page  # It is no video.


@pytest.mark.parametrize("arguments", [["--revoke", "other.json"], ["nowhere.json"]])
def test_what_cannot_be_meant_is_usage(
    palprep: Palprep, tmp_path: Path, arguments: list[str]
) -> None:
    written(tmp_path)
    ran = palprep("dossier", "consent.consent.json", *arguments)
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_what_the_journal_alone_still_has_can_be_taken_back(
    palprep: Palprep, tmp_path: Path
) -> None:
    """One person has two dossiers, so each is named by its file, which is gone."""
    with Journal.of(tmp_path, create=True) as journal:
        for folder, person in (("a", "ada"), ("b", "ada"), ("c", "bob")):
            (tmp_path / folder).mkdir()
            told = written(tmp_path / folder, person=person).to_json()
            kept = DossierKept(path=f"{folder}/consent.consent.json", dossier=told)
            journal.append(kept, person=person)
    (tmp_path / "c/consent.consent.json").unlink()
    for folder in ("a", "b"):
        shutil.rmtree(tmp_path / folder)
    by_letter = ("--revoke", "--note", "by letter")
    by_name = palprep("dossier", ".", "bob", *by_letter)
    assert (by_name.code, "VOID" in by_name.out) == (0, True)
    assert "about one dossier" in palprep("dossier", ".", "ada", *by_letter).err
    by_file = palprep("dossier", "b/consent.consent.json", *by_letter)
    assert (by_file.code, "consent.mp4 is not there" in by_file.out) == (1, True)
    assert "The person took the consent back" in by_file.out
    # Only looking at it writes nothing.
    assert palprep("dossier", "a/consent.consent.json").code == 2
    assert not (tmp_path / "a").exists()
    with Journal.of(tmp_path) as journal:
        bodies = [each.body for each in journal.entries(DossierKept)]
    last = {each.path: Dossier.model_validate(each.dossier) for each in bodies}
    revoked = {path for path, each in last.items() if each.revoked_at}
    assert revoked == {"b/consent.consent.json", "c/consent.consent.json"}


def test_a_link_to_itself_is_no_dossier(palprep: Palprep, tmp_path: Path) -> None:
    (tmp_path / "loop.json").symlink_to("loop.json")
    ran = palprep("dossier", "loop.json", "--revoke")
    assert (ran.code, "cannot be read" in ran.err) == (2, True)
