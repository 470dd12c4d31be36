"""palprep listen: a server that runs until it is stopped, and says what it received."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import httpx
import pytest

from palprep.journal import Journal
from palprep.journal.entries.bodies import RunStarted

from .conftest import Palprep, started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_well_and_counts(tmp_path: Path, number: signal.Signals) -> None:
    journal = tmp_path / "before-any-run"
    with started("listen", "--journal", journal, "--port", "0") as process:
        address = process.stdout.readline().split()[-1]
        httpx.post(f"{address}/ada", json={"event_type": "none"}, trust_env=False)
        process.send_signal(number)
        assert process.wait(timeout=60) == 0
        said = process.stderr.read()
    assert said == f"1 callback received. Next: palprep run FOLDER --into {journal}\n"


def test_nobody_need_read_what_it_prints(tmp_path: Path) -> None:
    about = {"target": "http://x", "profile": "core-4", "dry_run": False, "palprep_version": "0"}
    with Journal.of(tmp_path, create=True) as journal:
        journal.append(RunStarted(people=(), **about))
    with started("listen", "--journal", tmp_path, "--port", "0") as process:
        address = process.stdout.readline().split()[-1]
        process.stdout.close()
        for _ in range(2):
            assert httpx.post(f"{address}/ada", json={}, trust_env=False).status_code == 204
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read() == f"2 callbacks received. Next: palprep report {tmp_path}\n"
    assert process.returncode == 0


def test_callbacks_are_json_lines_for_who_asks_for_them(tmp_path: Path) -> None:
    asked = ("listen", "--journal", tmp_path, "--port", "0", "--log-format", "json")
    with started(*asked) as process:
        address = process.stdout.readline().split()[-1]
        httpx.post(f"{address}/ada", json={"event_type": "none"}, trust_env=False)
        process.send_signal(signal.SIGTERM)
        lines = [json.loads(line)["message"] for line in process.stderr]
    assert lines[0] == "unknown event: {'event_type': 'none'}"
    assert lines[1].startswith("1 callback received.")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--journal"),
        (("--journal", ".", "--port", "99999"), "--port"),
    ],
)
def test_what_cannot_be_meant_is_usage(
    palprep: Palprep, arguments: tuple[str, ...], says: str
) -> None:
    ran = palprep("listen", *arguments)
    assert ran.code == 2
    assert says in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("listen", "--journal", "out", "--port", "0"),
        ("statement", "Jane Carter", "--code", "--journal", "out"),
        ("record", "people/jane", "--into", "out", "--port", "0", "--no-browser"),
    ],
)
def test_what_is_about_shards_goes_into_their_own_journals(
    palprep: Palprep, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """A journal beside them would keep every later run out, and receive nothing of theirs."""
    part = tmp_path / "out" / "shard-2-of-4"
    Journal.of(part, create=True).close()
    ran = palprep(*command)
    assert ran.code == 2
    assert "name one of them, such as out/shard-2-of-4" in ran.err
    assert [each.name for each in (tmp_path / "out").iterdir()] == [part.name]
