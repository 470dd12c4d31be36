"""What runs in a worker process: one task after the other, until it is told to end."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import pickle
import queue
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable
from functools import partial
from types import FrameType
from typing import Any

from palprep import system
from palprep.workers.confinement import confine
from palprep.workers.messages import Called, Channel, Failed, Ready, done, write

_LEAVE_WITHIN_S = 10.0
"""What a task may take to clean up when nobody is there any more to end it."""


def serve(descriptor: int, modules: Iterable[str]) -> None:
    """Answer the tasks that come through the socket; never returns. The first message says to what
    this process confines itself. ``modules`` are then imported. It ends when the socket is closed
    at the other end, however that happened, and when it is terminated. A task then raises
    SystemExit where it stands, so that its cleanup runs."""
    channel = Channel(system.inherited_socket(descriptor))
    protections = confine(pickle.loads(channel.receive() or b""))  # noqa: S301 -- as below
    # Says where a decoder crashed; standard error is read by the process that started this one.
    faulthandler.enable()
    # Ctrl-C and a closed terminal are for that process, too.
    for number in system.ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    code = 1
    try:
        threading.Thread(target=_receive, args=(channel, tasks), daemon=True).start()
        # Modules stay: looking through them for garbage takes a sixth of the time of loading them.
        gc.disable()
        for name in modules:
            importlib.import_module(name)
        gc.freeze()
        gc.enable()
        channel.send(write(Ready(protections=protections)))
        while True:
            channel.send(_reply(tasks.get(), channel))
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except OSError:
        code = 0  # Nobody waits for the reply.
    except BaseException:  # noqa: BLE001 -- the last words of this process
        traceback.print_exc()
    finally:
        _forget_temporary_files()
        sys.stdout.flush()
        # Not sys.exit: threads that a library left behind are not waited for.
        os._exit(code)


def _leave(number: int, frame: FrameType | None) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _receive(channel: Channel, tasks: queue.SimpleQueue[bytes]) -> None:
    """Take what is sent, so that the end of the other process is noticed during a task, too."""
    try:
        while (message := channel.receive()) is not None:
            tasks.put(message)
    except (OSError, EOFError):
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_LEAVE_WITHIN_S)
    _forget_temporary_files()
    system.kill_group(os.getpid())


def _forget_temporary_files() -> None:
    """Remove the folder for temporary files, which is this process's own."""
    # Not what tempfile finds: where this folder is gone or full, that is everybody's.
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)


def _reply(message: bytes, channel: Channel) -> bytes:
    try:
        # It comes from the process that started this one.
        here, function, args, kwargs, names = pickle.loads(message)  # noqa: S301
        with contextlib.suppress(OSError):  # It may start where its user may not go, as by sudo.
            os.chdir(here)
        callbacks = {name: partial(_call, channel, name) for name in names}
        return write(done(function, function(*args, **kwargs, **callbacks)))
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 -- whatever a decoder raises
        return write(Failed.of(error))


def _call(channel: Channel, name: str, value: Any) -> None:
    channel.send(write(Called(name=name, value=value)))
