"""What is written of strangers' text."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

from finished_runs import creation, person, run

from palprep.batch.outputs import write_results


def test_results_hold_no_marks_of_direction(tmp_path):
    ada = person(slug="ada", reasons=("\u202eevil\u2028",))
    write_results(tmp_path, run(ada))
    text = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert "\u202e" not in text
    assert "\\u202eevil\\u2028" in text
    assert text.count("\n") == len(text.splitlines()) == 1
    json.loads(text)


def test_the_table_computes_nothing_in_a_spreadsheet(tmp_path):
    made = {"id": "=1+1", "state": "completed"}
    ada = person(
        slug="-ada", status="redo", reasons=("=HYPERLINK(1)", 'a, "b"'), blocked_by=("no_nudity",),
        voice=creation("voice", **made),
    )  # fmt: skip
    write_results(tmp_path, run(ada, person(slug="bob")))
    path = tmp_path / "results.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open(encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file)
    line, _ = (tmp_path / "results.jsonl").read_text().splitlines()
    assert {*first} == {*json.loads(line), "blocked_by"} - {"assets"}
    assert (first["person"], first["voice_id"]) == ("'-ada", "'=1+1")
    assert first["reasons"] == """'=HYPERLINK(1) | a, "b\""""
    assert (first["blocked_by"], first["replica_id"]) == ("no_nudity", "")
    assert (second["person"], second["status"]) == ("bob", "done")


def test_no_file_is_open_when_another_takes_its_place(tmp_path, monkeypatch):
    """Windows replaces none that is open."""
    write_results(tmp_path, run(person(slug="ada"), person(slug="bob")))
    before = (tmp_path / "results.jsonl").read_bytes()
    opened, (open_it, replace_it) = [], (Path.open, Path.replace)

    def noted(path, *args, **kwargs):
        opened.append(open_it(path, *args, **kwargs))
        return opened[-1]

    def replaced(path, target):
        assert all(each.closed for each in opened)
        return replace_it(path, target)

    monkeypatch.setattr(Path, "open", noted)
    monkeypatch.setattr(Path, "replace", replaced)
    write_results(tmp_path, run(person(slug="ada"), person(slug="bob")), kept={"ada"})
    assert len(opened) == 3
    assert (tmp_path / "results.jsonl").read_bytes() == before
