"""A run killed at the worst moments, then the same command again: nothing is created twice."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from standings import status

from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.batch.work.pace import Pace
from palprep.journal import JOURNAL_NAME, Journal
from palprep.journal.creations import CUT_OFF, resolve_found, resolve_retry
from palprep.journal.entries.bodies import Intent

RUN = """
    import os, signal, sys
    from remember import Remembering
    from palprep.journal.store import Journal
    from palprep.batch import Connection, RunOptions, run

    folder, out, base_url, key, kind, when, callback, cache = sys.argv[1:]

    def deadly(write):
        def written(self, body, **options):
            if body.kind == kind and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            value = write(self, body, **options)
            if body.kind == kind and when == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return value

        return written

    Journal.append, Journal.claim = deadly(Journal.append), deadly(Journal.claim)
    if __name__ == "__main__":
        connection = Connection(base_url=base_url, api_key=key, callback_url=callback or None)
        engine = Remembering(cache) if cache else "local"
        run(folder, into=out, options=RunOptions(connection=connection, engine=engine, jobs=1))
"""


@pytest.fixture
def environment(checkout):
    """Of a process that finds the tests' helpers."""
    path = [str(checkout / "tests/support"), os.environ.get("PYTHONPATH")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


@pytest.fixture
def killed(tmp_path, folder, sandbox, cache, environment):
    """Run in a process of its own that SIGKILLs itself around an entry of the journal."""
    script = tmp_path / "deadly.py"
    script.write_text(textwrap.dedent(RUN))

    def die(kind, when, callback="http://127.0.0.1:9"):
        arguments = [folder, tmp_path / "out", sandbox.url, sandbox.user_key, kind, when, callback]
        command = [sys.executable, script, *arguments, cache]
        done = subprocess.run(command, env=environment, timeout=120, check=False)
        assert done.returncode == -signal.SIGKILL

    return die


@pytest.fixture
def again(tmp_path, folder, connection, engine):
    """The same command again, in this process."""

    def start(doubt_wait_s=0.1):
        pace = Pace(wait_s=20, doubt_wait_s=doubt_wait_s)
        into = tmp_path / "out"
        options = RunOptions(connection=connection, engine=engine, pace=pace)
        return run(folder, into=into, options=options).people

    return start


@pytest.mark.parametrize(
    ("kind", "when"),
    [("asset_prepared", "after"), ("creation_used", "after"), ("intent", "before"),
     ("created", "after"), ("polled", "after"), ("person_ended", "before")],
)  # fmt: skip
def test_where_nothing_is_in_doubt_the_next_run_goes_on(killed, again, add, log, kind, when):
    add("ada")
    killed(kind, when)
    [person] = again()
    assert (person.status, person.reasons) == ("voice_only", ())
    assert log.creates == {"voice": 1}
    assert log.voice_ids() == [person.voice.id]


def test_killed_before_the_request_left(killed, again, add, log, tmp_path):
    add("ada")
    killed("intent", "after")
    assert log.creates == {}
    [person] = again()
    assert person.status == "in_doubt"
    assert log.creates == {}
    with Journal(tmp_path / "out" / JOURNAL_NAME) as journal:
        resolve_retry(journal, person.voice.key)
    assert again()[0].status == "voice_only"
    assert log.creates == {"voice": 1}


def test_killed_before_the_answer_was_recorded(killed, again, add, log, tmp_path):
    add("ada")
    killed("created", "before")
    assert log.creates == {"voice": 1}
    [person] = again()
    assert person.status == "in_doubt"
    assert log.creates == {"voice": 1}
    [found] = log.voice_ids()
    [creation] = status(tmp_path / "out").head.in_doubt
    with Journal(tmp_path / "out" / JOURNAL_NAME) as journal:
        resolve_found(journal, creation.key, found)
    [person] = again()
    assert (person.status, person.voice.id) == ("voice_only", found)
    assert log.creates == {"voice": 1}


def test_killed_before_the_answer_and_resolved_by_the_callback(killed, again, add, log):
    add("ada")
    killed("created", "before", callback="")
    [person] = again(doubt_wait_s=20)
    assert person.status == "voice_only"
    assert log.creates == {"voice": 1}
    assert log.voice_ids() == [person.voice.id]


def test_ctrl_c_leaves_nothing_running_and_nothing_in_doubt(
    add, log, tmp_path, folder, sandbox, again, environment
):
    for number in range(3):
        add(f"person-{number}", settings=f'name = "P{number}"')
    log.fault(on="request", endpoint="voices.create", delay=1.0, times=3)
    script = tmp_path / "plain.py"
    script.write_text(textwrap.dedent(RUN))
    arguments = [folder, tmp_path / "out", sandbox.url, sandbox.user_key, "", "", "", ""]
    process = subprocess.Popen(
        [sys.executable, script, *arguments],
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    give_up = time.monotonic() + 60
    journal = tmp_path / "out" / JOURNAL_NAME
    while time.monotonic() < give_up and not _has_intent(journal):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT, said.decode()
    assert said.decode().rstrip().endswith("KeyboardInterrupt")
    # multiprocessing's own resource tracker notices a moment later that it is alone.
    give_up = time.monotonic() + 15
    while time.monotonic() < give_up and _group_lives(process.pid):
        time.sleep(0.05)
    assert not _group_lives(process.pid)
    assert not (tmp_path / "out/results.jsonl").exists()  # The journal has it all.
    assert status(tmp_path / "out").head.in_doubt == ()
    assert {person.status for person in again()} == {"voice_only"}
    assert log.creates == {"voice": 3}


def _has_intent(path):
    with contextlib.suppress(Exception), Journal(path) as journal:
        return bool(journal.entries(Intent))
    return False


def _group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_ctrl_c_while_the_runs_own_sandbox_judges_refuses_nobody(
    light_people, folder, tmp_path, environment
):
    for name in ("ada", "bob", "eve"):
        shutil.copytree(light_people / "anna-miller", folder / name)
    script = """
        import os, signal, sys
        from palprep.batch import run

        def tell(progress):
            if progress.step == "validate face":
                os.kill(os.getpid(), signal.SIGINT)

        run(sys.argv[1], into=sys.argv[2], tell=tell)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), folder, tmp_path / "out"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")
    # All of them may have been prepared by then, and have the same recording.
    standing = {each.reasons[:1] for each in status(tmp_path / "out").people}
    assert standing == {CUT_OFF.reasons}
