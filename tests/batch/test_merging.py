"""Shards become one page and one list of results."""

from __future__ import annotations

import json

import pytest
from finished_runs import changed, person, run

from palprep.batch.outputs import Merged, write_merged_report, write_report
from palprep.batch.people.folder import Shard
from palprep.batch.people.selection import Selection
from palprep.errors import JournalError, UsageError

NAMES = ["ada", "alan", "bob-9", "bob-10"]


@pytest.fixture
def shards(go, add, out):
    """Two shards with two people each, run and done; their folders."""
    for name in NAMES:
        add(name)
    for number in (1, 2):
        go(select=Selection(shard=Shard(number, 2)))
    return [out / f"shard-{number}-of-2" for number in (1, 2)]


def test_everybody_stands_on_one_page(shards, out):
    page = write_merged_report(shards, out)
    assert page == out / "report.html"
    lines = (out / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["person"] for line in lines] == NAMES
    text = page.read_text()
    assert all(name in text for name in ("Ada", "Alan", "Bob 9", "Bob 10"))
    # Sound that lies in a shard can be played from the page of all.
    assert "shard-1-of-2/prepared/ada" in text
    drawn = {each.name for shard in shards for each in (shard / "pictures").iterdir()}
    assert drawn
    assert {each.name for each in (out / "pictures").iterdir()} == drawn


def test_a_folder_of_its_own(shards, tmp_path):
    assert write_merged_report([*shards, shards[0]], tmp_path / "all").is_file()
    before = (shards[0] / "results.jsonl").read_bytes()
    with pytest.raises(UsageError, match="would be lost"):
        write_merged_report(shards, shards[0])
    assert (shards[0] / "results.jsonl").read_bytes() == before
    with pytest.raises(JournalError):
        write_merged_report([*shards, tmp_path], tmp_path / "all")
    assert write_report(shards[1]) == shards[1] / "report.html"


def test_no_folders_make_no_page(tmp_path):
    with pytest.raises(UsageError, match="directories takes Sequence, not str"):
        write_merged_report(str(tmp_path), tmp_path)
    with pytest.raises(UsageError, match="at least one output folder"):
        write_merged_report([], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_what_makes_one_run(tmp_path):
    ada, bob = person(slug="ada"), person(slug="bob")
    later = changed(run(ada), started_at="2026", updated_at="2027")
    whole = Merged({tmp_path / "b": run(bob), tmp_path / "a": later})
    assert [each.slug for each in whole.rows()] == ["ada", "bob"]
    assert [whole.person(slug) for slug in ("ada", "bob")] == [ada, bob]
    assert (whole.head.started_at, whole.head.updated_at) == ("2026", "2027")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": "https://other.example"}, "no parts of one run: target is"),
        ({"profile": "core-3"}, "no parts of one run: profile is"),
        ({"dry_run": True}, "no parts of one run: dry_run is"),
        ({}, "ada is in .*a and in .*b"),
    ],
)
def test_what_does_not(tmp_path, change, said):
    other = changed(run(person(slug="ada")), **change)
    with pytest.raises(UsageError, match=said):
        Merged({tmp_path / "a": run(person(slug="ada")), tmp_path / "b": other})
