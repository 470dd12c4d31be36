"""Engines: one task's crash or hang is its own, and leaving leaves nothing behind."""

from __future__ import annotations

import concurrent.futures
import importlib
import os
import threading
import time
from pathlib import Path

import pytest

from palprep.batch.cluster import DaskEngine
from palprep.batch.engine import LocalEngine
from palprep.batch.engines import make_engine
from palprep.errors import ServiceUnreachable, ToolFailed, UnsupportedMedia, UsageError

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def work():
    """Importable by the workers, as their functions must be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        patch.setenv("PYTHONPATH", str(HERE))
        yield importlib.import_module("work")


@pytest.fixture
def engine(work):
    with LocalEngine(2, time_limit_s=60) as local:
        yield local


def test_values_and_errors_come_back(engine, work):
    assert engine.run(work.double, 21) == 42
    with pytest.raises(UnsupportedMedia, match="is a spreadsheet") as caught:
        engine.run(work.refuse, name="tables.xls")
    assert caught.value.name == "tables.xls"


def test_a_crash_is_one_tasks_error(engine, work):
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        crashed = threads.submit(engine.run, work.crash)
        left = threads.submit(engine.run, work.leave)
        fine = threads.submit(engine.run, work.double, 4)
        assert fine.result() == 8
        with pytest.raises(ToolFailed, match=r"died \(SIGSEGV\)"):
            crashed.result()
        with pytest.raises(ToolFailed, match=r"died \(exit code 3\)"):
            left.result()
    assert engine.run(work.double, 5) == 10


def test_a_hang_ends_at_the_time_limit(work):
    with LocalEngine(1, time_limit_s=0.5) as engine:
        assert engine.run(work.double, 1) == 2
        with pytest.raises(ToolFailed, match="exceeded its limit"):
            engine.run(work.hang)
        assert engine.run(work.double, 3) == 6


def test_stopping_ends_what_a_task_waits_for(work, tmp_path):
    engine = LocalEngine(1)
    failures = []

    def ask():
        try:
            engine.run(work.run_a_child, str(tmp_path))
        except ToolFailed as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    give_up = time.monotonic() + 20
    while not (tmp_path / "child").exists() and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(0.1)
    child = int((tmp_path / "child").read_text())
    engine.close(at_once=True)
    thread.join(10)
    assert not thread.is_alive()
    assert (tmp_path / "cleaned").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert len(failures) == 1
    with pytest.raises(ToolFailed):
        engine.run(work.double, 1)


def test_workers_work_at_the_same_time(engine, work):
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        pids = set(threads.map(lambda _: engine.run(work.pause, 0.5), range(2)))
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_unknown_engines_and_job_counts():
    with pytest.raises(UsageError, match="give local or dask://HOST:PORT"):
        make_engine("spark")
    with pytest.raises(UsageError, match="--jobs must be at least 1"):
        make_engine("local", jobs=-1)


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
    engine = make_engine(cluster, time_limit_s=30)
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


def test_a_cluster_task_that_takes_too_long(cluster, work):
    engine = make_engine(cluster, time_limit_s=0.5)
    try:
        with pytest.raises(ToolFailed, match="exceeded its limit"):
            engine.run(work.pause, 3)
    finally:
        engine.close()
