"""What a run writes about people can be read by nobody else, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from palprep.journal import Journal
from palprep.publish import SandboxPublisher
from palprep.sandbox import Sandbox
from palprep.storage import atomic_output


@pytest.fixture
def umask() -> Iterator[None]:
    """The umask that takes nothing away: every other one leaves fewer rights."""
    before = os.umask(0o000)
    yield
    os.umask(before)


def open_to_others(place: Path) -> list[str]:
    """Whatever below ``place``, and itself, somebody else than its owner may use."""
    everything = [place, *place.rglob("*")]
    return [str(each) for each in everything if stat.S_IMODE(each.lstat().st_mode) & 0o077]


@pytest.mark.usefixtures("umask")
def test_the_output_folder_of_a_run_is_private(add, go, out):
    """That of a run with videos and dossiers is looked at where one is made, in tests/cli."""
    add("ada", portrait=True, settings='stock_voice = "anna"')
    # With a sandbox of the run's own, and its data.
    assert go(connection=None, engine="local", jobs=1).people[0].assets
    # While it is open, with the log of SQLite.
    with Journal.of(out) as journal:
        journal.setting("x", str)
        assert (out / "journal.sqlite-wal").exists()
        assert open_to_others(out) == []
    found = {each.relative_to(out).parts[0] for each in out.rglob("*")}
    assert {"prepared", "sandbox", "report.html", "results.jsonl"} <= found


def test_a_folder_that_was_there_stays_and_what_an_older_version_left_in_it_is_closed(add, go, out):
    out.mkdir(mode=0o755)
    out.chmod(0o755)
    add("ada")
    go(engine="local", jobs=1)
    for name in ("journal.sqlite", "results.jsonl"):
        (out / name).chmod(0o644)
    add("ben")
    go(engine="local", jobs=1)
    assert stat.S_IMODE(out.stat().st_mode) == 0o755
    assert open_to_others(out) == [str(out)]


@pytest.mark.usefixtures("umask")
def test_the_data_of_a_sandbox_is_private(tmp_path, wav):
    place = tmp_path / "deep" / "data"
    with Sandbox(data=place) as sandbox:
        with SandboxPublisher(sandbox.url) as publisher:
            publisher.publish(wav)
        assert len(list((place / "assets").iterdir())) == 1
        assert open_to_others(tmp_path / "deep") == []


@pytest.mark.usefixtures("umask")
def test_two_outputs_of_one_content_are_private(tmp_path):
    with atomic_output(tmp_path / "into" / "a.bin") as temporary:
        temporary.write_bytes(b"x")
    assert open_to_others(tmp_path / "into") == []
