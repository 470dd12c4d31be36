"""The journal file: durable, append-only, one run at a time, clear about what is wrong."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import functools
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from unittest.mock import Mock

import pytest

from palprep import system
from palprep.errors import JournalError, OutputUnwritable, UsageError
from palprep.journal import forgetting
from palprep.journal.creations.states import CreationState
from palprep.journal.entries.bodies import (
    Body,
    CalledBack,
    Intent,
)
from palprep.journal.file import as_journal_error, is_running
from palprep.journal.store import JOURNAL_NAME, Journal

INTENT = Intent(what="voice", request={"voice_name": "Ada"})
NOTE = CalledBack(received="a note")


@pytest.fixture
def path(tmp_path):
    return tmp_path / JOURNAL_NAME


def test_entries_come_back_as_they_were_written(path):
    moment = dt.datetime(2026, 11, 21, 5, 0, tzinfo=dt.UTC)
    with Journal(path, create=True, now=lambda: moment) as journal:
        note = CalledBack(received={"ä": [1, None, "\ud800"]})
        written = journal.append(note, person="ada", key="k")
        journal.append(NOTE)
        assert journal.entries(Body, key="k") == (written,)
    with Journal(path) as journal:
        first, second = journal.entries(CalledBack)
    assert first == written
    assert first.at == "2026-11-21T05:00:00.000+00:00"
    assert (second.body, second.person, second.key) == (NOTE, None, None)


def test_an_entry_is_flushed_when_append_returns(path):
    script = """
        import os, signal, sys
        from palprep.journal.entries.bodies import Intent
        from palprep.journal.store import Journal
        journal = Journal(sys.argv[1], lock=True, create=True)
        journal.append(Intent(what="voice", request={}), person="ada", key="k")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    died = subprocess.run([sys.executable, "-c", textwrap.dedent(script), path], check=False)
    assert died.returncode == -signal.SIGKILL
    with Journal(path, lock=True) as journal:
        assert journal.creation("k").state is CreationState.IN_DOUBT
        synchronous = journal._connection.execute("PRAGMA synchronous").fetchone()[0]
        mode = journal._connection.execute("PRAGMA journal_mode").fetchone()[0]
    assert (synchronous, mode) == (2, "wal")


def test_entries_cannot_be_changed_or_deleted(path):
    with Journal(path, create=True) as journal:
        journal.append(NOTE)
    connection = sqlite3.connect(path)
    for statement in ("UPDATE entry SET kind = 'x'", "DELETE FROM entry"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_a_second_run_is_told_at_once(path):
    with Journal(path, lock=True, create=True):
        assert is_running(path)
        with pytest.raises(JournalError, match="Another run is using"):
            Journal(path, lock=True)
        with Journal(path) as reader:
            reader.append(NOTE)
            assert len(reader.entries(Body)) == 1
    assert not is_running(path)
    with Journal(path, lock=True) as journal:
        assert len(journal.entries(Body)) == 1


def test_what_is_asked_for_again_is_read_once(path):
    read = []

    def named(told):
        read.append(told.received)
        return told.received[0], told.received

    def latest():
        return journal.latest(CalledBack, "k", named)

    with Journal(path, lock=True, create=True) as journal, Journal(path) as other:
        for note in ("a1", "b1", "a2"):
            journal.append(CalledBack(received=note), person="ada", key="k")
        journal.append(CalledBack(received="c1"), key="elsewhere")
        assert latest() == latest() == {"a": "a2", "b": "b1"}
        other.append(CalledBack(received="b2"), key="k")
        assert latest() == {"a": "a2", "b": "b2"}
        assert read == ["a1", "b1", "a2", "b2"]
        journal.forget("ada")
        assert latest() == {"b": "b2"}


def test_many_threads_write_one_journal(path):
    with Journal(path, create=True) as journal:
        threads = [
            threading.Thread(target=lambda: [journal.append(NOTE) for _ in range(20)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [entry.seq for entry in journal.entries(Body)] == list(range(1, 161))


def test_a_journal_is_made_with_its_folder(tmp_path):
    with Journal.of(tmp_path / "a" / "b", create=True) as journal:
        assert journal.path.is_file()
    (tmp_path / "file").touch()
    with pytest.raises(
        OutputUnwritable, match=r"file/in cannot be written: .*; choose another folder"
    ):
        Journal.of(tmp_path / "file" / "in", create=True)


def test_where_there_is_a_journal_no_other_folder_is_advised(tmp_path, monkeypatch):
    """Another one would create everything once more. A copy knows what was created."""
    Journal.of(tmp_path, create=True).close()
    refused = OutputUnwritable("choose another folder")
    monkeypatch.setattr("palprep.journal.store.output_folder", Mock(side_effect=refused))
    Journal.of(tmp_path, create=True).close()
    with pytest.raises(OutputUnwritable):
        Journal.of(tmp_path / "new", create=True)


def test_a_missing_journal_is_named(path):
    with pytest.raises(JournalError, match=r"There is no journal at.*name the output folder"):
        Journal(path)
    shard = path.parent / "shard-1-of-2"
    Journal.of(shard, create=True).close()
    with pytest.raises(JournalError, match=f"such as {re.escape(str(shard))}$"):
        Journal(path)


def test_a_text_file_is_no_journal(path):
    path.write_text("not a database, but long enough to be taken for one" * 40)
    with pytest.raises(JournalError, match="damaged or no journal"):
        Journal(path)
    assert path.read_text().startswith("not a database")


def test_two_programs_may_make_the_journal_at_once(path, monkeypatch):
    connect, looks = sqlite3.connect, []

    class Look(sqlite3.Connection):
        def execute(self, sql, *values):
            looks.append(sql)
            if len(looks) == 2:
                with monkeypatch.context() as patch:
                    patch.setattr(sqlite3, "connect", connect)
                    Journal(path, create=True).close()
            return super().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", functools.partial(connect, factory=Look))
    Journal(path, create=True).close()
    monkeypatch.undo()
    new = path.with_name("new.sqlite")
    reader = connect(new, check_same_thread=False, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    ends = threading.Timer(0.3, reader.close)
    ends.start()
    with Journal(new, create=True) as journal:
        assert journal.setting("a", lambda: "b") == "b"
    ends.join()


def test_another_programs_database_is_left_alone(path):
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE theirs (x)")
    foreign.commit()
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="database of another program"):
        Journal(path, create=True)
    assert path.read_bytes() == before


def test_a_torn_journal_is_noticed(path):
    with Journal(path, create=True) as journal:
        for _ in range(200):
            journal.append(CalledBack(received="x" * 500))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])
    with pytest.raises(JournalError, match=r"damaged or no journal.*results\.jsonl"):
        Journal(path)


@pytest.mark.parametrize(
    ("length", "changed", "why"), [(5000, b"x", "damaged or no journal"), (5, "{", "cannot read")]
)
def test_an_entry_whose_bytes_were_changed_is_told(path, length, changed, why):
    with Journal(path, create=True) as journal:
        journal.append(CalledBack(received="x" * length))
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TRIGGER no_update")
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute("UPDATE entry SET body = ?", (changed,))
    with Journal(path) as journal, pytest.raises(JournalError, match=why):
        journal.entries(CalledBack)


def test_an_empty_file_beside_results_is_no_new_journal(path):
    path.touch()
    (path.parent / "results.jsonl").touch()
    for options in ({}, {"create": True}, {"create": True, "lock": True}):
        with pytest.raises(JournalError, match=r"empty.*damaged or no journal"):
            Journal(path, **options)
    assert path.stat().st_size == 0
    (path.parent / "results.jsonl").unlink()
    Journal(path).close()


def test_a_run_makes_no_new_journal_beside_the_results_of_one_that_is_gone(path):
    path.with_name("results.jsonl").write_text("{}\n")
    with pytest.raises(JournalError, match=r"no journal beside it.*put it back"):
        Journal(path, lock=True, create=True)
    assert not path.exists()
    # A program's own results are no run's.
    Journal(path, create=True).close()


def test_a_newer_journal_asks_for_an_upgrade(path):
    Journal(path, create=True).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(JournalError, match="newer palprep"):
        Journal(path)


@pytest.mark.parametrize("lock", [True, False])
def test_a_place_that_takes_no_files_says_so(tmp_path, lock):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="make its folder writable, or name another one"):
        Journal(tmp_path / "file" / JOURNAL_NAME, lock=lock, create=True)


def test_a_full_disk_says_so_and_keeps_what_was_written(path):
    with Journal(path, create=True) as journal:
        journal.append(NOTE)
        pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
        journal._connection.execute(f"PRAGMA max_page_count = {pages}")
        noise = random.Random(0).randbytes(50_000).hex()  # noqa: S311 - repeatable, not secret
        with pytest.raises(JournalError, match="free some space"):
            journal.append(CalledBack(received=noise))
        assert len(journal.entries(Body)) == 1


def test_nothing_is_recorded_of_whom_another_process_forgets_meanwhile(path, monkeypatch):
    """As `palprep decide` and `palprep forget` at once."""
    look = forgetting.refuse

    def then_forgets(*asked):
        look(*asked)
        other.start()
        other.join(0.3)

    def forgets():
        second.mark_forgotten("ada")
        second.forget("ada")

    with Journal(path, create=True) as journal, Journal(path) as second:
        other = threading.Thread(target=forgets)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(forgetting, "refuse", then_forgets)
            journal.append(NOTE, person="ada")
        other.join()
        assert journal.people() == ()


def test_a_setting_is_chosen_once(path):
    with Journal(path, create=True) as journal:
        assert journal.setting("nonce", lambda: "first") == "first"
    with Journal(path) as journal:
        assert journal.setting("nonce", lambda: "second") == "first"


def test_without_a_path_it_is_in_memory():
    with Journal() as journal, Journal() as other:
        journal.append(INTENT, person="ada", key="a")
        with journal.exclusive():
            assert journal.creation("a").state is CreationState.IN_DOUBT
        assert other.creations() == ()


def test_an_archived_journal_can_be_read_and_not_written(tmp_path, monkeypatch):
    path = tmp_path / JOURNAL_NAME
    with Journal(path, create=True) as journal:
        journal.append(CalledBack(received=1))
        # Read while another process has it open: what is in the write-ahead log counts.
        monkeypatch.setattr("palprep.journal.file.os.access", lambda *_: False)
        before = sorted(each.name for each in tmp_path.iterdir())
        with Journal(path) as archived:
            assert [entry.body.received for entry in archived.entries(CalledBack)] == [1]
            with pytest.raises(JournalError, match="or go on in a copy of it"):
                archived.append(CalledBack(received=2))
            with pytest.raises(JournalError, match="or go on in a copy of it"):
                archived.setting("x", lambda: "1")
        assert sorted(each.name for each in tmp_path.iterdir()) == before
        assert len(journal.entries(CalledBack)) == 1


def test_who_holds_the_lock_is_seen_without_writing(tmp_path):
    path = tmp_path / "journal.sqlite"
    assert not is_running(path)
    assert list(tmp_path.iterdir()) == []
    with Journal(path, create=True, lock=True):
        assert is_running(path)
    assert not is_running(path)


def test_who_only_looks_keeps_no_run_from_starting(path):
    Journal(path, create=True, lock=True).close()
    looking = os.open(path.with_name("journal.sqlite.lock"), os.O_RDONLY)
    assert system.lock(looking, shared=True)
    threading.Timer(0.05, os.close, [looking]).start()
    Journal(path, lock=True).close()


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), OSError(30, "Read-only file system")]
)
def test_a_folder_without_write_access_is_copied_when_it_knows_what_was_created(tmp_path, error):
    path = tmp_path / "journal.sqlite"
    assert "or name another one" in as_journal_error(path, error).message
    path.touch()
    assert "or go on in a copy of it" in as_journal_error(path, error).message


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_that_locks_no_files_is_told(path, number):
    said = as_journal_error(path, OSError(number, os.strerror(number))).message
    assert said.endswith("cannot lock files: move the folder to a disk of this machine")


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
@pytest.mark.parametrize("done", ["removed", "moved", "begun anew"])
def test_nothing_is_intended_in_a_journal_that_no_later_run_finds(path, done):
    with Journal(path, create=True, lock=True) as journal:
        journal.append(NOTE)
        if done == "moved":
            path.parent.rename(path.parent.with_name("aside"))
        else:
            for each in [*path.parent.iterdir()]:
                each.unlink()
        if done == "begun anew":
            Journal(path, create=True, lock=True).close()
        for record in (journal.append, journal.claim):
            with pytest.raises(JournalError, match="was removed or moved while it was in use"):
                record(INTENT, person="ada", key="k")


def test_a_journal_is_where_it_was_after_a_step_into_another_folder(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with Journal(path.name, create=True) as journal:
        monkeypatch.chdir("/")
        journal.append(NOTE)


def test_a_closed_journal_is_told_from_a_damaged_one(path):
    with Journal(path, create=True) as journal:
        pass
    with pytest.raises(JournalError, match="is closed: open it again"):
        journal.creations()


def test_a_state_that_there_is_not_is_told(path):
    with Journal(path, create=True) as journal:
        journal.append(INTENT, person="ada", key="a")
        assert [each.key for each in journal.creations("in_doubt", "error")] == ["a"]
        with pytest.raises(UsageError, match="no state 'finished'; the states are absent, in_dou"):
            journal.creations("finished")
