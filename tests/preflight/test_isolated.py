"""Checking and preparing in worker processes: one file's crash, hang or greed is its own."""

from __future__ import annotations

import asyncio
import importlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from palprep import fixes
from palprep.errors import DamagedMedia, FixError, ToolFailed
from palprep.media import ffmpeg_binary, ffmpeg_version
from palprep.media.sources import Source
from palprep.preflight import (
    check,
    loop,
    media_workers,
    pick_best,
    preflight as front,
    prepare,
    run_in,
)
from palprep.workers import LONGEST_S, Limits, LocalEngine

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def hostile():
    """Importable by the workers, as what they are given must be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        yield importlib.import_module("hostile")


@pytest.fixture(scope="module")
def preflight(hostile):
    """With an engine handed in."""
    with media_workers(1, limits=Limits(memory_bytes=1 << 30)) as engine:
        yield SimpleNamespace(
            check=partial(check, engine=engine), prepare=partial(prepare, engine=engine)
        )


def as_hostile(kind: type[Source], path: Path) -> Source:
    """The file, of a kind that misbehaves when it is opened."""
    source = Source.of(path)
    return kind(**{name: getattr(source, name) for name in source.__dataclass_fields__})


def test_a_worker_says_what_this_process_says(preflight, portrait_path):
    assert preflight.check(portrait_path) == check(portrait_path)


def test_a_worker_runs_ffmpeg_from_wherever_it_is(tmp_path, monkeypatch):
    with media_workers(1) as engine:
        version = engine.run(ffmpeg_version)
    assert version == ffmpeg_version()
    (tmp_path / "other").symlink_to(ffmpeg_binary())
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "other"))
    with media_workers(1) as engine:
        assert engine.run(ffmpeg_version) == version


def test_an_ffmpeg_may_be_named_and_have_libraries_beside_it(hostile, tmp_path, monkeypatch):
    other = tmp_path / "bin/ffmpeg-other"
    other.parent.mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libav").write_text("there")
    # By another path, and as another file: the worker is let open neither otherwise.
    shutil.copy("/bin/cat", other)
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", other.name)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    with media_workers(1) as engine:
        assert engine.run(hostile.said_by, other.name, f"{tmp_path}/lib/libav") == "there"


def test_relative_paths_lead_from_where_this_process_is_now(portrait_path, tmp_path, monkeypatch):
    shutil.copy(portrait_path, tmp_path / "face.heic")
    with media_workers(1) as engine:
        engine.may_open(reads=[tmp_path], writes=[tmp_path])
        engine.run(ffmpeg_version)
        monkeypatch.chdir(tmp_path)  # As %cd does in a notebook.
        assert check("face.heic", engine=engine).error is None
        assert prepare("face.heic", into="out", engine=engine).path.is_file()


def test_the_folder_of_this_process_need_not_be_there(portrait_path, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with media_workers(1) as engine:
        assert check(portrait_path, engine=engine).error is None


def test_bytes_are_checked_and_prepared(preflight, portrait_path, tmp_path):
    raw = portrait_path.read_bytes()
    report = preflight.check(raw, role="face-image")
    assert report.facts is not None
    told = []
    ready = preflight.prepare(raw, into=tmp_path, role="face-image", progress=told.append)
    assert ready.report.passed
    assert ready.path.parent == tmp_path
    assert [told[0], told[-1]] == [0.0, 1.0]


async def test_asyncio_waits_in_threads(preflight, portrait_path, tmp_path):
    (tmp_path / "cut.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF")
    asked = (
        asyncio.to_thread(preflight.check, path) for path in (portrait_path, tmp_path / "cut.jpg")
    )
    whole, cut = await asyncio.gather(*asked)
    assert whole.passed
    assert cut.error.code == "media_damaged"


def test_bad_media_is_a_failed_report(preflight, tmp_path):
    (tmp_path / "cut.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF")
    assert preflight.check(tmp_path / "cut.jpg").error.code == "media_damaged"
    assert preflight.check(tmp_path / "nothing.jpg").error.code == "file_missing"


@pytest.mark.parametrize(
    ("kind", "code", "says"),
    [
        ("Crashing", "tool_failed", "A worker process died (SIGSEGV) at this file"),
        ("Greedy", "media_too_heavy", "takes more than 1,024 MiB of memory"),
        ("Unforeseen", "tool_failed", "IndexError: index 3 is out of bounds; in hostile.py"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_that_files_report(
    preflight, hostile, portrait_path, kind, code, says
):
    bad = as_hostile(getattr(hostile, kind), portrait_path)
    with ThreadPoolExecutor(2) as threads:
        report, other = threads.map(preflight.check, [bad, portrait_path])
    assert report.error.code == code
    assert says in report.error.message
    assert other.error is None


def test_a_file_that_takes_too_long_is_given_up(hostile, portrait_path, monkeypatch):
    monkeypatch.setattr("palprep.workers.worker._CLEAN_UP_WITHIN_S", 0.2)
    bad = as_hostile(hostile.Hanging, portrait_path)
    with media_workers(1, limits=Limits(time_s=1)) as engine:
        report = check(bad, engine=engine)
    assert report.error.code == "media_too_heavy"
    assert "takes longer than 4 s of the wall clock" in report.error.message


def test_what_a_killed_worker_had_half_written_goes(
    preflight, hostile, portrait_path, tmp_path, monkeypatch
):
    monkeypatch.setattr(front, "prepare_source", hostile.half_written)
    (tmp_path / ".palprep-1-0123456789ab.part.jpg").write_text("another's")
    with pytest.raises(ToolFailed, match="SIGKILL"):
        preflight.prepare(portrait_path, into=tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [".palprep-1-0123456789ab.part.jpg"]


def test_what_cannot_be_proved_goes(preflight, hostile, portrait_path, tmp_path, monkeypatch):
    monkeypatch.setattr(front, "prepare_source", hostile.not_to_be_proved)
    with pytest.raises(ToolFailed, match="SIGKILL"):
        preflight.prepare(portrait_path, into=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_best_is_picked_among_those_that_crash_nothing(
    hostile, portrait_path, folder, caplog, monkeypatch
):
    files = sorted(folder.iterdir())
    with LocalEngine(1) as engine:
        ranked = pick_best(folder, engine=engine)
        assert {Path(each.path).name for each in ranked} == {
            *("good.jpg", "twin.jpg", "blurred.jpg", "nobody.png")
        }
        bad = as_hostile(hostile.Crashing, files[0])
        with pytest.raises(ToolFailed, match="SIGSEGV"):
            pick_best([bad], engine=engine)
        told = {}
        ranked = pick_best([bad, files[1]], engine=engine, passed_over=told.__setitem__)
        assert [each.path for each in ranked] == [str(files[1])]
        assert [each.code for each in told.values()] == ["tool_failed"]
        monkeypatch.setattr(
            "palprep.preflight.comparison._files", lambda _: ([bad, files[1]], True)
        )
        assert [each.path for each in pick_best(folder, engine=engine)] == [str(files[1])]
    assert "is passed over: A worker process died (SIGSEGV)" in caplog.text


def test_media_that_a_fix_made_unreadable_is_removed(portrait_path, tmp_path, monkeypatch):
    """And the fix is blamed, not the source."""
    apply = fixes.apply

    def spoil(plan, source, target_stem, **options):
        applied = apply(plan, source, target_stem, **options)
        Path(applied.path).write_bytes(b"nothing that anybody knows")
        return applied

    monkeypatch.setattr(fixes, "apply", spoil)
    with pytest.raises(FixError, match=r"what it wrote could not be read back, and was removed"):
        prepare(portrait_path, into=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays_where_its_proof_fails(portrait_path, tmp_path, monkeypatch):
    ready = prepare(portrait_path, into=tmp_path)

    def damaged(path):
        raise DamagedMedia(f"{path} is damaged")

    monkeypatch.setattr(loop, "Source", SimpleNamespace(of=damaged))
    with pytest.raises(FixError):
        prepare(portrait_path, into=tmp_path)
    assert list(tmp_path.iterdir()) == [ready.path]


def test_workers_far_away_are_not_asked_how_long_a_file_lasts(portrait_path):
    """The whole file would travel for the answer."""

    class Far:
        far = True

        def run_for(self, media_s, function, /, *args):
            return media_s

    assert run_in(Far(), str, Source.of(portrait_path)) == LONGEST_S
