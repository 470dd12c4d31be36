"""Who is selected, and that shards part everybody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripted_engine import Scripted
from standings import status

from palprep.batch.people.folder import Shard, shards_in
from palprep.batch.people.manifest_rows import ManifestRow
from palprep.batch.people.selection import Selection, find_everybody
from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.errors import ManifestError, UsageError
from palprep.journal import JOURNAL_NAME

SLUGS = ("ada", "alan", "bob", "grace")
PEOPLE = tuple(SimpleNamespace(slug=slug) for slug in SLUGS)


def selected(ended=None, **conditions):
    return [each.slug for each in Selection(**conditions).of(PEOPLE, ended)]


def test_without_conditions_it_is_everybody():
    assert selected() == list(SLUGS)
    assert Selection().everybody


@pytest.mark.parametrize(
    ("conditions", "who"),
    [
        ({"only": ("bob",)}, ["bob"]),
        ({"only": ("grace", "a*")}, ["ada", "alan", "grace"]),
        ({"only": ("?ob", "[g]race")}, ["bob", "grace"]),
        ({"limit": 2}, ["ada", "alan"]),
        ({"limit": 9}, list(SLUGS)),
        ({"only": ("a*", "bob"), "limit": 2}, ["ada", "alan"]),
    ],
)
def test_conditions_add_up(conditions, who):
    assert selected(**conditions) == who


@pytest.mark.parametrize(
    ("slug", "asked"),
    [("Jos\u00e9", "Jose\u0301"), ("Jose\u0301", "Jos\u00e9"), ("ada [2]", "ada [2]")],
)
def test_a_name_means_itself_however_it_is_written(slug, asked):
    people = (SimpleNamespace(slug=slug), SimpleNamespace(slug="ada 2"))
    assert Selection(only=(asked,)).of(people, None) == people[:1]


def test_those_who_failed_or_were_refused():
    ended = {"ada": "done", "alan": "failed", "bob": "redo", "zoe": "failed"}
    assert selected(ended, failed=True) == ["alan", "bob"]
    assert selected(ended, failed=True, only=("b*",)) == ["bob"]
    assert selected({}, failed=True) == []


def test_failed_needs_an_earlier_run():
    with pytest.raises(UsageError, match="there was none here"):
        selected(None, failed=True)


@pytest.mark.parametrize(
    ("pattern", "said"), [("adda", "did you mean ada"), ("x*", "there are ada, alan, bob, grace")]
)
def test_a_name_that_nobody_has(pattern, said):
    with pytest.raises(UsageError, match=said):
        selected(only=(pattern,))


@pytest.mark.parametrize("wrong", [{"only": "ada"}, {"limit": 0}])
def test_conditions_that_make_no_sense(wrong):
    with pytest.raises(UsageError):
        Selection(**wrong)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_shards_share_nobody_and_miss_nobody(count):
    slugs = [f"person-{number}" for number in range(200)]
    parts = [
        {slug for slug in slugs if Shard(number, count).holds(slug)}
        for number in range(1, count + 1)
    ]
    assert all(parts)
    assert sum(map(len, parts)) == len(slugs)
    assert set().union(*parts) == set(slugs)


def test_who_belongs_to_a_shard_never_changes():
    # Journals on disk depend on it: another formula would create people twice.
    assert [slug for slug in SLUGS if Shard(1, 2).holds(slug)] == FIRST_OF_TWO


FIRST_OF_TWO = ["ada", "bob"]


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", "auto/2"])
def test_what_is_no_shard(text):
    with pytest.raises(UsageError, match="shard"):
        Shard.parse(text, {"JOB_COMPLETION_INDEX": ""})


def test_a_shard_by_its_number_or_by_that_of_the_job():
    assert Shard.parse("2/8", {}) == Shard(2, 8)
    assert Shard.parse("auto/8", {"JOB_COMPLETION_INDEX": "0"}) == Shard(1, 8)
    assert Shard.parse("auto/8", {"AWS_BATCH_JOB_ARRAY_INDEX": "7"}) == Shard(8, 8)


def touch(folder):
    folder.mkdir(parents=True)
    (folder / JOURNAL_NAME).touch()


def test_a_shard_has_a_folder_of_its_own(tmp_path):
    second = Selection(shard=Shard(2, 12))
    assert second.place(tmp_path) == tmp_path / "shard-2-of-12"
    assert Selection().place(tmp_path) == tmp_path
    for number in (10, 2, "x"):
        touch(tmp_path / f"shard-{number}-of-12")
    assert [each.folder for each in shards_in(tmp_path)] == ["shard-2-of-12", "shard-10-of-12"]
    assert second.place(tmp_path) == tmp_path / "shard-2-of-12"
    with pytest.raises(UsageError, match="another division"):
        Selection(shard=Shard(2, 4)).place(tmp_path)
    with pytest.raises(UsageError, match="without --shard would create the same again"):
        Selection().place(tmp_path)


def test_a_shard_next_to_a_whole_run_would_create_twice(tmp_path):
    touch(tmp_path / "out")
    with pytest.raises(UsageError, match="without shards"):
        Selection(shard=Shard(1, 4)).place(tmp_path / "out")


@pytest.mark.parametrize("shard", [None, Shard(1, 2), Shard(2, 2)])
def test_a_run_in_the_folder_of_a_shard_would_create_the_others_again(tmp_path, monkeypatch, shard):
    part = tmp_path / "shard-1-of-2"
    touch(part)
    monkeypatch.chdir(part)
    for into in (part, Path()):
        with pytest.raises(UsageError, match=f"give --shard 1/2 --into {tmp_path}$"):
            Selection(shard=shard).place(into)
    assert Selection(shard=Shard(1, 2)).place(tmp_path) == part


def shown(out):
    lines = (out / "results.jsonl").read_text().splitlines()
    return {each["person"]: each["status"] for each in map(json.loads, lines)}


def slugs(seen):
    return [each.slug for each in seen.people]


def test_a_run_for_some_leaves_the_others_as_they_stand(go, add, log, out):
    add("ada")
    add("bob")
    (add("eve", voice=False) / "training.mp4").write_text("no video at all")
    assert slugs(go(select=Selection(only=("bob",)))) == ["bob"]
    assert shown(out) == {"bob": "voice_only"}
    assert slugs(go(select=Selection(limit=1))) == ["ada"]
    assert shown(out) == {"bob": "voice_only", "ada": "voice_only"}
    assert slugs(go()) == ["ada", "bob", "eve"]
    assert slugs(go(select=Selection(failed=True))) == ["eve"]
    everybody = {"ada": "voice_only", "bob": "voice_only", "eve": "redo"}
    assert shown(out) == everybody
    assert {each.person: each.status for each in status(out).people} == everybody
    assert (out / "report.html").read_text().count("Bob") > 0
    assert log.creates == {"voice": 2}
    shutil.copy(out.parent / "people/ada/recording.wav", out.parent / "people/eve/training.mp4")
    (out.parent / "people/eve/training.mp4").rename(out.parent / "people/eve/recording.wav")
    assert slugs(go(select=Selection(failed=True))) == ["eve"]
    assert slugs(go(select=Selection(failed=True))) == []
    assert set(shown(out).values()) == {"voice_only"}
    assert log.creates == {"voice": 3}


@pytest.mark.parametrize("wrong", [{"only": ("nobody",)}, {"failed": True}])
def test_a_mistaken_selection_leaves_no_folder_in_the_way_of_the_next_run(go, add, out, wrong):
    add("ada")
    with pytest.raises(UsageError, match=r"names nobody|an earlier run"):
        go(select=Selection(shard=Shard(1, 2), **wrong))
    assert not out.exists()


def test_results_of_a_dry_run_do_not_stay_beside_real_ones(go, add, out):
    add("ada")
    add("bob")
    go(dry_run=True)
    go(select=Selection(only=("ada",)))
    assert shown(out) == {"ada": "voice_only"}


def test_shards_make_everybody_once(go, add, log, out):
    for name in SLUGS:
        add(name)
    first = go(select=Selection(shard=Shard(1, 2)))
    second = go(select=Selection(shard=Shard(2, 2)))
    assert (slugs(first), slugs(second)) == (FIRST_OF_TWO, ["alan", "grace"])
    assert shown(out / "shard-2-of-2") == {"alan": "voice_only", "grace": "voice_only"}
    assert log.creates == {"voice": 4}
    with pytest.raises(UsageError, match="without --shard"):
        go()
    assert go(select=Selection(shard=Shard(1, 2))).people[0].status == "voice_only"
    assert log.creates == {"voice": 4}


def test_a_shard_without_people_ends_well(go, add, out):
    add("ada")
    assert go(select=Selection(shard=Shard(2, 2))).people == ()
    assert shown(out / "shard-2-of-2") == {}


def test_the_output_of_a_run_is_no_folder_of_people(go, add, out):
    add("ada")
    go(dry_run=True)
    with pytest.raises(UsageError, match="out is the output folder of a run: give the folder of"):
        run(out, into=out.with_name("other"))
    assert not out.with_name("other").exists()


def test_people_who_are_left_out_of_the_results_are_named(go, add, folder):
    add("ada")
    add("bob")
    go(dry_run=True)
    shutil.rmtree(folder / "ada")
    said = []
    go(dry_run=True, note=said.append, select=Selection(only=("bob",)))
    assert "gone" not in {each.about for each in said}
    go(dry_run=True, note=said.append)
    [gone] = [each.text for each in said if each.about == "gone"]
    assert gone.startswith("not here now: 1 person of the last run (ada). Results and page leave")


def test_a_file_that_is_given_for_several_people_is_told(go, add, wav, out):
    rows = [ManifestRow(person=who, voice_audio=str(wav)) for who in ("bob", "ada")]
    said = []
    run(rows, into=out, options=RunOptions(dry_run=True, engine=Scripted()), note=said.append)
    [shared] = [each.text for each in said if each.about == "shared"]
    assert shared == f"1 file is given for more than one person ({wav.name}: bob, ada)"
    add("ada")
    add("bob")  # The same recording in a file of its own.
    go(into=out.with_name("other"), dry_run=True, engine=Scripted(), note=said.append)
    assert [each.about for each in said].count("shared") == 1


def test_a_list_of_something_else(tmp_path):
    with pytest.raises(UsageError, match="ManifestRow values; number 1 is of type dict"):
        find_everybody([{"person": "ada"}], tmp_path)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("", "7 is the person of line 1"),
        (', "tags": ["x", "y"' + ', "z"' * 49 + "]", "must have at most 50 entries"),
        (', "name": "\\ud800"', "must be text in whole characters"),
    ],
)
def test_mistakes_are_told_in_plain_words(tmp_path, more, says):
    """The same number as a number and as text was “taken for one by many disks”."""
    line = '{{"person": {}, "voice-audio": "s3://b/a.wav"{}}}'.format
    text = "\n".join((line('"7"', ""), line("8" if more else "7", more)))
    (tmp_path / "people.jsonl").write_text(text)
    with pytest.raises(ManifestError) as caught:
        find_everybody(tmp_path / "people.jsonl", tmp_path)
    assert [each.message for each in caught.value.problems] == [says]
