import datetime as dt
import json
from pathlib import Path

import pytest

from palprep import system
from palprep.consent import ConsentFacts, WordRecord
from palprep.dossier.files import (
    add_entry,
    examine_dossier,
    keep_dossier,
    read_dossier,
    sole_writer,
)
from palprep.errors import DossierUnusable, UsageError
from palprep.facts import Facts
from palprep.media import FileFacts
from palprep.media.facts import MediaType
from palprep.media.sources import sha256_of
from palprep.preflight import Prepared
from palprep.rules import Check, Report
from palprep.values import Kind, Outcome, Role

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


@pytest.fixture
def prepared(tmp_path):
    source, output = tmp_path / "in" / "consent.mov", tmp_path / "out" / "consent.mp4"
    for path, data in ((source, b"as it came"), (output, b"as it was prepared")):
        path.parent.mkdir()
        path.write_bytes(data)
    consent = ConsentFacts(
        outcome="pass", transcript="I, Ada", starts_at=0.2, ends_at=1.0, reasons=(),
        words=(WordRecord(expected="I", heard="I", start=0.2, end=0.3, probability=0.9,
                          outcome="pass"),),
        statement="I, Ada", full_name="Ada", language="en",
    )  # fmt: skip
    kind = MediaType(
        kind=Kind.VIDEO, format="mp4", description="an MP4 video", mime="video/mp4",
        extensions=(".mp4",), accepted=True,
    )  # fmt: skip
    file = FileFacts(path=str(output), name=output.name, size_bytes=18, type=kind)
    checks = tuple(
        Check(id=name, label=name, outcome=Outcome.PASS, measured=1)
        for name in ("mouth_moves", "file_size")
    )
    report = Report(
        path=str(output), role=Role.CONSENT_VIDEO, profile="core-4", checks=checks,
        facts=Facts(file=file, consent=consent),
    )  # fmt: skip
    return Prepared(
        source=str(source),
        source_sha256=sha256_of(source),
        path=str(output),
        report=report,
        fixes=(),
        sha256=sha256_of(output),
    )


def test_the_dossier_lies_beside_the_video_and_holds_the_evidence(prepared):
    compared = tuple(
        Check(id="same_person", label="faces", outcome=Outcome.PASS, measured=1, files=files)
        for files in (("0" * 64, prepared.sha256), (prepared.sha256, "1" * 64))
    )
    elsewhere = compared[0].model_copy(update={"files": ("0" * 64, "1" * 64)})
    path = keep_dossier(prepared, person="ada", written_at=NOON, compared=(*compared, elsewhere))
    entry = read_dossier(path).evidence
    assert path.parent.name == "out"
    assert entry.person == "ada"
    assert entry.consent.words[0].heard == "I"
    assert entry.output.sha256 == prepared.sha256
    assert entry.source.name == "consent.mov"
    assert entry.source.sha256 != entry.output.sha256
    assert [check.id for check in entry.checks] == ["mouth_moves", "same_person", "same_person"]
    assert entry.checks[0].sentence == prepared.report.checks[0].sentence
    assert {"palprep", "av"} <= set(entry.tools)
    assert entry.tools["profile"] == prepared.report.profile
    assert examine_dossier(path).flaws == ()


def test_a_comparison_of_a_file_whose_name_ends_alike_is_not_this_video_s(prepared):
    own = Check(
        id="same_person", label="b.jpg and consent.mp4", outcome=Outcome.PASS, measured=1,
        files=("0" * 64, prepared.sha256),
    )  # fmt: skip
    other = own.model_copy(update={"label": "b.jpg and my consent.mp4", "files": ("0" * 64,) * 2})
    path = keep_dossier(prepared, person="ada", written_at=NOON, compared=(own, other))
    ids = [check.id for check in read_dossier(path).evidence.checks]
    assert ids == ["mouth_moves", "same_person"]


def test_files_that_lie_in_a_bucket_are_on_record_too(prepared):
    """As a worker elsewhere prepares them: neither the source nor the output is here."""
    prepared.path.unlink()
    Path(prepared.source).unlink()
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    entry = read_dossier(path).evidence
    assert (entry.output.sha256, entry.output.size_bytes) == (prepared.sha256, 18)
    assert (entry.source.sha256, entry.source.size_bytes) == (prepared.source_sha256, None)


def test_where_nothing_was_listened_for_there_is_no_dossier(prepared):
    facts = prepared.report.facts.model_copy(update={"consent": None})
    report = prepared.report.model_copy(update={"facts": facts})
    bare = prepared.model_copy(update={"report": report})
    assert keep_dossier(bare, person="ada", written_at=NOON) is None


def test_a_second_run_keeps_the_first_record(prepared):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    before = path.read_bytes()
    assert keep_dossier(prepared, person="ada", written_at=NOON + DAY) == path
    assert path.read_bytes() == before


def test_expiry_and_revocation_are_added_and_nothing_is_taken_away(prepared):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    first = read_dossier(path)
    add_entry(path, kind="expiry", expires_at=NOON + 10 * DAY, written_at=NOON)
    assert read_dossier(path).in_force(NOON + 9 * DAY)
    assert not read_dossier(path).in_force(NOON + 10 * DAY)
    add_entry(path, kind="revocation", written_at=NOON + DAY, note="by letter")
    grown = read_dossier(path)
    assert grown.entries[0] == first.evidence
    assert [entry.kind for entry in grown.entries] == ["evidence", "expiry", "revocation"]
    assert not grown.in_force(NOON + 2 * DAY)
    assert examine_dossier(path).flaws == ()


def test_only_a_dossier_that_goes_on_from_the_journals_holds(prepared):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    kept = read_dossier(path)
    longer = add_entry(path, kind="expiry", expires_at=NOON + DAY, written_at=NOON)
    assert examine_dossier(path, kept=kept).flaws == ()
    path.write_text(kept.model_dump_json())
    [flaw] = examine_dossier(path, kept=longer).flaws
    assert "is not the one that the journal of the run holds" in flaw.problem


@pytest.mark.parametrize("name", ["", "..", "a/b.mp4", "/etc/passwd"])
def test_a_dossier_of_a_file_that_lies_elsewhere_is_damaged(prepared, name):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    text = path.read_text()
    path.write_text(text.replace(f'"name": "{prepared.path.name}"', f'"name": "{name}"'))
    with pytest.raises(DossierUnusable, match=r"was damaged: .* is not the name of a file"):
        examine_dossier(path)


def test_whoever_waits_for_a_dossier_locks_the_file_that_took_its_place(prepared, monkeypatch):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    lock, waiting = system.lock, [path.read_bytes()]

    def replaced_meanwhile(handle: int, **how: bool) -> bool:
        while waiting:
            path.unlink()
            path.write_bytes(waiting.pop())
        return lock(handle, **how)

    monkeypatch.setattr(system, "lock", replaced_meanwhile)
    with sole_writer(path), path.open() as other:
        assert not lock(other.fileno())


def test_a_changed_video_is_detected(prepared, tmp_path):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    (tmp_path / "out" / "consent.mp4").write_bytes(b"something else")
    assert [flaw.problem for flaw in examine_dossier(path).flaws] == [
        "consent.mp4 was changed since"
    ]


def test_a_changed_dossier_is_detected_and_not_added_to(prepared):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    data = json.loads(path.read_text())
    data["entries"][0]["consent"]["outcome"] = "warn"
    path.write_text(json.dumps(data))
    assert examine_dossier(path).flaws
    with pytest.raises(DossierUnusable, match="was changed after it was written"):
        keep_dossier(prepared, person="ada", written_at=NOON)
    with pytest.raises(DossierUnusable, match="was changed after it was written"):
        add_entry(path, kind="revocation", written_at=NOON)


def test_what_another_version_wrote_is_not_called_changed(prepared):
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    path.write_text(path.read_text().replace("consent-dossier/3", "consent-dossier/2"))
    with pytest.raises(DossierUnusable, match="another version of palprep"):
        read_dossier(path)


@pytest.mark.parametrize("content", [b"", b"{}", b"not json"])
def test_what_is_no_dossier_is_told_so(tmp_path, content):
    path = tmp_path / "x.consent.json"
    path.write_bytes(content)
    with pytest.raises(DossierUnusable, match="no consent dossier"):
        read_dossier(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_dossier(tmp_path / "nowhere.json")


def test_the_file_with_the_fresh_code_is_hashed_too(prepared):
    kept = prepared.path.with_name("consent-code.mp4")
    kept.write_bytes(b"statement and code")
    update = {"path": kept, "sha256": sha256_of(kept)}
    prepared = prepared.model_copy(update={"evidence": prepared.model_copy(update=update)})
    path = keep_dossier(prepared, person="ada", written_at=NOON)
    proof = read_dossier(path).evidence.code
    assert (proof.name, proof.sha256) == (kept.name, sha256_of(kept))
    states = {file.what: file.state for file in examine_dossier(path).files}
    assert states == {"output": "unchanged", "code": "unchanged", "source": "not compared"}
    kept.write_bytes(b"other")
    [flaw] = examine_dossier(path).flaws
    assert "consent-code.mp4 was changed" in flaw.problem
    kept.unlink()
    add_entry(path, kind="removal", written_at=NOON, note="kept for a day")
    assert examine_dossier(path).flaws == ()
