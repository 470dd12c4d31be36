"""People with small real media, an engine without processes, and a sandbox to count on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import imageio_ffmpeg
import pytest
from remember import Remembering
from spoken import coded_consent, spoken_consent

from palprep import consent
from palprep.batch.runner import run
from palprep.batch.work.connection import Connection
from palprep.batch.work.context import RunOptions
from palprep.batch.work.pace import Pace
from palprep.sandbox import Choices, Sandbox

__all__ = ["coded_consent", "spoken_consent"]

QUICK = Choices(voice_seconds=0.2, replica_seconds=0.2, callback_retry_seconds=(0.5,) * 40)

PACE = Pace(wait_s=20, doubt_wait_s=0.1)


@pytest.fixture(autouse=True)
def _measured_once(measured_once: None) -> None:
    """Tests of what is measured have a fixture of this name that does nothing."""


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this run of the tests keeps what it has prepared, whichever worker did."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "prepared-once"
    place.mkdir(exist_ok=True)
    return place


@pytest.fixture
def engine(cache: Path) -> Remembering:
    return Remembering(cache)


@pytest.fixture(scope="session")
def wav(tmp_path_factory: pytest.TempPathFactory, light_people: Path) -> Path:
    """The first sixteen seconds of a sample person's recording, as WAV."""
    path = tmp_path_factory.mktemp("sound") / "recording.wav"
    source = light_people / "jane-carter/recording.m4a"
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", source, "-t", "16", path]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "people"
    place.mkdir()
    return place


@pytest.fixture
def add(folder: Path, wav: Path, light_people: Path) -> Callable[..., Path]:
    """``add(name, voice=, portrait=, training=, consent=, settings=)``: a person's folder."""
    jane = light_people / "jane-carter"

    def person(
        slug: str,
        *,
        voice: bool = True,
        portrait: bool = False,
        training: bool = False,
        consent: bool = False,
        settings: str = "",
    ) -> Path:
        place = folder / slug
        place.mkdir()
        if voice:
            shutil.copy(wav, place / "recording.wav")
        if portrait:
            shutil.copy(jane / "portrait.heic", place / "portrait.heic")
        if training:
            shutil.copy(jane / "training.mp4", place / "training.mp4")
        if consent:
            shutil.copy(jane / "consent.mp4", place / "consent.mp4")
        if settings:
            (place / "person.toml").write_text(settings)
        return place

    return person


def another_recording(place: Path, at: int = 5000) -> Path:
    """The person's folder, with a recording that nobody else has."""
    sound = bytearray((place / "recording.wav").read_bytes())
    sound[at] ^= 1
    (place / "recording.wav").write_bytes(sound)
    return place


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A service of its own process life: it outlives the runs that talk to it."""
    with Sandbox(data=tmp_path / "service", choices=QUICK) as running:
        yield running


@pytest.fixture
def connection(sandbox: Sandbox) -> Connection:
    return Connection(
        base_url=sandbox.url,
        api_key=sandbox.user_key,
    )


class Log:
    """What the sandbox served."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def _all(self) -> dict:
        return httpx.get(f"{self._sandbox.url}/_sandbox/log", trust_env=False).json()

    @property
    def creates(self) -> dict[str, int]:
        """How many records of each kind exist, without zeros."""
        return {kind: count for kind, count in self._all()["creates"].items() if count}

    @property
    def requests(self) -> list[str]:
        """Method and path of every API request, but for the first of a run, which asks whether the
        service answers."""
        asked = [f"{each['method']} {each['path']}" for each in self._all()["requests"]]
        return [each for each in asked if each != "GET /v2/voices/no-voice"]

    def voice_ids(self) -> list[str]:
        reply = httpx.get(
            f"{self._sandbox.url}/v2/voices",
            headers={"x-api-key": self._sandbox.user_key},
            trust_env=False,
        )
        return [voice["voice_id"] for voice in reply.json()["data"]]

    def status(self, path: str) -> str:
        """The status in a GET of the service's own."""
        reply = httpx.get(
            f"{self._sandbox.url}{path}",
            headers={"x-api-key": self._sandbox.user_key},
            trust_env=False,
        )
        return reply.json()["status"]

    def fault(self, **fault: object) -> None:
        reply = httpx.post(f"{self._sandbox.url}/_sandbox/faults", json=[fault], trust_env=False)
        assert reply.is_success, reply.text


@pytest.fixture
def log(sandbox: Sandbox) -> Log:
    return Log(sandbox)


@pytest.fixture
def go(folder, tmp_path, connection, engine):
    """Run with the defaults of these tests; with ``connection=None`` a sandbox of the run's own."""

    def start(**options):
        own = {name: options.pop(name) for name in ("into", "tell", "note") if name in options}
        given = {"connection": connection, "engine": engine, "pace": PACE, **options}
        asked = RunOptions(**{name: each for name, each in given.items() if each is not None})
        return run(folder, **{"into": tmp_path / "out", **own}, options=asked)

    return start


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def place(folder: Path, light_people: Path) -> Path:
    """Jane, with a training video alone."""
    jane = folder / "jane-carter"
    jane.mkdir()
    shutil.copy(light_people / "jane-carter/consent.mp4", jane / "training.mp4")
    return jane


@pytest.fixture(scope="module")
def jane(light_people: Path) -> tuple[Path, Path]:
    """A training video without a statement, and the consent video."""
    person = light_people / "jane-carter"
    return person / "training.mp4", person / "consent.mp4"


@pytest.fixture
def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Whisper model of the user's own, where isolated workers may open nothing unasked: they may
    read the folder of temporary files."""
    own = tmp_path / "models/own"
    own.mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    for each in (Path(consent.__file__).parent / "weights").glob("whisper_*"):
        shutil.copy(each, own)
    return own
