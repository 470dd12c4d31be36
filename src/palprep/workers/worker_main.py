"""What runs in a worker process: one task after the other, until it is told to end."""

from __future__ import annotations

import faulthandler
import importlib
import os
import pickle
import queue
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from palprep.errors import PalprepError
from palprep.workers.messages import Called, Done, Failed, Ready, Task, Unexpected, read

_LEAVE_WITHIN_S = 10.0
"""What a task may take to clean up when nobody is there any more to end it."""


def serve(descriptor: int, modules: Iterable[str]) -> None:
    """Answer the tasks that come through the socket; never returns.

    ``modules`` are imported before the first task. The process ends when the socket is closed at
    the other end, however that happened, and when it is terminated. A task then raises SystemExit
    where it stands, so that its cleanup runs: half-written files go, and the ffmpeg that it waits
    for is ended.
    """
    os.set_inheritable(descriptor, False)  # noqa: FBT003 -- takes no name
    # Says where a decoder crashed; standard error is read by the process that started this one.
    faulthandler.enable()
    # Ctrl-C and a closed terminal are for that process, too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    connection = Connection(descriptor)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    code = 1
    try:
        threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
        for name in modules:
            importlib.import_module(name)
        connection.send_bytes(pickle.dumps(Ready()))
        while True:
            connection.send_bytes(_reply(tasks.get(), connection))
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


def _receive(connection: Connection[Any, Any], tasks: queue.SimpleQueue[bytes]) -> None:
    """Take what is sent, so that the end of the other process is noticed during a task, too."""
    try:
        while True:
            tasks.put(connection.recv_bytes())
    except (OSError, EOFError):
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_LEAVE_WITHIN_S)
    _forget_temporary_files()
    os.killpg(0, signal.SIGKILL)


def _forget_temporary_files() -> None:
    """Remove the folder for temporary files, which is this process's own."""
    shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)


def _reply(message: bytes, connection: Connection[Any, Any]) -> bytes:
    try:
        task: Task = read(message)
        callbacks = {name: partial(_call, connection, name) for name in task.callbacks}
        return pickle.dumps(Done(task.function(*task.args, **task.kwargs, **callbacks)))
    except SystemExit:
        raise
    except PalprepError as error:
        return _sendable(error)
    except BaseException as error:  # noqa: BLE001 -- whatever a decoder raises
        return pickle.dumps(Unexpected.of(error))


def _call(connection: Connection[Any, Any], name: str, /, *args: Any, **kwargs: Any) -> None:
    connection.send_bytes(pickle.dumps(Called(name, args, kwargs)))


def _sendable(error: PalprepError) -> bytes:
    """The error, tried here: one that cannot be read again is told in words."""
    try:
        sent = pickle.dumps(Failed(error))
        read(sent)
    except Exception:  # noqa: BLE001 -- whatever its context does when it is pickled
        return pickle.dumps(Unexpected.of(error))
    return sent
