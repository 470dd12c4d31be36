"""What a run asks of the sandbox that it starts for itself."""

from __future__ import annotations

from pathlib import Path

from palprep.batch.work.connection import Connection, connect
from palprep.client.client import DEFAULT_TIMEOUT
from palprep.journal import Journal


def test_a_sandbox_of_the_runs_own_is_not_given_up_while_its_workers_are_busy(
    tmp_path: Path,
) -> None:
    """It judges a portrait when a worker is free, behind other people's videos."""
    elsewhere = Connection(base_url="http://127.0.0.1:9", api_key="key")
    for connection, most in ((Connection(), 1_800), (elsewhere, DEFAULT_TIMEOUT.read)):
        with (
            Journal.of(tmp_path, create=True) as journal,
            connect(connection, journal, tmp_path) as remote,
        ):
            assert remote.client._sender.writer.timeout["read"] == most
