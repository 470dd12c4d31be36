"""A run again: who is done and unchanged needs no work, and whoever is not gets it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_engine import Scripted
from standings import status

from palprep.batch.people.person import RosterEntry
from palprep.batch.people.selection import Selection, find_everybody
from palprep.batch.runner import run
from palprep.batch.work.connection import Connection
from palprep.batch.work.context import RunContext, RunOptions, Stop, tell_no_one
from palprep.batch.work.memory import Unchanged
from palprep.journal import JOURNAL_NAME, Journal
from palprep.journal.entries.bodies import PersonEnded, RunStarted
from palprep.journal.file import plain
from palprep.journal.runs import RunReader
from palprep.media.sources import Source
from palprep.rules import load_profile

from .conftest import PACE, another_recording


def last_entry(out: Path) -> int:
    with Journal.of(out) as journal:
        return journal.newest().seq


def states(out: Path) -> dict[str, str | None]:
    with Journal.of(out) as journal:
        return {each.person: each.body.state for each in journal.entries(PersonEnded)}


@pytest.fixture
def done(go, add, folder, out):
    """Two people who are done, and unchanged since."""
    another_recording(add("ada"))
    add("bob", settings='name = "Bob"')
    go()
    assert None not in states(out).values()
    return folder


@pytest.fixture
def again(go):
    """Runs once more, and returns how many were said to be unchanged."""

    def start(**options) -> int:
        said = []
        go(note=said.append, **options)
        texts = [each.text for each in said if each.about == "unchanged"]
        return int(texts[0].split()[0]) if texts else 0

    return start


def test_nothing_is_opened_asked_or_written(done, go, log, out, monkeypatch, connection):
    before, asked = last_entry(out), log.requests
    files = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    monkeypatch.setattr(Source, "of", lambda *_: pytest.fail("a file is opened"))
    said = []
    # No service is needed either.
    seen = go(note=said.append, connection=replace(connection, api_key=None))
    assert [(each.slug, each.status, each.reasons) for each in seen.people] == [
        ("ada", "voice_only", ()), ("bob", "voice_only", ()),
    ]  # fmt: skip
    assert [each.text for each in said] == [
        "2 people are done, and nothing of theirs has changed since"
    ]
    assert all(each.voice.id and each.assets for each in seen.people)
    assert (last_entry(out), log.requests) == (before, asked)
    assert {path: path.stat().st_mtime_ns for path in files} == files


def test_outputs_that_are_gone_are_written_again(done, again, out):
    lines = (out / "results.jsonl").read_text()
    (out / "results.jsonl").unlink()
    assert again() == 2
    assert (out / "results.jsonl").read_text() == lines
    (out / "report.html").unlink()
    assert again() == 2
    assert (out / "report.html").is_file()


def a_tick_later(path: Path, change) -> None:
    """Change it until that shows: within a tick of the clock it would not."""
    before = path.stat().st_ctime_ns
    while path.exists() and path.stat().st_ctime_ns == before:
        change(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder, out: a_tick_later(folder / "ada/recording.wav", Path.touch),
        lambda folder, out: (folder / "ada/new.txt").write_text("new"),
        lambda folder, out: (folder / "ada/person.toml").write_text('name = "Ada"'),
        lambda folder, out: (out / "prepared/ada/voice-audio/recording.wav").unlink(),
        lambda folder, out: a_tick_later(
            out / "prepared/ada/voice-audio/recording.wav", lambda path: path.write_bytes(b"x")
        ),
    ],
)
def test_whoever_changed_is_worked_on_alone(done, again, log, out, change):
    change(done, out)
    assert again() == 1
    with Journal.of(out) as journal:
        started = journal.entries(RunStarted)[-1].body
    assert started.only == ("ada",)
    assert [each.slug for each in started.people] == ["ada", "bob"]
    assert [each.status for each in status(out).people] == ["voice_only", "voice_only"]
    assert log.creates == {"voice": 2}
    prepared = out / "prepared/ada/voice-audio/recording.wav"
    assert prepared.stat().st_size > 100_000
    assert again() == 2


def test_who_joins_and_who_leaves(done, again, add, out):
    add("carl", settings='name = "Carl"')
    assert again() == 2
    assert [each.person for each in status(out).people] == ["ada", "bob", "carl"]
    (done / "bob").rename(done.parent / "bob")
    again()
    assert [each.person for each in status(out).people] == ["ada", "carl"]
    lines = (out / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["person"] for line in lines] == ["ada", "carl"]
    # Who comes back was not among the people of the last run.
    (done.parent / "bob").rename(done / "bob")
    again()
    with Journal.of(out) as journal:
        assert "bob" in journal.entries(RunStarted)[-1].body.only


@pytest.mark.parametrize(
    "options", [{"profile": "core-4.5"}, {"without_consent": True}, {"dry_run": True}]
)
def test_other_options_are_other_work(done, again, options):
    assert again(**options) == 0
    assert again() == 0


@pytest.mark.parametrize(
    "other",
    [
        {"connection": Connection(base_url="http://b")},
        {"profile": "core-3"},
        {"dry_run": True},
        {"without_consent": True},
    ],
)
def test_what_holds_for_everybody_is_part_of_the_state(tmp_path, other):
    (tmp_path / "prepared" / "ada").mkdir(parents=True)
    ada = RosterEntry("ada", "a", lambda: pytest.fail("read"))
    options = RunOptions(connection=Connection(base_url="http://a"))
    with Journal.of(tmp_path, create=True) as journal:

        def state(options: RunOptions) -> str | None:
            profiles = {options.profile: load_profile(options.profile)}
            context = RunContext(
                options, tmp_path, journal, Scripted(), profiles, tell_no_one, Stop()
            )
            return Unchanged(context).to_record(ada)

        first, same, changed = map(state, (options, replace(options), replace(options, **other)))
    assert first == same != changed
    assert first is not None


def test_a_profile_of_the_users_own_is_the_same_by_any_path(
    done, again, out, tmp_path, monkeypatch
):
    own = tmp_path / "own.toml"
    own.write_text('extends = "core-4"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert again(profile="own.toml") == 0
    with Journal.of(out) as journal:  # A review goes on from any folder.
        assert journal.last_run().body.profile == str(own)
    assert again(profile=str(own)) == 2


def test_a_run_for_some(done, again, out):
    before = last_entry(out)
    assert again(select=Selection(only=("ada",))) == 1
    assert last_entry(out) == before
    assert len((out / "results.jsonl").read_text().splitlines()) == 2


def test_a_manifest_tells_a_change_too(tmp_path, wav, connection, engine):
    (tmp_path / "a.wav").write_bytes(wav.read_bytes())
    manifest = tmp_path / "people.csv"
    manifest.write_text("person,voice-audio\nada,a.wav\n")
    out = tmp_path / "out"
    said = []

    def go() -> int:
        said.clear()
        options = RunOptions(connection=connection, engine=engine, pace=PACE)
        run(manifest, into=out, options=options, note=said.append)
        return sum(each.about == "unchanged" for each in said)

    assert go() == 0
    go()
    assert go() == 1
    manifest.write_text("person,voice-audio,name\nada,a.wav,Ada L\n")
    assert go() == 0
    far = tmp_path / "far.csv"
    far.write_text("person,voice-audio\nada,https://example.com/a.wav\n")
    [given] = find_everybody(far, tmp_path).people
    assert given.fingerprint is None


def test_an_output_folder_that_was_moved_goes_on_where_it_is(go, add, folder, out, log):
    add("ada", portrait=True)
    go()
    with closing(sqlite3.connect(out / JOURNAL_NAME)) as journal:
        journal.create_function("plain", 1, plain)
        asked = "SELECT plain(body) FROM entry WHERE kind = 'asset_prepared'"
        stored = [json.loads(body) for (body,) in journal.execute(asked)]
    assert stored
    assert str(out.parent / "out") not in json.dumps([each["asset"]["prepared"] for each in stored])
    elsewhere, made = out.rename(out.with_name("elsewhere")), log.creates
    with Journal.of(elsewhere) as journal:
        kept = RunReader(journal).view().people
    for view in (kept, go(into=elsewhere).people):
        paths = [each.prepared.path for person in view for each in person.assets]
        assert len(paths) == 2
        assert all(each.is_relative_to(elsewhere) and each.is_file() for each in paths)
    assert log.creates == made


def test_a_dry_run_tells_what_was_made_before(go, add, log, out, light_people):
    place = add("ada")
    [made] = go().people
    [dry] = go(dry_run=True).people
    assert (dry.status, dry.voice, dry.reasons) == ("voice_only", made.voice, ())
    [told] = map(json.loads, (out / "results.jsonl").read_text().splitlines())
    assert (told["status"], told["voice_id"]) == ("voice_only", made.voice.id)
    shutil.copy(light_people / "jane-carter/portrait.heic", place)
    (place / "person.toml").write_text('stock_voice = "gloria"')
    [dry] = go(dry_run=True).people
    assert (dry.status, dry.voice) == ("waiting", made.voice)
    [reason] = dry.reasons
    assert reason.startswith("Dry run, nothing was sent: a replica named Ada from the face-image")
    assert log.creates == {"voice": 1}
