"""The run that goes on behind the review page: it is asked to end once, by the page alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from starlette.routing import Route

from palprep import system
from palprep.journal import Journal
from palprep.journal.entries.bodies import RunStarted
from palprep.record import LocalSite, Review
from palprep.record.site import strangers_file
from palprep.workers import LocalEngine

RUN = """
import os, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: (open(sys.argv[1], "a").write("asked\\n"), sys.exit()))
sys.stderr.buffer.write(b"\\xe9 " + str(os.getpgrp()).encode() + b"\\n")
sys.stderr.flush()
time.sleep(60)
"""


def test_ctrl_c_is_for_the_page_which_asks_the_run_to_end_once(
    tmp_path: Path, workers: LocalEngine
) -> None:
    about = {"target": "http://x", "profile": "core-4", "dry_run": False, "palprep_version": "0"}
    with Journal.of(tmp_path / "out", create=True) as journal:
        journal.append(RunStarted(people=(), **about))
    asked = tmp_path / "asked"
    command = [sys.executable, "-c", RUN, str(asked)]
    review = Review(tmp_path / "out", workers, lambda _: command)
    with LocalSite("review", review.routes(), port=0) as site:
        headers = {"origin": site.origin}
        with httpx.Client(base_url=site.link, headers=headers, trust_env=False) as tab:
            tab.post("run")
            for _ in range(200):
                if told := tab.get("state").json()["told"]:
                    break
                time.sleep(0.05)
    odd, group = told[0].split()
    assert (odd, int(group) != os.getpgrp()) == ("\ufffd", True)
    review.close()
    assert asked.read_text() == "asked\n"


def test_where_there_is_no_sigint_for_a_process_its_like_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(system.signal, "CTRL_BREAK_EVENT", 1, raising=False)
    sent: list[int] = []
    monkeypatch.setattr(subprocess.Popen, "send_signal", lambda _, number: sent.append(number))
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        system.ask_to_end(process)
    assert sent == [1]


def test_a_file_that_a_browser_holds_open_ends_without_complaint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    film = tmp_path / "film.mp4"
    film.touch()
    os.truncate(film, 100_000_000)
    routes = [Route("/film", lambda _: strangers_file(film))]
    with (
        LocalSite("review", routes, port=0) as site,
        httpx.Client(base_url=site.link, trust_env=False) as tab,
    ):
        # A browser reads no more of a video that is paused.
        reply = tab.send(tab.build_request("GET", "film"), stream=True)
        assert reply.status_code == 200
        site.__exit__()
        reply.close()
    assert caplog.records == []
