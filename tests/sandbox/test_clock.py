"""Time that runs, time that stands, and jobs done when they are due."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from palprep.errors import OutputUnwritable
from palprep.sandbox.clock import MAX_AT_ONCE, SandboxClock, Scheduler, stamp


def test_a_virtual_clock_stands_still_until_moved():
    ticks = iter([100.0, 200.0, 300.0])
    clock = SandboxClock("virtual", source=lambda: next(ticks))
    assert clock.now() == clock.now() == 100.0
    clock.move_to(150.0)
    clock.move_to(120.0)
    assert clock.now() == 150.0


def test_a_real_clock_runs_and_can_be_set_ahead():
    moment = 100.0
    clock = SandboxClock("real", source=lambda: moment)
    clock.move_to(160.0)
    assert clock.now() == 160.0
    moment = 101.5
    assert clock.now() == 161.5


def test_a_clock_started_later_than_its_source_does_not_go_back():
    assert SandboxClock("virtual", source=lambda: 100.0, start=500.0).now() == 500.0
    assert SandboxClock("real", source=lambda: 100.0, start=500.0).now() == 500.0
    assert SandboxClock("real", source=lambda: 900.0, start=500.0).now() == 900.0


def test_a_clock_may_begin_on_another_day_and_again():
    moment = 100.0
    for kind in ("virtual", "real"):
        clock = SandboxClock(kind, source=lambda: moment, begin=50.0)
        assert clock.now() == 50.0
        clock.move_to(80.0)
        clock.restart()
        assert clock.now() == 50.0
        # A data folder was further on already.
        assert SandboxClock(kind, source=lambda: moment, begin=50.0, start=70.0).now() == 70.0
    kept = SandboxClock("virtual", source=lambda: moment)
    kept.move_to(300.0)
    kept.restart()
    assert kept.now() == 300.0


async def test_a_running_callback_that_moves_a_real_clock_is_not_waited_for(store):
    clock, seen, done = SandboxClock("real"), [], asyncio.Event()

    async def perform(job):
        if job.kind == "callback":
            await scheduler.advance(1000)
        seen.append(job.kind)
        if job.kind == "callback":
            done.set()

    scheduler = Scheduler(clock, store, perform)
    store.on_schedule = scheduler.notify
    running = asyncio.create_task(scheduler.run())
    store.schedule(clock.now() + 500, "voice", {})
    store.schedule(clock.now(), "callback", {})
    await asyncio.wait_for(done.wait(), 5)
    assert seen == ["voice", "callback"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def test_the_stamp_has_microseconds_always():
    assert stamp(0) == "1970-01-01T00:00:00.000000"
    assert stamp(1.5) == "1970-01-01T00:00:01.500000"


async def test_advancing_does_everything_due_in_order_at_its_own_moment(store):
    clock = SandboxClock("virtual", source=lambda: 0.0, start=0.0)
    done = []

    async def perform(job):
        done.append((job.kind, clock.now()))
        if job.kind == "first":
            store.schedule(clock.now() + 2, "child", {})

    scheduler = Scheduler(clock, store, perform)
    store.schedule(9, "beyond", {})
    store.schedule(5, "last", {})
    store.schedule(1, "first", {})
    await scheduler.advance(6)
    assert done == [("first", 1.0), ("child", 3.0), ("last", 5.0)]
    assert clock.now() == 6.0
    assert [job.kind for job in store.jobs()] == ["beyond"]


async def test_a_real_clock_does_what_is_due_by_itself_and_survives_a_broken_job(store):
    clock = SandboxClock("real")
    finished = asyncio.Event()

    async def perform(job):
        if job.kind == "broken":
            raise ValueError("broken")
        finished.set()

    scheduler = Scheduler(clock, store, perform)
    store.on_schedule = scheduler.notify
    running = asyncio.create_task(scheduler.run())
    await asyncio.sleep(0)
    store.schedule(clock.now(), "broken", {})
    store.schedule(clock.now() + 0.05, "good", {})
    await asyncio.wait_for(finished.wait(), 5)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()


@pytest.mark.parametrize("full", ["store", "folder"])
async def test_a_job_for_which_the_disk_has_no_room_runs_again_later(
    store, monkeypatch, caplog, full
):
    monkeypatch.setattr("palprep.sandbox.clock._AGAIN_S", 0.02)
    finish, done = store.finish, []

    async def perform(job):
        done.append(job.job_id)
        if full == "folder" and len(done) < 3:
            raise OutputUnwritable("the disk is full", disk_full=True)

    def finish_later(job):
        if len(done) < 3:
            raise sqlite3.OperationalError("database or disk is full")
        finish(job)

    monkeypatch.setattr(store, "finish", finish_later)
    clock = SandboxClock("virtual")
    scheduler = Scheduler(clock, store, perform)
    store.schedule(clock.now() + 1, "voice", {})
    await scheduler.advance(2)
    assert (len(done), store.jobs()) == (3, [])
    assert [each.exc_info for each in caplog.records] == [None, None]
    assert all("free some space" in each.message for each in caplog.records)


@pytest.mark.parametrize("steps", range(5))
async def test_it_ends_when_cancelled_while_it_is_told_to_look_again(store, steps):
    clock = SandboxClock("real")
    scheduler = Scheduler(clock, store, perform=lambda _: asyncio.sleep(0))
    store.schedule(clock.now() + 50, "later", {})
    running = asyncio.create_task(scheduler.run())
    await asyncio.sleep(0.01)
    scheduler.notify()
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running], timeout=1)
    assert running.cancelled()


async def test_advancing_a_real_clock_waits_for_what_is_running_and_nothing_runs_twice(store):
    clock, done = SandboxClock("real"), []
    release = asyncio.Event()

    async def perform(job):
        if job.kind == "slow":
            await release.wait()
        done.append(job.kind)

    scheduler = Scheduler(clock, store, perform)
    store.on_schedule = scheduler.notify
    running = asyncio.create_task(scheduler.run())
    store.schedule(clock.now(), "slow", {})
    store.schedule(clock.now() + 50, "later", {})
    await asyncio.sleep(0.05)
    advancing = asyncio.create_task(scheduler.advance(60))
    await asyncio.sleep(0.05)
    assert done == []
    release.set()
    await advancing
    assert done == ["slow", "later"]
    store.schedule(clock.now(), "after", {})
    await asyncio.sleep(0.05)
    assert done == ["slow", "later", "after"]
    assert store.jobs() == []
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.parametrize("mode", ["virtual", "real"])
async def test_many_that_are_due_at_once_are_not_all_read_for_each_of_them(
    store, mode, monkeypatch
):
    clock, done, at_once, most = SandboxClock(mode), [], 0, 0
    jobs, read, all_done = store.jobs, [], asyncio.Event()

    def counted(**limits):
        found = jobs(**limits)
        read.extend(found)
        return found

    async def perform(job):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        done.append(job.job_id)
        if len(done) == 200:
            all_done.set()

    monkeypatch.setattr(store, "jobs", counted)
    scheduler = Scheduler(clock, store, perform)
    for _ in range(200):
        store.schedule(clock.now(), "due", {})
    if mode == "virtual":
        await scheduler.advance(1)
    else:
        running = asyncio.create_task(scheduler.run())
        await asyncio.wait_for(all_done.wait(), 10)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert sorted(done) == list(range(1, 201))
    assert most <= MAX_AT_ONCE
    assert len(read) <= 200 * (MAX_AT_ONCE + 1)
