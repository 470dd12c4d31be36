from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import pytest

from palprep.errors import ToolMissing
from palprep.networks import Weights, open_network, read_manifest

HOMES = ["palprep.consent", "palprep.speech", "palprep.vision"]


@pytest.mark.parametrize("home", HOMES)
def test_every_file_is_the_one_that_the_manifest_names(home: str) -> None:
    assert {name: entry.problem() for name, entry in read_manifest(home).items()} == dict.fromkeys(
        read_manifest(home)
    )


@pytest.mark.parametrize("home", HOMES)
def test_every_file_of_the_folder_is_in_the_manifest(home: str) -> None:
    listed = {entry.file for entry in read_manifest(home).values() if entry.extra is None}
    shipped = Path(str(resources.files(home))) / "weights"
    found = {path.name for path in shipped.iterdir()} - {"NOTICE.md", "manifest.toml"}
    assert found == listed


@pytest.mark.parametrize("home", HOMES)
def test_a_file_that_differs_is_refused_with_the_command_that_helps(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = next(iter(read_manifest(home).values()))
    data = bytearray(entry.read())
    monkeypatch.setattr(Weights, "_installed", lambda _: tmp_path)
    with pytest.raises(ToolMissing, match=r"is missing: run `pip install --force-reinstall \.` in"):
        entry.read()
    data[1000] ^= 1
    (tmp_path / entry.file).write_bytes(bytes(data))
    with pytest.raises(ToolMissing, match="damaged"):
        entry.read()


@pytest.mark.parametrize(
    ("told", "threads"), [("1", 1), ("8", 2), ("", min(2, os.cpu_count() or 1))]
)
def test_a_network_that_runs_alone_takes_two_threads_where_it_may(monkeypatch, told, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    content = read_manifest("palprep.speech")["voice_activity"].read()
    alone, beside = open_network(content, alone=True), open_network(content)
    assert alone.get_session_options().intra_op_num_threads == threads
    assert beside.get_session_options().intra_op_num_threads == 1
