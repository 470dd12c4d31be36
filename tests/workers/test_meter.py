"""What a process and its children hold."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

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
