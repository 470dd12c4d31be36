"""What the store keeps, refuses and survives."""

from __future__ import annotations

import sqlite3

import pytest

from palprep.errors import UsageError
from palprep.sandbox.log import note
from palprep.sandbox.store import DATABASE, Store, Taken, forget


def test_records_keep_their_order_and_creates_are_counted(store):
    with store.transaction():
        store.create("voice", "v2", {"n": 2})
        store.create("voice", "v1", {"n": 1})
        store.put("voice", "v0", {"n": 0})
        store.put("voice", "v2", {"n": 3})
    assert store.all("voice") == [{"n": 3}, {"n": 1}, {"n": 0}]
    assert store.creates() == {"voice": 2}
    assert store.delete("voice", "v1")
    assert not store.delete("voice", "v1")
    assert store.get("voice", "v1") is None
    assert store.creates() == {"voice": 2}


def test_a_tool_name_is_taken_once_and_other_kinds_do_not_mind(store):
    store.create("tool", "t1", {"name": "lookup"})
    store.create("pal", "p1", {"name": "lookup"})
    store.create("pal", "p2", {"name": "lookup"})
    with pytest.raises(Taken):
        store.create("tool", "t2", {"name": "lookup"})
    assert store.creates() == {"pal": 2, "tool": 1}


def test_a_transaction_is_all_or_nothing(store):

    def half():
        with store.transaction():
            store.create("voice", "v1", {})
            store.schedule(1.0, "voice", {})
            raise ValueError("midway")

    with pytest.raises(ValueError, match="midway"):
        half()
    assert store.get("voice", "v1") is None
    assert store.jobs() == []
    assert store.creates() == {}


def test_a_commit_that_fails_keeps_no_other_transaction_from_beginning(store):
    store.execute("PRAGMA foreign_keys = ON")
    store.execute("CREATE TABLE late (job REFERENCES jobs DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(sqlite3.IntegrityError), store.transaction():
        store.execute("INSERT INTO late VALUES (7)")
    with store.transaction():
        store.create("voice", "v1", {})
    assert store.all("voice") == [{}]


def test_all_is_forgotten_or_nothing(store):
    store.create("voice", "v1", {})
    store.execute(
        "CREATE TRIGGER killed BEFORE DELETE ON creates BEGIN SELECT RAISE(ABORT, 'killed'); END"
    )
    with pytest.raises(sqlite3.IntegrityError, match="killed"):
        store.clear()
    assert store.all("voice") == [{}]


def test_what_is_not_ascii_is_forgotten_too(tmp_path):
    store = Store(tmp_path / DATABASE)
    store.put("document", "d1", {"document_name": 'Ödön "plan"'})
    store.put("document", "d2", {"document_name": "Odon plan"})
    store.schedule(1.0, "callback", {"tag": 'Ödön "plan"'})
    note(store, "request", 1.0, {"endpoint": "voices.create", "body": ['Ödön "plan"']})
    store.close()
    forget(tmp_path, ['Ödön "plan"'])
    left = Store(tmp_path / DATABASE)
    assert left.all("document") == [{"document_name": "Odon plan"}]
    assert left.jobs() == []
    assert left.execute("SELECT count(*) FROM log").fetchone()[0] == 0
    left.close()


def test_nothing_is_forgotten_in_the_folder_of_a_sandbox_that_is_running(tmp_path):
    running, scratch = Store(tmp_path / DATABASE), tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(UsageError, match="another sandbox"):
        forget(tmp_path, ["v1"])
    assert scratch.is_dir()
    running.close()


def test_jobs_come_in_the_order_in_which_they_are_due(store):
    for due, kind in ((3.0, "c"), (1.0, "a"), (3.0, "d"), (2.0, "b")):
        store.schedule(due, kind, {"at": due})
    assert [job.kind for job in store.jobs()] == ["a", "b", "c", "d"]
    assert [job.kind for job in store.jobs(until=2.0)] == ["a", "b"]
    first = store.jobs()[0]
    assert [job.due for job in store.jobs(most=2)] == [1.0, 2.0]
    store.finish(first)
    assert store.jobs(most=1)[0].due == 2.0


def test_another_store_cannot_use_the_same_file_and_a_later_one_finds_everything(tmp_path):
    path = tmp_path / "s.sqlite"
    store = Store(path)
    store.put("pal", "p1", {"pal_id": "p1"})
    store.keep_clock(12.5)
    with pytest.raises(UsageError, match="another sandbox"):
        Store(path)
    store.close()
    again = Store(path)
    assert again.get("pal", "p1") == {"pal_id": "p1"}
    assert again.latest() == 12.5
    again.close()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"not a database, and long enough to be read as a header" * 100)
    with pytest.raises(UsageError, match=r"cannot open .*a database: name another folder"):
        Store(path)
