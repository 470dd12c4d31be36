"""Whoever isolates reads no header of a stranger's file itself: workers do."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_workers import WarmWorkers

from palprep import batch
from palprep.cli.app import run
from palprep.preflight import check, media_workers, preflight

_HASHING_OR_COPYING = {
    ("source.py", "at"),  # its size and its time, of the file once it is open
    ("source.py", "sha256"),
    ("source.py", "sha256_of"),
    ("shutil.py", "copyfile"),
}
"""The functions, by file and name, that may open a stranger's file in this process."""

_PLACES: list[Path] = []
_SEEN: list[str] = []


def _look(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _PLACES or not isinstance(arguments[0], str):
        return
    path = Path(arguments[0])
    if path.suffix not in {".heic", ".mp4", ".m4a"} or not path.is_relative_to(_PLACES[0]):
        return
    frame = sys._getframe(1)
    called = []
    while frame is not None:
        called.append((Path(frame.f_code.co_filename).name, frame.f_code.co_name))
        frame = frame.f_back
    if not _HASHING_OR_COPYING & set(called):
        _SEEN.append(f"{path.name} is opened by {called[:6]}")


sys.addaudithook(_look)


@pytest.fixture
def people(light_people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of one person, which is watched. Nothing that parses may run in this process."""
    folder = tmp_path / "people"
    shutil.copytree(light_people / "jane-carter", folder / "jane-carter")

    def parsed(*_: object, **__: object) -> None:
        raise AssertionError("a header is read in the wrong process")

    for name, function in (
        ("palprep.media.sources.source", "recognise"),
        ("palprep.media.sources.sniff", "recognise"),
        ("palprep.media.container", "open_container"),
        ("palprep.media.images.stills", "probe_image"),
    ):
        monkeypatch.setattr(importlib.import_module(name), function, parsed)
    _SEEN.clear()
    _PLACES.append(folder)
    yield folder
    _PLACES.clear()
    assert _SEEN == []


@pytest.mark.parametrize(
    "command",
    [
        ["check", "."],
        ["check", "consent.mp4", "portrait.heic"],
        ["fix", ".", "--into", "../../out"],
        ["best", "portrait.heic", "--into", "../../out"],
        ["consent", "consent.mp4", "--name", "Jane Carter"],
    ],
    ids=" ".join,
)
def test_commands_leave_it_to_workers(
    people: Path,
    monkeypatch: pytest.MonkeyPatch,
    warm_workers: WarmWorkers,
    command: list[str],
) -> None:
    jane = people / "jane-carter"
    # A minute of video, which is opened as the other one is.
    (jane / "training.mp4").unlink()
    monkeypatch.chdir(jane)
    monkeypatch.setattr(preflight, "LocalEngine", warm_workers)
    assert run([*command, "--quiet"]) in {0, 4}


def test_a_run_leaves_it_to_workers(
    people: Path, tmp_path: Path, warm_workers: WarmWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "LocalEngine", warm_workers)
    with media_workers(1) as engine:
        options = batch.RunOptions(engine=engine, pace=batch.Pace(wait_s=0))
        ended = batch.run(people, into=tmp_path / "out", options=options)
    [jane] = ended.people
    assert len(jane.assets) > 1
    assert all(each.prepared for each in jane.assets), jane
    assert "wrong process" not in (tmp_path / "out" / "results.jsonl").read_text()


def test_an_isolated_check_leaves_it_to_a_worker(people: Path, sample_media: Path) -> None:
    portrait = Path("jane-carter", "portrait.heic")
    with media_workers(1) as engine:
        assert check(people / portrait, engine=engine).error is None
        sent = (sample_media / "people" / portrait).read_bytes()
        assert check(sent, engine=engine).error is None
