"""Engines by their names, and a real cluster."""

from __future__ import annotations

import concurrent.futures
import importlib
from pathlib import Path

import pytest

from palprep.batch.cluster import DaskEngine
from palprep.batch.engines import make_engine
from palprep.errors import ServiceUnreachable, ToolFailed, UnsupportedMedia, UsageError
from palprep.workers.engine import Limits

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


def test_a_cluster_task_that_takes_too_long(cluster, work):
    engine = make_engine(cluster, limits=Limits(time_s=0.5))
    try:
        with pytest.raises(ToolFailed, match="exceeded its limit"):
            engine.run(work.pause, 3)
    finally:
        engine.close()
