"""Who of a cluster can work, by a clock of the test's own; no cluster is started."""

from __future__ import annotations

import asyncio
import logging

import pytest

from palprep.batch.engines.cluster import Workers
from palprep.errors import ClusterFailed


class Scheduler:
    """Dask's client, as far as it is asked: the threads of workers, and what they answer."""

    def __init__(self, **answers: str | None) -> None:
        self.answers = answers
        self.now = 0.0

    def nthreads(self):
        return dict.fromkeys(self.answers, 1)

    def run(self, function, *args, workers, on_error):
        return {each: self.answers[each] for each in workers or self.answers}

    def workers(self) -> Workers:
        return Workers("dask://here", self, "1.0", None, clock=lambda: self.now)


def test_a_cluster_without_workers_is_told_at_once_and_given_up_in_ten_minutes(caplog):
    scheduler = Scheduler()
    workers = scheduler.workers()
    with caplog.at_level(logging.WARNING):
        assert workers.to_use() is None
    assert "dask://here has no workers. Start some" in caplog.text
    scheduler.now = 599
    assert workers.to_use() is None
    scheduler.now = 610
    with pytest.raises(ClusterFailed, match="No worker has come to dask://here for 10 minutes"):
        workers.to_use()


def test_a_worker_that_comes_ends_the_waiting():
    scheduler = Scheduler()
    workers = scheduler.workers()
    workers.to_use()
    scheduler.now, scheduler.answers = 590, {"late": None}
    assert workers.to_use() is None
    scheduler.now, scheduler.answers = 1_000, {}
    assert workers.to_use() is None, "it is waited for anew"


def test_a_worker_that_can_work_again_is_used_again():
    scheduler = Scheduler(well="", sick="its disk is full")
    workers = scheduler.workers()
    workers.look_at()
    assert workers.to_use() == ["well"]
    assert workers.threads() == 1
    scheduler.answers["sick"] = None
    scheduler.now = 60
    assert workers.to_use() is None
    assert workers.threads() == 2
    [told] = workers.complaints()
    assert "sick" in told
    assert "its disk is full" in told


@pytest.mark.parametrize("lost", [OSError("ConnectionPool closing."), asyncio.CancelledError()])
def test_a_scheduler_that_is_gone_leaves_the_workers_that_were_seen(lost, monkeypatch):
    scheduler = Scheduler(one=None, two=None)
    workers = scheduler.workers()
    assert workers.threads() == 2

    def gone():
        raise lost

    monkeypatch.setattr(scheduler, "nthreads", gone)
    scheduler.now = 60
    assert workers.threads() == 2
    with pytest.raises(type(lost)):  # The tasks tell of it.
        workers.to_use()
