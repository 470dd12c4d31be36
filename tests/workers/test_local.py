"""Local workers: one task's crash, hang or greed is its own, and nothing is left behind."""

from __future__ import annotations

import concurrent.futures
import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest

from palprep.errors import MediaTooHeavy, NoWorkers, ToolFailed, UnsupportedMedia, UsageError
from palprep.workers.engine import Limits, WorkStopped
from palprep.workers.local import LocalEngine
from palprep.workers.messages import answer_type

SMALL = 400 << 20
"""Enough for a worker without decoders."""


def appears(path: Path) -> int:
    """The number in a file, once it is there."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.02)
    pytest.fail(f"{path} never came")


def goes(pid: int) -> bool:
    """Whether a process ends, or has ended."""
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def test_a_worker_whose_folder_is_gone_removes_no_other(tmp_path):
    (tmp_path / "other").mkdir()
    code = "from palprep.workers.worker_main import _forget_temporary_files as forget; forget()"
    for folder in ("gone", "other"):
        places = {"TMPDIR": str(tmp_path / folder), "TEMP": str(tmp_path / "other")}
        subprocess.run([sys.executable, "-c", code], env={**os.environ, **places}, check=True)
        assert (tmp_path / "other").exists() is (folder == "gone")


def test_a_forked_process_gets_no_answers_of_its_parents_workers():
    program = """
        import os
        import work
        from palprep.errors import UsageError
        from palprep.workers.local import LocalEngine
        engine, unused = LocalEngine(1), LocalEngine(1)
        before = engine.run(work.pause, 0)
        if (child := os.fork()) == 0:
            print(unused.run(work.double, 2))
            unused.close()
            try:
                engine.run(work.pause, 0)
            except UsageError as error:
                print(error, flush=True)
            engine.close()
            os._exit(0)
        os.waitpid(child, 0)
        print(engine.run(work.pause, 0) == before)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        "4",
        "These workers belong to the process that used them first: make others in each",
        "True",
    ]


def test_values_and_errors_come_back(engine, work):
    assert engine.run(work.double, 21) == 42
    with pytest.raises(UnsupportedMedia, match="is a spreadsheet") as caught:
        engine.run(work.refuse, name="tables.xls")
    assert caught.value.name == "tables.xls"


def test_what_a_function_answers_is_worked_out_once(work):
    # That of a report takes ten milliseconds, which every file paid twice.
    assert answer_type(work.double) is answer_type(work.count)
    assert answer_type(work.double) is not answer_type(work.talk)


@pytest.mark.parametrize(
    ("jobs", "asked", "threads"), [(2, None, 2), (4, None, 1), (9, None, 1), (4, "3", 3)]
)
def test_each_worker_gets_its_share_of_the_cores(work, monkeypatch, jobs, asked, threads):
    monkeypatch.setattr("palprep.workers.local.usable_cores", lambda: 4)
    monkeypatch.delenv("OPENCV_FOR_THREADS_NUM", raising=False)
    if asked is not None:
        monkeypatch.setenv("OPENCV_FOR_THREADS_NUM", asked)
    with LocalEngine(jobs) as engine:
        assert engine.run(work.opencv_threads) == threads


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


def test_a_machine_that_gives_no_more_is_blamed_and_no_file(engine, work):
    with pytest.raises(ToolFailed, match=r"This machine gives no more .* open files") as caught:
        engine.run(work.take_all_files)
    assert "damaged" not in str(caught.value)


@pytest.mark.parametrize("hang", ["hang", "hang_in_c"])
def test_a_hang_ends_at_the_time_limit(work, hang, monkeypatch):
    monkeypatch.setattr("palprep.workers.worker._CLEAN_UP_WITHIN_S", 0.5)
    with LocalEngine(1, limits=Limits(time_s=0.5)) as engine:
        assert engine.run(work.double, 1) == 2
        with pytest.raises(MediaTooHeavy, match="takes longer than 2 s of the wall clock"):
            engine.run(getattr(work, hang))
        assert engine.run(work.double, 3) == 6


def test_longer_media_may_take_longer(work):
    limits = Limits()
    assert limits.time_for(0) == 300
    assert limits.time_for(60) == 1500
    assert limits.time_for(1e9) == limits.time_for(1800) == 36_300
    assert Limits(time_s=7).time_for(60) == 7
    assert Limits(time_s=7).wall_for(60) == 28
    with LocalEngine(1) as engine:
        assert engine.run_for(60, work.double, 2) == 4


@pytest.mark.parametrize("limits", [{"time_s": 1e30}, {"memory_bytes": 1 << 70}])
def test_a_limit_beyond_those_of_the_system_holds_no_work_back(work, limits):
    with LocalEngine(1, limits=Limits(**limits)) as engine:
        assert engine.run(work.double, 2) == 4


def test_telling_something_every_moment_gains_no_time(work, monkeypatch):
    monkeypatch.setattr("palprep.workers.worker._CLEAN_UP_WITHIN_S", 0.5)
    with LocalEngine(1, limits=Limits(time_s=0.5)) as engine:
        assert engine.run(work.double, 1) == 2
        with pytest.raises(MediaTooHeavy, match="longer than 2 s of the wall clock"):
            engine.run(work.tell_without_end, told=lambda _: None)


def test_filling_the_memory_ends_at_the_memory_limit(work):
    with LocalEngine(1, limits=Limits(memory_bytes=SMALL)) as engine:
        with pytest.raises(MediaTooHeavy, match=r"more than 400 MiB.* limit is lower"):
            engine.run(work.fill_memory)
        assert engine.run(work.double, 3) == 6


def test_a_task_that_tells_something_every_moment_is_measured(work):
    shares, limits = [], Limits(memory_bytes=SMALL)
    with LocalEngine(1, limits=limits) as engine, pytest.raises(MediaTooHeavy, match="400 MiB"):
        engine.run(work.fill_memory_and_tell, on_share=shares.append)
    assert shares[-1] < 0.5, "it was stopped at its end alone"


def test_memory_of_what_a_task_runs_counts(work, tmp_path):
    limits = Limits(memory_bytes=SMALL)
    with LocalEngine(1, limits=limits, programs=[sys.executable]) as engine:
        engine.may_open(writes=[tmp_path])
        with pytest.raises(MediaTooHeavy):
            engine.run(work.fill_memory_of_a_child, str(tmp_path))
    assert goes(appears(tmp_path / "child"))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("raise_what_cannot_be_read", r"Unreadable: 1 and 2; in work\.py:\d+"),
        ("answer_with_what_cannot_be_sent", "Unable to serialize unknown type"),
        ("answer_with_another_type", "Expected `int`"),
        ("recurse", "RecursionError"),
    ],
)
def test_what_cannot_be_sent_fails_one_task_alone(work, function, told):
    with LocalEngine(1) as engine, concurrent.futures.ThreadPoolExecutor(3) as threads:
        asked = [
            threads.submit(engine.run, work.double, 1),
            threads.submit(engine.run, getattr(work, function)),
            threads.submit(engine.run, work.double, 2),
        ]
        with pytest.raises(ToolFailed, match=told):
            asked[1].result()
        assert (asked[0].result(), asked[2].result()) == (2, 4)


def test_an_error_arrives_with_what_of_it_is_plain(engine, work):
    with pytest.raises(UnsupportedMedia, match="a spreadsheet") as caught:
        engine.run(work.refuse_with_what_cannot_be_sent)
    assert caught.value.sheets == 3
    assert not hasattr(caught.value, "lock")


def test_work_that_takes_the_processor_ends_before_the_wall_clock_does(work, monkeypatch):
    # On a busy machine half a second of the processor takes many of the clock.
    monkeypatch.setattr("palprep.workers.engine._WALL_FOR_EACH_S", 240.0)
    with LocalEngine(1, limits=Limits(time_s=0.5)) as engine:
        assert engine.run(work.pause, 0.7)
        with pytest.raises(MediaTooHeavy, match=r"longer than 0\.5 s of processor time"):
            engine.run(work.burn, 100.0)
        assert engine.run(work.double, 3) == 6


def test_what_a_task_tells_arrives_in_order(engine, work):
    heard = []
    assert engine.run(work.count, 3, told=heard.append) == 3
    assert heard == [0, 1, 2]


def test_an_error_in_a_callback_ends_the_task(engine, work):
    def refuse(number: int) -> None:
        raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        engine.run(work.count, 3, told=refuse)
    assert engine.run(work.double, 3) == 6


def test_what_libraries_say_is_logged_and_not_shown(work, capfd, caplog):
    with caplog.at_level(logging.DEBUG, "palprep.workers"), LocalEngine(1) as engine:
        folder = engine.run(work.talk)
        give_up = time.monotonic() + 20
        while "printed by a library" not in caplog.text and time.monotonic() < give_up:
            engine.run(work.double, 1)
    assert "UserWarning: a warning of a library" in caplog.text
    assert "written by a decoder" in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}
    assert capfd.readouterr() == ("", "")
    assert not Path(folder).exists()


def test_temporary_files_of_a_killed_worker_go(work, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with LocalEngine(1) as engine, pytest.raises(ToolFailed, match="SIGKILL"):
        engine.run(work.leave_temporary_files)
    assert list(tmp_path.iterdir()) == []


def test_stopping_ends_what_a_task_waits_for(work, tmp_path):
    engine = LocalEngine(1, programs=[sys.executable])
    engine.may_open(writes=[tmp_path])
    failures = []

    def ask():
        try:
            engine.run(work.run_a_child, str(tmp_path))
        except ToolFailed as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    child = appears(tmp_path / "child")
    engine.close(at_once=True)
    thread.join(10)
    assert not thread.is_alive()
    assert (tmp_path / "cleaned").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert [type(each) for each in failures] == [WorkStopped]
    with pytest.raises(WorkStopped, match="make others"):
        engine.run(work.double, 1)


def test_workers_work_at_the_same_time(engine, work):
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        pids = set(threads.map(lambda _: engine.run(work.pause, 0.5), range(2)))
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_a_worker_is_replaced_when_it_has_done_enough(work, monkeypatch):
    monkeypatch.setattr("palprep.workers.local._MOST_TASKS", 2)
    with LocalEngine(1) as engine:
        pids = [engine.run(work.pause, 0) for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


PROGRAM = """
    import sys
    from pathlib import Path
    from palprep.workers.local import LocalEngine
    import work

    engine = LocalEngine(1, programs=[sys.executable])
    engine.may_open(writes=[Path(sys.argv[1])])
    engine.run(work.run_a_child, sys.argv[1])
"""


def test_workers_end_with_a_program_that_is_killed(work, tmp_path):
    """And the program needs no guard around its main part."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, script, tmp_path], env={**os.environ, "PYTHONPATH": path}
    ) as program:
        child = appears(tmp_path / "child")
        [worker] = psutil.Process(program.pid).children()
        program.kill()
    assert goes(worker.pid)
    assert goes(child)
    assert (tmp_path / "cleaned").exists()


def test_an_impossible_number_of_jobs():
    with pytest.raises(UsageError, match="jobs must be at least 1"):
        LocalEngine(-1)
    with pytest.raises(UsageError, match="not 0"):
        LocalEngine(0)


def test_a_worker_that_ended_between_tasks_is_replaced(work):
    with LocalEngine(1) as engine:
        first = engine.run(work.pause, 0)
        os.kill(first, 9)
        [worker] = engine._pool._idle
        give_up = time.monotonic() + 20
        while worker._channel.is_quiet() and time.monotonic() < give_up:
            time.sleep(0.01)
        assert not worker._channel.is_quiet()  # Its end of the socket is closed.
        assert engine.run(work.pause, 0) != first


def test_workers_that_cannot_start_are_told_of(work, monkeypatch):
    monkeypatch.setattr("palprep.workers.worker._START_WITHIN_S", 0.0)
    with LocalEngine(1) as engine, pytest.raises(NoWorkers, match="end before they have begun"):
        engine.run(work.double, 1)


def test_workers_that_begin_early_are_as_many_as_there_are_places():
    others = set(psutil.Process().children())
    with LocalEngine(2) as engine:
        engine.begin(5)
        engine.begin(5)
        begun = set(psutil.Process().children()) - others
        assert len(begun) == 2
        assert engine.run(os.getpid) in {each.pid for each in begun}
    assert all(goes(each.pid) for each in begun)


def test_a_worker_that_cannot_be_started_leaves_nothing(work, tmp_path, monkeypatch):
    """The system refuses a command line of this length."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    refused = pytest.raises(NoWorkers, match="No worker process can be started")
    with LocalEngine(1, modules=["x" * 200_000]) as engine, refused:
        engine.run(work.double, 21)
    assert list(tmp_path.iterdir()) == []


def test_those_who_wait_for_a_place_learn_that_no_process_can_be_started(work):
    """The system refuses a command line of this length: to the first, and to all who waited."""
    begun = threading.Barrier(4)

    def ask() -> object:
        begun.wait(timeout=20)
        return engine.run(work.double, 21)

    with (
        LocalEngine(1, modules=["x" * 200_000]) as engine,
        concurrent.futures.ThreadPoolExecutor(4) as pool,
    ):
        for asked in [pool.submit(ask) for _ in range(4)]:
            with pytest.raises(NoWorkers, match="No worker process can be started"):
                asked.result(timeout=60)


def test_everybody_who_waits_for_the_only_place_gets_it(work):
    with LocalEngine(1) as engine, concurrent.futures.ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(engine.run, work.double, each) for each in range(12)]
        assert [each.result(timeout=60) for each in asked] == [2 * each for each in range(12)]
