"""Files from elsewhere: fetched once, just in time, and again only when they have changed."""

from __future__ import annotations

import hashlib
import http.server
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

import pytest

from palprep.batch.engines.tasks import AssetTask, prepare_asset
from palprep.batch.people.manifest_rows import ManifestRow
from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.journal import Journal
from palprep.journal.entries.bodies import FileFetched
from palprep.media.sources import Source
from palprep.values import Role

from .conftest import PACE


class Shelf:
    """A web server on loopback. Without ``tags`` nothing tells that a file has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tags = True
        self.url = ""

    def answer(self, asked: http.server.BaseHTTPRequestHandler) -> None:
        path = self.folder / unquote(asked.path.partition("?")[0].lstrip("/"))
        if not path.is_file():
            asked.send_error(404)
            return
        body = path.read_bytes()
        asked.send_response(200)
        asked.send_header("Content-Length", str(len(body)))
        if self.tags:
            asked.send_header("ETag", f'"{hashlib.md5(body).hexdigest()}"')  # noqa: S324
        asked.end_headers()
        with suppress(OSError):  # Often only the head is wanted.
            asked.wfile.write(body)


@contextmanager
def serving(shelf: Shelf):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shelf.answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        shelf.url = f"http://127.0.0.1:{server.server_port}"
        yield shelf
        server.shutdown()
        thread.join()


@pytest.fixture
def shelf(tmp_path, wav):
    place = tmp_path / "shelf"
    place.mkdir()
    (place / "a voice.wav").write_bytes(wav.read_bytes())
    with serving(Shelf(place)) as running:
        yield running


@pytest.fixture
def make(shelf, tmp_path, connection, engine):
    """Run for Ada, whose recording lies on the shelf."""

    def start(query: str = "?signature=secret", name: str = "a%20voice.wav", **options):
        row = ManifestRow(person="ada", voice_audio=f"{shelf.url}/{name}{query}")
        given = RunOptions(**{"connection": connection, "engine": engine, "pace": PACE, **options})
        [person] = run([row], into=tmp_path / "out", options=given).people
        return person

    return start


def fetched(out: Path) -> list[FileFetched]:
    with Journal.of(out) as journal:
        return [entry.body for entry in journal.entries(FileFetched)]


@pytest.fixture
def no_more(monkeypatch):
    """Call it, and whatever is fetched from then on fails the test."""

    def fail(*_: object, **__: object) -> None:
        pytest.fail("fetched again")

    return lambda: monkeypatch.setattr("palprep.batch.engines.files.fetch_here", fail)


def test_a_file_is_fetched_prepared_and_gone(make, shelf, out, log):
    ada = make()
    assert (ada.status, ada.reasons) == ("voice_only", ())
    assert ada.result.assets[0].path.startswith(str(out / "prepared/ada/voice-audio/"))
    assert ada.assets[0].source == f"{shelf.url}/a%20voice.wav"
    assert not (out / "sources").exists()
    [body] = fetched(out)
    assert body.sha256 == hashlib.sha256((shelf.folder / "a voice.wav").read_bytes()).hexdigest()
    assert log.creates == {"voice": 1}


def test_what_is_shown_of_a_source_is_drawn_while_it_is_here(sample_media, tmp_path):
    here = Source.of(sample_media / "people/jane-carter/portrait.heic")
    drawn = []
    for place in (str(here.path), "https://example.org/portrait.heic"):
        pictures = tmp_path / str(len(drawn))
        task = AssetTask(
            source=place, into=str(tmp_path / "in"), role=Role.FACE_IMAGE, profile="core-4",
            pictures=str(pictures),
        )  # fmt: skip
        prepare_asset(task, here)
        drawn.append({each.name for each in pictures.iterdir()})
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 3


def test_no_signature_is_written_down(make, out):
    make()
    written = [p for p in out.rglob("*") if p.is_file() and p.parent.name != "sandbox"]
    assert any(b"a%20voice.wav" in path.read_bytes() for path in written)
    assert [path for path in written if b"signature=secret" in path.read_bytes()] == []


def test_an_unchanged_file_is_not_fetched_again(make, no_more, log):
    make()
    no_more()
    assert make(query="?signature=another").status == "voice_only"
    assert log.creates == {"voice": 1}


def test_a_changed_file_is_fetched_again(make, shelf, out, log):
    make()
    path = shelf.folder / "a voice.wav"
    path.write_bytes(path.read_bytes()[:-40_000])
    assert make().status == "voice_only"
    assert len({body.sha256 for body in fetched(out)}) == 2
    assert log.creates == {"voice": 2}


def test_without_a_tag_it_is_fetched_every_time(make, shelf, out, log):
    shelf.tags = False
    make()
    make()
    assert len(fetched(out)) == 2
    assert log.creates == {"voice": 1}


def test_what_is_kept_is_used_again(make, no_more, shelf, out):
    make(keep_sources=True, dry_run=True)
    [kept] = (out / "sources/ada").iterdir()
    assert kept.read_bytes() == (shelf.folder / "a voice.wav").read_bytes()
    for path in (out / "prepared").rglob("*.wav"):
        path.unlink()
    no_more()
    assert make(keep_sources=True).status == "voice_only"


def test_a_file_that_is_gone_is_that_persons_failure(make, shelf, out):
    ada = make(name="gone.wav")
    assert ada.status == "failed"
    assert ada.reasons == (
        f"{shelf.url}/gone.wav cannot be fetched, with status 404: there is no such file",
    )
