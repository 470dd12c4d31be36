"""Engines by their names, and a real cluster."""

from __future__ import annotations

import concurrent.futures
import importlib
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from remember import Remembering
from scripted_engine import Scripted

from palprep.batch.engines import cluster_worker
from palprep.batch.engines.cluster import DaskEngine, make_engine
from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.errors import MediaTooHeavy, ServiceUnreachable, UnsupportedMedia, UsageError
from palprep.media.sources import Source
from palprep.workers import Limits, LocalEngine

WORK = Path(__file__).parents[1] / "workers"


@pytest.fixture(scope="module")
def work():
    """Importable by the workers, as their functions must be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(WORK))
        patch.setenv("PYTHONPATH", str(WORK))
        yield importlib.import_module("work")


def test_unknown_engines_and_job_counts():
    with pytest.raises(UsageError, match="give local or dask://HOST:PORT"):
        make_engine("spark")
    with pytest.raises(UsageError, match="jobs must be at least 1"):
        make_engine("local", jobs=-1)
    for address in ("dask://", "dask://localhost"):
        with pytest.raises(UsageError, match="dask://HOST:PORT"):
            make_engine(address)


def test_who_hands_out_work_loads_no_decoder():
    code = (
        "import sys, palprep.batch.runner, palprep.cli.run; "
        "print(*{'numpy', 'cv2', 'av', 'PIL', 'onnxruntime'} & set(sys.modules), "
        "*(each for each in sys.modules if each.startswith('palprep.sandbox.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


class Apart(Remembering):
    """Works where the file of the profile cannot be read, as isolated and far workers do."""

    def __init__(self, cache, profile):
        super().__init__(cache)
        self.profile = profile

    def run(self, function, /, *args, **kwargs):
        self.profile.unlink(missing_ok=True)
        return super().run(function, *args, **kwargs)


def test_a_profile_of_the_users_own_reaches_the_workers(add, folder, tmp_path, connection, cache):
    place = add("jane-carter", portrait=True)
    shutil.copy(place / "portrait.heic", place / "consent.heic")
    own = tmp_path / "own.toml"
    own.write_text('extends = "core-4"\ndisable = ["image_metadata"]\n', encoding="utf-8")
    options = RunOptions(connection=connection, engine=Apart(cache, own), profile=str(own))
    [person] = run(folder, into=tmp_path / "out", options=options).people
    assert not own.exists()
    assert person.status == "voice_only"
    assert {each.prepared.report.profile for each in person.assets} == {"own"}


def test_no_scheduler_is_said_so():
    with pytest.raises(ServiceUnreachable, match="No Dask scheduler answers at"):
        DaskEngine("dask://127.0.0.1:9", connect_within_s=0.5)


@pytest.fixture(scope="module")
def cluster(work):
    """A real Dask cluster on loopback, its workers in processes of their own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
        host="127.0.0.1", silence_logs=50,
    ) as running:  # fmt: skip
        yield running.scheduler_address.replace("tcp://", "dask://")


def test_a_real_cluster(cluster, work):
    engine = make_engine(cluster, limits=Limits(time_s=30))
    try:
        assert engine.jobs == 2
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            assert list(threads.map(lambda n: engine.run(work.double, n), range(6))) == [
                0, 2, 4, 6, 8, 10,
            ]  # fmt: skip
        with pytest.raises(UnsupportedMedia, match="is a spreadsheet"):
            engine.run(work.refuse, "a.xls")
    finally:
        engine.close()


def test_a_look_at_a_cluster_loses_no_result(cluster, work, caplog, monkeypatch):
    """However often it is looked at while results are fetched."""
    monkeypatch.setattr("palprep.batch.engines.cluster.LOOK_S", 0.005)
    engine = make_engine(cluster)
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            assert [*threads.map(lambda n: engine.run(work.double, n), range(60))] == [
                *range(0, 120, 2)
            ]
    finally:
        engine.close()
    assert "was lost for a moment" not in caplog.text


def test_a_cluster_task_that_takes_too_long(cluster, work):
    engine = make_engine(cluster, limits=Limits(time_s=0.5))
    try:
        with pytest.raises(MediaTooHeavy, match="takes longer than 2 s of the wall clock"):
            engine.run(work.pause, 60)
    finally:
        engine.close()


def test_a_cluster_gives_a_file_the_time_that_its_own_length_needs(wav, monkeypatch):
    """Which its worker sees: whoever asks for the work is far from the file."""
    given: list[float] = []

    class Near(LocalEngine):
        def run_for(self, media_s, function, /, *args, **kwargs):
            given.append(media_s)
            return function(*args, **kwargs)

    monkeypatch.setattr(cluster_worker, "_processes", lambda limits: Near(limits=limits))
    source = Source.of(wav)

    def told(value):
        return cluster_worker.carry_out(str, (value,), {}, Limits(time_s=7), None).value

    assert told(wav) == str(wav)
    assert given == [0.0]
    assert told(source) == str(source)
    assert given[-1] == pytest.approx(16, abs=0.1)


class Crowd(Scripted):
    """Far workers that do nothing before so many people wait for them."""

    far = True

    def __init__(self, waiting: int) -> None:
        super().__init__()
        self.there = threading.Barrier(waiting)

    def run(self, function, /, *args):
        self.there.wait(30)
        return super().run(function, *args)


def test_a_cluster_that_grows_with_what_waits_sees_it(add, folder, out):
    """With one worker it could not: that one does one file at a time."""
    crowd = Crowd(waiting=20)
    for number in range(20):
        add(f"person-{number}")
    seen = run(folder, into=out, options=RunOptions(dry_run=True, engine=crowd))
    assert {each.status for each in seen.people} == {"waiting"}
    assert not crowd.there.broken
