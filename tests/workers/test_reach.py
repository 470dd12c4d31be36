"""What workers may open of many people's files, and how they hear of it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from palprep.errors import NoWorkers
from palprep.workers.local import LocalEngine
from palprep.workers.reach import Reach
from palprep.workers.worker import Worker


def test_of_many_people_the_folder_around_them_is_opened(tmp_path):
    files = [tmp_path / f"people/person-{number}/face.jpg" for number in range(100)]
    for each in files:
        each.parent.mkdir(parents=True)
        each.touch()
    assert Reach.of(files[:64], []).reads == frozenset(files[:64])
    assert Reach.of(files, []).reads == {tmp_path / "people"}


def test_the_files_of_many_people_fit_into_no_command_line_and_need_not():
    reads = frozenset(Path("/nowhere", "x" * 200, str(number)) for number in range(1000))
    worker = Worker(memory_bytes=1 << 30, reach=Reach(reads))
    try:
        worker.get_ready()
        assert worker.protections.no_new_rights
    finally:
        worker.end()


def test_without_a_place_for_temporary_files_that_is_said(monkeypatch, work):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    with LocalEngine(1) as engine, pytest.raises(NoWorkers, match="in TMPDIR"):
        engine.run(work.double, 1)
