"""What a worker cannot do, tried by code that runs in one. The process that asked is unharmed."""

from __future__ import annotations

import importlib
import os
import platform
import re
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from palprep.errors import MediaTooHeavy, PalprepError, ToolFailed
from palprep.workers.confinement import Protections, isolation
from palprep.workers.engine import Limits
from palprep.workers.local import LocalEngine, probe_isolation
from palprep.workers.messages import Failed
from palprep.workers.reach import Reach, environment, needed_for

HERE = Path(__file__).parent

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines processes")


@pytest.fixture(scope="module")
def attacks():
    """Importable by the workers, as their functions must be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        yield importlib.import_module("attacks")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home with a secret, files that are given, and an output folder. Temporary files lie
    elsewhere, as they do on any machine.
    """
    top = tmp_path_factory.mktemp("machine")
    for name in ("home/.ssh", "home/media", "tmp", "out"):
        (top / name).mkdir(parents=True)
    (top / "home/.ssh/id_ed25519").write_text("secret")
    (top / "home/media/face.jpg").write_text("face")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(top / "tmp"))
        patch.setenv("HOME", str(top / "home"))
        patch.setenv("PALPREP_API_KEY", "psk-secret")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "aws-secret")
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/secret.json")
        patch.setenv("LC_TIME", "C")
        yield top


@pytest.fixture(scope="module")
def engine(attacks, place):
    with LocalEngine(1) as local:
        local.may_open(reads=[place / "home/media/face.jpg"], writes=[place / "out"])
        yield local


@pytest.fixture
def files(engine):
    """The engine, where the kernel keeps files from it."""
    if not engine.protections().landlock:
        pytest.skip("this kernel has no landlock, or a container forbids it")
    return engine


@pytest.fixture
def calls(engine):
    """The engine, where the kernel refuses system calls."""
    if not engine.protections().system_calls:
        pytest.skip("this kernel has no seccomp filters for this machine, or forbids them")
    return engine


REFUSED = "PermissionError"


@pytest.mark.parametrize("name", ["home/.ssh/id_ed25519", "home/.ssh", "home", "tmp"])
def test_no_foreign_file_is_read_or_listed(files, attacks, place, name):
    path = str(place / name)
    assert files.run(attacks.list_folder if Path(path).is_dir() else attacks.read, path) == REFUSED


def test_a_file_that_is_given_is_read_and_not_written(files, attacks, place):
    path = place / "home/media/face.jpg"
    assert files.run(attacks.read, str(path)) == attacks.DONE
    assert files.run(attacks.write, str(path)) == REFUSED
    assert files.run(attacks.remove, str(path)) == REFUSED
    assert path.read_text() == "face"


def test_nothing_is_written_outside_the_output_folder(files, attacks, place):
    assert files.run(attacks.write, str(place / "out/new")) == attacks.DONE
    for name in ("home/new", "home/.ssh/authorized_keys", "tmp/new", "new"):
        assert files.run(attacks.write, str(place / name)) == REFUSED
        assert not (place / name).exists()
    assert files.run(attacks.replace_library) == REFUSED


def test_no_link_leads_out_of_the_output_folder(files, attacks, place):
    to, path = place / "home/.ssh/id_ed25519", place / "out/link"
    assert REFUSED in files.run(attacks.link, str(to), str(path))
    assert not os.path.lexists(path)


def test_a_thread_is_held_as_well(files, attacks, place):
    secret = str(place / "home/.ssh/id_ed25519")
    assert files.run(attacks.in_a_thread_of_a_library, secret) == REFUSED


def test_no_program_runs_but_those_that_are_named(files, attacks):
    assert files.run(attacks.run, "/bin/sh", "-c", ":") == REFUSED
    assert files.run(attacks.run, sys.executable, "-c", "") == REFUSED
    assert files.run(attacks.run_what_was_written) == REFUSED
    assert files.run(attacks.run_from_memory) == REFUSED


def test_a_program_that_is_named_runs_within_the_same_walls(attacks, place):
    with LocalEngine(1, programs=[sys.executable]) as engine:
        if not engine.protections().landlock:
            pytest.skip("this kernel has no landlock, or a container forbids it")
        steal = f"open({str(place / 'home/.ssh/id_ed25519')!r})"
        found = engine.run(attacks.output_of, sys.executable, "-I", "-c", steal)
        assert "PermissionError" in found
        steal = "import socket; socket.socket()"
        assert "PermissionError" in engine.run(attacks.output_of, sys.executable, "-I", "-c", steal)


def test_no_connection_is_opened(calls, attacks):
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert calls.run(attacks.connect, server.getsockname()[1]) == REFUSED
    for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_INET6, 16):
        assert calls.run(attacks.connect_by_another_call, int(family)) == REFUSED


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it has one convention of calls")
def test_no_call_goes_around_the_filter(calls, attacks):
    with pytest.raises(ToolFailed, match=r"died \(SIGSYS\)"):
        calls.run(attacks.call_by_the_other_convention)


def test_the_process_outside_is_out_of_reach(calls, attacks):
    assert calls.run(attacks.trace_the_parent) == REFUSED
    assert calls.run(attacks.leave_the_group) == REFUSED
    assert calls.run(attacks.limit_the_parent) == REFUSED


def test_the_process_outside_tells_nothing_and_gets_no_signal(files, attacks):
    assert files.run(attacks.parents_environment) == REFUSED
    if files.protections().landlock >= 6:
        assert files.run(attacks.signal_the_parent) == REFUSED


def test_a_worker_knows_no_secret(engine, attacks):
    found = engine.run(attacks.environment)
    assert not {"PALPREP_API_KEY", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"} & {
        *found
    }
    assert "secret" not in str(found)
    assert found["LC_TIME"] == "C"
    assert found["HOME"] == found["TMPDIR"] != os.environ["HOME"]


@linux
def test_nor_does_the_kernel_of_it(attacks, place):
    with LocalEngine(1) as engine:
        pid = engine.run(os.getpid)
        told = psutil.Process(pid).environ() if os.geteuid() == 0 else {}
    assert "secret" not in str(told)


def test_only_what_is_listed_reaches_a_worker():
    given = {"PATH": "/bin", "LC_ALL": "C", "OMP_NUM_THREADS": "3", "NPM_TOKEN": "x", "HOME": "/h"}
    told = environment(given, folder="/own", settings={"OMP_NUM_THREADS": "1"})
    assert told == {
        "PATH": "/bin", "LC_ALL": "C", "OMP_NUM_THREADS": "3", "HOME": "/own", "TMPDIR": "/own",
    }  # fmt: skip


def test_limits_hold_and_cannot_be_raised(engine, attacks, place):
    if os.geteuid() != 0:
        assert engine.run(attacks.raise_limits) == "ValueError"
    assert engine.run(attacks.dump_core_limit) == 0
    assert engine.run(attacks.write_a_huge_file, str(place / "out/huge")) == "OSError"
    assert (place / "out/huge").stat().st_size == 0
    assert engine.run(attacks.take_many_descriptors) == "OSError"


def test_an_allocation_without_bounds_is_one_files_failure(engine, attacks):
    with pytest.raises(ToolFailed, match="MemoryError"):
        engine.run(attacks.allocate_at_once)


def test_a_fork_bomb_is_ended_whole(attacks):
    with LocalEngine(1) as engine:
        worker = psutil.Process(engine.run(os.getpid))
        with pytest.raises(MediaTooHeavy, match="starts one program after the other"):
            engine.run(attacks.fork_on, 200)
        give_up = time.monotonic() + 20
        while left := [each for each in psutil.process_iter() if _group(each) == worker.pid]:
            assert time.monotonic() < give_up, left
            time.sleep(0.05)
        assert engine.run(os.getpid) != worker.pid


def _group(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid) if process.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.Error, OSError):
        return None


def test_an_answer_runs_nothing(attacks, place):
    mark = place / "unpickled"
    with LocalEngine(1) as engine, pytest.raises(ToolFailed, match="no proper answer"):
        engine.run(attacks.answer_with_pickle, str(mark))
    assert not mark.exists()


@pytest.mark.parametrize(
    "message",
    ["", "{}", "[]", '["Task", {}]', '["Done"]', "[" * 100_000, '["Done", {"value": 1, "x": 2}]'],
)
def test_an_answer_that_is_none_is_one_files_failure(engine, attacks, message):
    with pytest.raises(ToolFailed, match="no proper answer") as caught:
        engine.run(attacks.answer_with_nonsense, message)
    assert caught.value.pid
    assert engine.run(os.getpid) != caught.value.pid


def test_an_answer_without_end_is_not_waited_for(attacks, monkeypatch):
    monkeypatch.setattr("palprep.workers.worker._CLEAN_UP_WITHIN_S", 0.5)
    with LocalEngine(1, limits=Limits(time_s=0.3)) as engine:
        with pytest.raises(ToolFailed, match="died"):
            engine.run(attacks.answer_without_end)
        with pytest.raises(MediaTooHeavy, match="wall clock"):
            engine.run(attacks.answer_by_halves)


def test_an_answer_names_no_file_outside(engine, attacks, place):
    inside = place / "out/new"
    assert engine.run(attacks.answer_with_path, str(inside)).path == inside
    for path in (place / "home/.ssh/id_ed25519", place / "out/../home/.ssh/id_ed25519"):
        with pytest.raises(ToolFailed, match="no proper answer"):
            engine.run(attacks.answer_with_path, str(path))


def test_an_error_is_of_palpreps_own_tree(attacks):
    with LocalEngine(1) as engine, pytest.raises(PalprepError, match="words") as caught:
        engine.run(attacks.answer_with_foreign_error, "words")
    assert type(caught.value) is PalprepError
    assert not hasattr(caught.value, "pid")
    assert len(Failed.of(PalprepError("word" * 20_000)).message) == 10_000


@pytest.mark.parametrize("attack", ["call_what_is_no_callback", "tell_another_type"])
def test_a_callback_takes_what_it_takes_and_no_other_is_called(attacks, attack):
    told = []
    with LocalEngine(1) as engine, pytest.raises(ToolFailed, match="no proper answer"):
        engine.run(getattr(attacks, attack), told=told.append)
    assert told == []


def test_the_folder_around_a_file_opens_with_it_and_the_home_never(place):
    people = place / "home/people"
    (people / "ada").mkdir(parents=True)
    (people / "ada/face.jpg").touch()
    (place / "home/face.jpg").touch()
    reach = needed_for([people / "ada/face.jpg"]).widened()
    assert reach.reads == {people}
    assert reach.covers(needed_for([people / "ben/none.jpg"]))
    assert needed_for([place / "home/face.jpg"]).widened().reads == {place / "home/face.jpg"}
    hidden = needed_for([place / "home/.ssh/id_ed25519"])
    assert hidden.widened() == hidden
    assert not Reach().covers(needed_for([people / "ada/face.jpg"]))
    assert not Reach(reads=frozenset({people})).covers(Reach(writes=frozenset({people})))


def test_temporary_files_are_read_by_their_names_unless_the_home_lies_there(place, monkeypatch):
    (place / "tmp/copy").touch()
    needed = needed_for([place / "tmp/copy"])
    assert Reach().covers(needed)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    assert not Reach().covers(needed)
    assert str(place) not in Reach().confinement(str(place), (), 1).reads


def test_a_worker_that_cannot_open_a_file_is_replaced_once(attacks, place):
    for name in ("one", "two"):
        (place / "home/sets" / name).mkdir(parents=True, exist_ok=True)
        (place / "home/sets" / name / "face.jpg").touch()
    with LocalEngine(1) as engine:
        pids = [
            engine.run(attacks.pid_with, place / "home/sets" / name / "face.jpg")
            for name in ("one", "two", "one")
        ]
        assert len(set(pids)) == 1
        (place / "home/face.png").touch()
        assert engine.run(attacks.pid_with, place / "home/face.png") not in pids


@linux
def test_a_worker_says_what_it_is_held_by(engine):
    found = {each.name: each.held for each in probe_isolation()}
    given = engine.protections()
    assert found["environment"]
    assert found["reading"] == found["writing"] == found["programs"] == bool(given.landlock)
    assert found["network"] == given.system_calls


def test_what_the_system_lacks_is_said():
    found = {each.name: each for each in isolation(Protections())}
    assert not any(each.held for each in found.values() if each.name != "environment")
    assert "landlock" in (found["reading"].lacks or "")
    assert "seccomp" in (found["network"].lacks or "")


def test_an_older_landlock_keeps_from_files_and_not_from_processes():
    held = {each.name: each.held for each in isolation(Protections(landlock=5))}
    assert held["reading"]
    assert not held["processes"]


@linux
def test_every_thread_and_program_of_a_worker_is_held(calls, attacks):
    pid = calls.run(os.getpid)
    states = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/status")]
    assert len(states) > 1
    for state in states:
        assert "NoNewPrivs:\t1" in state
        assert "Seccomp:\t2" in state
        [effective] = re.findall(r"CapEff:\t(\w+)", state)
        assert int(effective, 16) <= 0b11111


WITHOUT = """
    import ctypes, errno, struct, sys
    from palprep.workers import LocalEngine, confinement as calls, probe_isolation

    def refuse(number, argument=None):
        answer = 0x50000 | errno.ENOSYS
        yield calls._LOAD, 0, 0, calls._NUMBER
        if argument is None:
            yield from calls._where(calls._EQUAL, number, answer)
        else:
            yield from calls._with_argument(number, calls._FIRST, [(calls._EQUAL, argument)])
        yield calls._RETURN, 0, 0, 0x7FFF0000

    system = ctypes.CDLL(None, use_errno=True)
    refused = {"landlock": (444,), "seccomp": ({"x86_64": 157, "aarch64": 167}[sys.argv[2]], 22)}
    code = b"".join(struct.pack("=HBBI", *each) for each in refuse(*refused[sys.argv[1]]))
    kept = ctypes.create_string_buffer(code, len(code))
    assert system.prctl(38, 1, 0, 0, 0) == 0
    head = ctypes.create_string_buffer(struct.pack("HP", len(code) // 8, ctypes.addressof(kept)))
    assert system.prctl(22, 2, head, 0, 0) == 0
    with LocalEngine(1) as engine:
        assert engine.run(divmod, 7, 2) == [3, 1]
    print(*[each.name for each in probe_isolation() if not each.held])
"""


@linux
@pytest.mark.parametrize(
    ("missing", "open_"),
    [("landlock", {"reading", "writing", "programs", "processes"}), ("seccomp", {"network"})],
)
def test_work_goes_on_where_the_kernel_offers_less(calls, missing, open_):
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT), missing, platform.machine()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.split())
    # A container may keep more from both.
    assert found
    assert found <= open_


def test_python_keeps_what_a_worker_compiled(attacks, tmp_path, monkeypatch):
    """A worker may not write next to libraries; without that, each one would compile them again."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    with LocalEngine(1, modules=["attacks"]) as engine:
        assert engine.run(os.getpid)
        give_up = time.monotonic() + 60
        while not (found := list(tmp_path.rglob("attacks.*.pyc"))):
            assert time.monotonic() < give_up
            time.sleep(0.1)
    assert found
