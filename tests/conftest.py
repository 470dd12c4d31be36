"""What all tests share: sample media, corpora when present, and no network but loopback."""

from __future__ import annotations

import fcntl
import functools
import gc
import hashlib
import ipaddress
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path, PurePath

import imageio_ffmpeg
import pytest
from development_corpora import CHECKOUT, checkout, corpora, pytest_runtest_setup
from hypothesis import settings
from measured_once import FOLDER, open_to_workers, probing, run_models_once
from PIL import Image
from warm_workers import WarmWorkers
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

__all__ = ["checkout", "corpora", "pytest_runtest_setup"]

# The first example may load what it tests, and other programs may be at work.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

SPREAD = {"test_blocks.py", "test_corpora_verdicts.py", "test_layers.py", "test_notebooks.py"}
"""Files of few and long tests that share nothing: each of them may go to another worker."""

THOROUGH = (
    # Whole videos: codes, forgeries, statements that are cut out, and what is done only once.
    *("tests/preflight/test_forged_footage", "tests/preflight/test_fresh_code"),
    *("tests/preflight/test_read_once", "tests/preflight/test_split_consent"),
    *("tests/preflight/test_still_mouth", "tests/preflight/test_verify_"),
    *("tests/batch/test_fresh_code", "tests/cli/test_consent_in_doubt", "tests/docs/test_json"),
    *("tests/fixes/test_video_codecs", "tests/preflight/test_limits", "tests/cli/test_main_job"),
    # Browsers and clusters.
    *("tests/record/test_page", "tests/record/test_review", "tests/views/test_page_in_browser"),
    "tests/views/test_dossier_page.py::test_a_real_browser",
    *("tests/batch/test_cluster", "tests/batch/test_engine"),
    # What is killed, interrupted or forgotten, and whatever strangers send.
    *("tests/batch/test_aside", "tests/batch/test_killed", "tests/cli/test_interrupted"),
    *("tests/fixes/test_video_interrupted", "tests/cli/test_strangers"),
    *("tests/batch/test_forget", "tests/batch/test_private", "tests/batch/test_retention"),
    # All of the source and of its site.
    *("tests/docs/test_site", "tests/test_dependencies", "tests/test_doors"),
    "tests/test_parent_reads_nothing",
)
"""Files whose tests take half of all processor time."""

APART = {"thorough", "static", "documented", "research"}
"""The marks of what README's command leaves to .ci/run."""

LONGEST_FIRST = (
    *("tests/docs", "tests/record/test_page", "tests/test_", "tests/batch/test_cluster"),
    *("research/tests", "tests/cli", "tests/preflight", "tests/batch", "tests/testing"),
    *("tests/sandbox/test_openapi", "tests/pipelines", "tests/views", "tests/workers"),
    *("tests/record", "tests/fixes"),
)
"""Where the long tests are. They begin first, so that at the end no worker has one alone."""


ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
"""What tells the libraries of networks, matrices and images how many threads to start."""


class FileByFile(LoadScopeScheduling):
    """Tests of one file share costly fixtures, a whole run for one: they stay on one worker.

    What ``--dist=loadgroup`` would do, had pytest 9.2 not taken from xdist 3.8 the place where it
    writes the group down.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return nodeid if PurePath(path).name in SPREAD else path


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """More workers than there are cores: some wait for a process, a server or a callback. One less
    beside browsers that record, which drop frames and sound where they get too little of a core.
    The variable of pytest-xdist says how many where others take what is left of the cores."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    records = "not thorough" not in config.getoption("markexpr")
    return (os.cpu_count() or 1) + (2 if records else 3)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileByFile:
    return FileByFile(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without any test that is asked for is not loaded, in none of the workers."""
    path = collection_path.relative_to(config.rootpath).as_posix()
    if collection_path.is_dir() or not path.startswith("tests/"):
        return None
    words = config.getoption("markexpr")
    if "not thorough" in words:
        return path.startswith(THOROUGH) or None
    asked = set(re.findall(r"\w+", words)) - {"or"}
    if not asked or asked - APART:
        return None
    by_path = tuple(start.partition("::")[0] for start in THOROUGH)
    if "thorough" in asked and path.startswith(by_path):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return None if any(f"pytest.mark.{mark}" in text for mark in asked) else True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is loaded and collected stays: Python's garbage collector need not walk through it,
    which takes a quarter of the time of collecting. Nor need it come more often than in a command
    of palprep: what reads all of the source takes a third longer with Python's own threshold."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        starts = enumerate(map(item.nodeid.startswith, LONGEST_FIRST))
        return next((at for at, found in starts if found), len(LONGEST_FIRST))

    items.sort(key=place)
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)


def pytest_configure() -> None:
    """Take signals as a program in the foreground does, on one thread for each library; and so do
    the processes that tests start.

    ``nohup`` and a job in the background begin with signals ignored, which every child inherits.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Before the libraries are loaded. Other tests have the other cores: of a video, a second thread
    # takes a tenth more of the processor, most of it to wait.
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    # Images of containers set it, and then each of some hundred processes compiles all it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets are asked once: what fails for a passing reason is not asked for a minute."""
    monkeypatch.setattr("palprep.storage.bucket._RETRY_WITHIN", timedelta(milliseconds=1))


@pytest.fixture(scope="session")
def sample_media() -> Path:
    """The committed sample media."""
    return CHECKOUT / "sample_media"


@pytest.fixture(scope="session")
def light_people(sample_media: Path, pytestconfig: pytest.Config) -> Path:
    """The sample people with videos of 640 x 360 and a portrait of 1,600 x 1,600, which a run looks
    at in a third of the time.

    Their sound is the samples' own. Made once, and kept in pytest's cache: tests must copy them.
    """
    people = sample_media / "people"
    jane = people / "jane-carter"
    talks, portrait = (jane / "training.mp4", jane / "consent.mp4"), "anna-miller/portrait.png"
    files = sorted(path for path in people.rglob("*") if path.is_file())
    state = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    made = pytestconfig.cache.mkdir("light-people") / state[:16]
    # One worker makes them, while the others wait.
    with (made.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.is_dir():
            making = Path(tempfile.mkdtemp(dir=made.parent)) / "people"
            shutil.copytree(people, making)
            for path in talks:
                command = [
                    *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-y"),
                    *("-i", path, "-t", "64", "-vf", "scale=640:360"),
                    *("-c:v", "libx264", "-preset", "veryfast", "-tune", "fastdecode"),
                    *("-pix_fmt", "yuv420p", "-c:a", "copy", "-movflags", "+faststart"),
                    making / "jane-carter" / path.name,
                ]
                subprocess.run(command, check=True)
            with Image.open(people / portrait) as opened:
                opened.resize((1600, 1600)).save(making / portrait)
            making.rename(made)
            making.parent.rmdir()
    return made


@pytest.fixture(scope="session")
def facts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the facts that tests measure once: of this session, or of all that are told
    the same one."""
    temporary = tmp_path_factory.getbasetemp()
    # All workers of pytest-xdist have theirs in one folder.
    own = (temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary) / "facts"
    folder = Path(os.environ.pop(FOLDER, own))
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _models_run_once(facts_folder: Path) -> None:
    """What models of speech and vision make of the same sound and picture, they make of it once in
    a session."""
    run_models_once(str(facts_folder))


@pytest.fixture(scope="session")
def measuring_once(facts_folder: Path) -> dict[str, str]:
    """The environment of processes that share what they measure, as their workers do."""
    open_to_workers(str(facts_folder))
    support = str(CHECKOUT / "tests" / "support")
    return {"PYTHONPATH": support, FOLDER: str(facts_folder)}


@pytest.fixture
def measured_once(
    measuring_once: dict[str, str], facts_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process of a test, and those that it starts, share what they measure."""
    monkeypatch.setattr("palprep.facts.probe", probing(str(facts_folder)))
    for name, value in measuring_once.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def warm_workers(
    checkout: Path, facts_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WarmWorkers]:
    """The worker that engines in this process share."""
    temporary = tmp_path_factory.getbasetemp()
    warm = WarmWorkers(reads=[checkout], writes=[temporary], facts=facts_folder)
    yield warm
    warm.end()


@pytest.fixture(scope="session", autouse=True)
def _own_environment() -> Iterator[None]:
    """No setting of the developer's own shell reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("PALPREP_"):
                patch.delenv(name)
        # Other tests have the other cores.
        patch.setenv("PALPREP_JOBS", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _authorities_read_once() -> Iterator[None]:
    """Every client of httpx reads the certificates of all authorities, which takes longer than most
    of what tests ask with it."""
    with pytest.MonkeyPatch.context() as patch:
        read_once = functools.cache(ssl.create_default_context)
        patch.setattr(ssl, "create_default_context", read_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _loopback_only() -> Iterator[None]:
    """Connecting anywhere but to this machine is an error, in every test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and isinstance(address, tuple):
            host = str(address[0])
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                raise RuntimeError(f"a test tried to reach {host}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield
