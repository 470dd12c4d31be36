"""What Linux alone has is needed nowhere: palprep as it is where that is missing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from palprep import system

ELSEWHERE = """
    # What binds the missing names when it is imported; on other systems it does not.
    import anyio, asyncio, psutil, rich.console, subprocess

    import fcntl, importlib, json, os, pkgutil, select, signal, sys, types

    def locking(handle, mode, size):
        fcntl_there.flock(handle, fcntl_there.LOCK_EX | fcntl_there.LOCK_NB)

    fcntl_there = fcntl
    sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
    sys.modules.update(dict.fromkeys(("fcntl", "grp", "pwd", "resource", "termios")))
    missing = {
        os: "O_CLOEXEC O_DIRECTORY O_PATH P_PID fork geteuid getuid killpg sched_getaffinity "
        "setsid waitid",
        select: "epoll poll",
        signal: "SIGALRM SIGHUP SIGKILL",
    }
    for module, names in missing.items():
        for name in names.split():
            delattr(module, name)

    import palprep
    from palprep.journal.file import is_running

    modules = [each.name for each in pkgutil.walk_packages(palprep.__path__, "palprep.")]
    for name in modules:
        if name != "palprep.__main__":
            importlib.import_module(name)
    told = {"modules": len(modules), "verdict": palprep.check(sys.argv[1]).verdict}
    with palprep.Journal.of(sys.argv[2], lock=True, create=True) as journal:
        told["running"] = is_running(journal.path)
        try:
            palprep.Journal.of(sys.argv[2], lock=True)
        except palprep.JournalError as error:
            told["second"] = error.message
    told["still"] = is_running(journal.path)
    print(json.dumps(told))
"""


def test_where_unix_is_missing_all_is_imported_checked_and_locked(sample_media, tmp_path):
    portrait = sample_media / "people" / "jane-carter" / "portrait.heic"
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ELSEWHERE), portrait, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["modules"] > 250
    assert told["verdict"] == "warn"
    assert (told["running"], told["still"]) == (True, False)
    assert told["second"].startswith("Another run is using")


def test_a_process_gets_its_socket_where_sockets_are_no_files():
    """Windows gives a socket to a process as bytes, once that has a number."""

    class Shared(socket.socket):
        def share(self, process_id: int) -> bytes:
            return f"for {process_id}".encode()

    command = [sys.executable, "-c", "import sys; print(sys.stdin.read())"]
    with Shared() as end, system.start_group(command, end, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read().decode().strip() == f"for {process.pid}"


def test_a_group_ends_with_all_it_started_where_groups_have_no_signals(monkeypatch):
    monkeypatch.delattr(os, "killpg")
    command = [sys.executable, "-c", "import subprocess; subprocess.run(['sleep', '60'])"]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = system.start_group(command, theirs)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (child := children.read_text()):
            pass
        assert not system.has_ended(process.pid)
        system.kill_group(process.pid)
    assert process.wait(10) < 0
    give_up = time.monotonic() + 10  # Nobody waits for the child: its end is seen a moment later.
    while not system.has_ended(int(child)) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert system.has_ended(int(child))


def test_what_is_replaced_while_it_is_locked_has_a_lock_beside_it(monkeypatch, tmp_path):
    path = tmp_path / "dossier.json"
    assert system.lockable(path) == path
    monkeypatch.setattr(system, "_fcntl", None)
    assert system.lockable(path).read_bytes() == b""
    assert system.lockable(path).parent == tmp_path
    assert system.lockable(path).name.startswith(".")  # A person's folder may have it beside it.
    assert not path.exists()
