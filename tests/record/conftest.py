"""A recording page that answers, and who asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from palprep.journal import Journal
from palprep.preflight import media_workers
from palprep.record import LocalSite, Recording
from palprep.rules import load_profile
from palprep.workers import LocalEngine


class Served(NamedTuple):
    """A recording, its site, and a browser tab's requests to it."""

    recording: Recording
    site: LocalSite
    tab: httpx.Client
    folder: Path

    def agree(self, name: str = "Jane Carter") -> httpx.Response:
        return self.tab.post("agree", content=name.encode())

    def give(self, role: str, file: Path | bytes, by: str = "file") -> dict:
        """Send a file, wait until it is judged, and return the take."""
        data = file if isinstance(file, bytes) else file.read_bytes()
        sent = self.tab.post(f"takes/{role}/{by}", content=data)
        assert sent.status_code == 202, sent.text
        self.recording._jobs.submit(lambda: None).result()
        return self.takes(role)[-1]

    def takes(self, role: str) -> list[dict]:
        return self.state["roles"][role]["takes"]

    @property
    def state(self) -> dict:
        return self.tab.get("state").json()


@pytest.fixture(autouse=True)
def _measured_once(measured_once: None) -> None:
    """Tests of what is measured have a fixture of this name that does nothing."""


@pytest.fixture(scope="module")
def workers(light_people: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """One worker for all recordings of a file."""
    with media_workers(1) as engine:
        base = tmp_path_factory.getbasetemp()
        engine.may_open(reads=[light_people, base], writes=[base])
        yield engine


@pytest.fixture
def serve(tmp_path: Path, workers: LocalEngine) -> Iterator[Callable[..., Served]]:
    """``serve()`` opens the page of Jane, whose folder need not be there."""
    with ExitStack() as stack:

        def start(folder: Path = tmp_path / "people" / "jane-carter") -> Served:
            journal = stack.enter_context(Journal.of(tmp_path / "out", create=True))
            profile = load_profile("core-4")
            recording = Recording(folder, journal, workers, profile=profile)
            stack.callback(recording.close)
            site = stack.enter_context(LocalSite("record", recording.routes(), port=0))
            headers = {"origin": site.origin}
            tab = httpx.Client(base_url=site.link, headers=headers, trust_env=False, timeout=60)
            return Served(recording, site, stack.enter_context(tab), folder)

        yield start
