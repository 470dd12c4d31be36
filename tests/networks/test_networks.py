from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from palprep.errors import ToolMissing
from palprep.networks import Weights, read_manifest

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
