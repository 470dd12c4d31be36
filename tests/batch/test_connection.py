"""What a run asks of the sandbox that it starts for itself."""

from __future__ import annotations

import contextlib
import http.server
import threading
from pathlib import Path

import pytest

from palprep.batch.work.connection import Connection, connect
from palprep.client.client import DEFAULT_TIMEOUT
from palprep.errors import ApiError
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
            assert remote.client._sender.timeout["read"] == most


def test_a_service_is_known_again_however_its_address_is_written() -> None:
    """What was created there would be created twice."""
    written = "HTTPS://API.Example.com:443/"
    assert Connection(base_url=written).target == "https://api.example.com"


class _Answers(http.server.BaseHTTPRequestHandler):
    """Answers everything with one status."""

    status = 302

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(("status", "serves"), [(302, False), (503, False), (404, True)])
def test_what_answers_everything_with_one_error_is_no_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, serves: bool
) -> None:
    monkeypatch.setattr(_Answers, "status", status)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    connection = Connection(base_url=url, api_key="key", sleep=lambda _: None)
    try:
        with (
            Journal.of(tmp_path, create=True) as journal,
            connect(connection, journal, tmp_path) as remote,
            contextlib.nullcontext() if serves else pytest.raises(ApiError),
        ):
            remote.require_answer()
    finally:
        server.shutdown()
        server.server_close()


def test_a_portrait_that_the_service_cannot_judge_stops_no_voice(go, add, log):
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    log.fault(on="request", endpoint="faces.validate_image", status=413)
    [person] = go().people
    assert (person.status, person.blocked_by, log.creates) == (
        "failed", ("service_refused",), {"voice": 1},
    )  # fmt: skip
    assert [each.status for each in go().people] == ["done"]
    assert log.creates == {"voice": 1, "replica": 1}
