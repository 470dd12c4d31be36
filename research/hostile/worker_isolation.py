"""What a worker can and cannot do on this system, tried one by one; and what it asks of the kernel.

    python -m research.hostile.worker_isolation [--calls FILE]

The first table is what ``palprep doctor`` says. The second tries more, as code in a decoder would.
With ``--calls`` a file is fixed under strace (Debian: strace), and the system calls of each
worker's first thread are counted, with those that were refused: what honest work needs, and what a
list of refused calls must not name. Exit status 1 when something was open that should not be.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from palprep.workers import LocalEngine, probe_isolation

_CALL = re.compile(r"^(?:\d+\s+)?(\w+)\(.*?(?:= (-?\w+)(?: (E\w+))?.*)?$")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>.*= (-?\w+)(?: (E\w+))?")

_MAY = frozenset({"read an own file", "write an own file", "read a library", "start a thread"})


def main() -> int:
    """Print both tables, and with ``--calls`` the third."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=Path, metavar="FILE", help="count system calls at a file")
    arguments = parser.parse_args()
    wrong = 0
    for each in probe_isolation():
        print(f"{each.name:12} {'held' if each.held else 'OPEN':5} {each.lacks or each.words}")
        wrong += not each.held
    print()
    with LocalEngine(1) as engine:
        here = importlib.import_module("research.hostile.worker_isolation")
        for what, done in engine.run(here.tried).items():
            print(f"{what:32} {'done' if done else 'refused'}")
            wrong += done is not (what in _MAY)
    if arguments.calls is not None:
        _count(arguments.calls)
    return min(1, wrong)


def tried() -> dict[str, bool]:
    """Runs in a worker: what it could do."""
    import mmap  # noqa: PLC0415 -- in the worker
    import socket  # noqa: PLC0415
    import threading  # noqa: PLC0415

    own = Path(tempfile.gettempdir(), "own")
    own.write_bytes(Path(sys.executable).read_bytes())
    own.chmod(0o700)
    parent = os.getppid()
    attempts: Mapping[str, Callable[[], object]] = {
        "read an own file": own.read_bytes,
        "write an own file": lambda: own.with_name("new").write_bytes(b""),
        "read a library": Path(os.__file__).read_bytes,
        "start a thread": lambda: threading.Thread(target=int).start(),
        "list the folder of all users": lambda: list(Path("/home").iterdir()),
        "list the folder above its own": lambda: list(own.parent.parent.iterdir()),
        "read the users' passwords": Path("/etc/shadow").read_bytes,
        "read the parent's environment": Path(f"/proc/{parent}/environ").read_bytes,
        "read the parent's memory": lambda: Path(f"/proc/{parent}/mem").open("rb").close(),
        "read the processes' names": lambda: list(Path("/proc").iterdir()),
        "change a library": lambda: Path(os.__file__).open("ab").close(),
        "add a library": lambda: Path(os.__file__).with_name("zz_new.py").write_bytes(b""),
        "make a symbolic link": lambda: own.with_name("link").symlink_to("/etc"),
        "make a device": lambda: os.mknod(own.with_name("device"), 0o020600, os.makedev(1, 3)),
        "open the terminal": lambda: os.open("/dev/tty", os.O_RDWR),
        "open an internet socket": lambda: socket.socket(socket.AF_INET).close(),
        "open a socket of the machine": lambda: socket.socket(socket.AF_UNIX).close(),
        "run a shell": lambda: subprocess.run(["/bin/sh", "-c", ":"], check=True),
        "run Python": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "run a program of its own": lambda: subprocess.run([own, "-c", ""], check=True),
        "run a program from memory": lambda: os.memfd_create("program"),
        "signal the parent": lambda: os.kill(parent, 0),
        "leave its group of processes": os.setsid,
        "raise its limits": _raise_limits,
        "reserve 1 TiB": lambda: mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE),
    }
    return {what: _done(attempt) for what, attempt in attempts.items()}


def _raise_limits() -> None:
    import resource  # noqa: PLC0415 -- POSIX alone has it

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most + 1, most + 1))


def _done(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ValueError):
        return False
    return True


def _count(file: Path) -> None:
    strace = shutil.which("strace")
    if strace is None:
        print("\nNo strace: apt install strace")
        return
    with tempfile.TemporaryDirectory(prefix="palprep-strace-") as folder:
        command = [strace, "-ff", "-qq", "-o", f"{folder}/calls", sys.executable, "-m", "palprep"]
        command += ["fix", "--quiet", str(file), "--into", f"{folder}/out"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        counts: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        # A process that is confined from its start on: its first calls are the parent's.
        for each in Path(folder).glob("calls.*"):
            confined = False
            for line in each.read_text(errors="replace").splitlines():
                confined = confined or line.startswith("prctl(PR_SET_SECCOMP")
                found = _CALL.match(line) or _RESUMED.match(line)
                if found is None or not confined:
                    continue
                counts[found[1]] += 1
                if found[3] in {"EPERM", "EACCES"}:
                    refused[found[1]] += 1
    print("\nSystem calls of the workers' first threads once they are confined:")
    for name, count in counts.most_common():
        print(f"{name:24} {count:8,} {f'{refused[name]} refused' if refused[name] else ''}")


if __name__ == "__main__":
    raise SystemExit(main())
