"""The first signal ends the work well, a second one ends the process at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest

PROGRAM = """
    import sys, time
    import typer
    from palprep.cli.exits import ending_well

    def rest(seconds):
        # Not in one piece: a signal just before it would be noticed only afterwards.
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.01)

    try:
        with ending_well(lambda: "It is half done.", "All is kept in out."):
            try:
                print("ready", flush=True)
                rest(60)
            finally:
                print("ending", flush=True)
                rest(float(sys.argv[1]))
    except typer.Exit as ended:
        sys.exit(ended.exit_code)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("twice", [False, True])
def test_once_and_twice(number: signal.Signals, twice: bool) -> None:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), "60" if twice else "0", "a\x1bb"]
    began = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in ("ready\n", "ending\n") if twice else ("ready\n",):
            assert process.stdout.readline() == line
            time.sleep(0.6 if line == "ending\n" else 0)
            process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert time.monotonic() - began < 30
    last = "\nEnded at once. All is kept in out. Go on with: palprep 60 'a\\x1bb'\n"
    first = "Interrupted: It is half done. Go on with: palprep 0 'a\x1bb'\n"
    assert said == (last if twice else first)


def test_a_signal_that_is_sent_twice_at_once_counts_once() -> None:
    """`timeout` sends it to the process and to its group, a shell and the system at its end."""
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in ("ready\n", "ending\n"):
            assert process.stdout.readline() == line
            process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert said == "Interrupted: It is half done. Go on with: palprep 1\n"


def test_what_nohup_ignores_stays_ignored() -> None:
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + textwrap.dedent(
        PROGRAM
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
