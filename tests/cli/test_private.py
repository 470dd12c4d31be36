"""What commands write can be read by nobody else, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Palprep


@pytest.fixture(params=[0o000, 0o022], ids=["umask-000", "umask-022"])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_fixed_files_and_a_log_are_private(
    palprep: Palprep, light_people: Path, tmp_path: Path
) -> None:
    jane, into, log = light_people / "jane-carter", tmp_path / "deep/into", tmp_path / "deep/a.log"
    palprep("fix", jane / "recording.m4a", jane / "portrait.heic", "--into", into)
    palprep("run", tmp_path / "nobody", "--into", into, "--log-file", log)
    found = [tmp_path / "deep", *(tmp_path / "deep").rglob("*")]
    assert len([each for each in found if each.is_file()]) == 3
    assert [each for each in found if stat.S_IMODE(each.stat().st_mode) & 0o077] == []
