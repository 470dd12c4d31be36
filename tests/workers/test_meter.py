"""What a process and its children hold, and which time counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from palprep.workers import meter
from palprep.workers.meter import Meter

PARENT = textwrap.dedent("""
    import subprocess, sys
    hold = "import sys; kept = bytearray(50 << 20); print('held', flush=True); sys.stdin.read()"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    subprocess.run([sys.executable, "-c", child])
""")
"""Runs a program that runs another one, which holds 50 MiB."""


def unnamed(pid):
    raise FileNotFoundError(pid)


@pytest.mark.parametrize("named", [True, False])
def test_a_child_of_a_child_counts(monkeypatch, named):
    if not named:
        monkeypatch.setattr(meter, "_named_children", unnamed)
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        assert Meter(process.pid).use().memory_bytes > 50 << 20
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel does not name children")
def test_the_kernel_names_the_children_that_psutil_finds():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=-1, stdout=-1) as process:
        assert process.stdout.readline() == b"held\n"
        found = psutil.Process(os.getpid()).children(recursive=True)
        named = list(meter._named_children(os.getpid()))
        process.stdin.close()
    assert process.pid in {each.pid for each in found}
    assert {each.pid for each in named} == {each.pid for each in found}


def test_what_has_ended_holds_nothing():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    assert Meter(process.pid).use() == (0, 0.0, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX alone stops processes")
def test_time_in_which_all_is_stopped_does_not_count():
    run = """if True:
        import work
        from palprep.workers import Limits, LocalEngine
        with LocalEngine(1, limits=Limits(time_s=1)) as engine:
            print(engine.run(work.double, 1), flush=True)
            engine.run(work.pause, 6.5)
    """
    command, pipe = [sys.executable, "-c", run], subprocess.PIPE
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(command, env=environ, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "2\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(5)
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
