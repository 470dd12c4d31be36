"""A part of a bucket as a folder of people, on a real S3."""

from __future__ import annotations

from pathlib import Path

import obstore
import pytest
from bucket import KEYS, real_bucket
from obstore.store import S3Store

from palprep.batch.engines.files import fetch_here
from palprep.batch.people.files import promised_kind
from palprep.batch.people.folder import people_in_bucket
from palprep.batch.people.person import read_people
from palprep.batch.runner import run
from palprep.batch.work.consent import spoken_by
from palprep.batch.work.context import RunOptions
from palprep.errors import StorageError, UsageError
from palprep.media.sources import sniff
from palprep.preflight.values import kinds_of
from palprep.values import Role

from .conftest import PACE


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory):
    with real_bucket(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def s3(endpoint, monkeypatch):
    """The real server, named by the environment as anybody would."""
    for name, value in {
        "AWS_ENDPOINT": endpoint,
        "AWS_ALLOW_HTTP": "true",
        **{f"AWS_{key.upper()}": value for key, value in KEYS.items()},
    }.items():
        monkeypatch.setenv(name, value)
    return S3Store("media", endpoint=endpoint, client_options={"allow_http": True}, **KEYS)


@pytest.fixture
def put(s3):
    def put(**files: bytes):
        for name, content in files.items():
            obstore.put(s3, name, content)

    return put


def roles(person) -> dict[Role, str]:
    return {role: str(file) for role, file in person.sources.items()}


def test_names_say_who_has_what(put, tmp_path):
    put(**{
        "a/ada lovelace/IMG_1.jpg": b"x",
        "a/ada lovelace/consent #1.mp4": b"x",
        "a/ada lovelace/take.mov": b"x",
        "a/ada lovelace/notes.txt": b"x",
        "a/ada lovelace/raw/deep.wav": b"x",
        "a/ada lovelace/person.toml":
            b'name = "Ada"\nstatement = "words.txt"\n[files]\nvoice-audio = "raw/deep.wav"\n',
        "a/ada lovelace/words.txt": b"I, {full_name}, agree.",
        "a/Bob/person.toml": b'nmae = "Bob"\n',
        "a/eve/notes.txt": b"x",
        "a/eve/Videos/training.mp4": b"x",
        "a/eve/.cache/training.mp4": b"x",
        "a/eve/.training.mp4.icloud": b"bplist00",
        "a/.hidden/a.wav": b"x",
        "a/readme.txt": b"x",
        "a/fay": b"",
        "a/ada lovelace/raw": b"",
    })  # fmt: skip
    given = people_in_bucket("s3://media/a", tmp_path)
    assert given.loose == ("readme.txt",)
    ada, bob, eve = read_people(given.people, kinds_of)
    assert (ada.slug, ada.name, ada.problems) == ("ada lovelace", "Ada", ())
    assert roles(ada) == {
        Role.FACE_IMAGE: "s3://media/a/ada lovelace/IMG_1.jpg",
        Role.CONSENT_VIDEO: "s3://media/a/ada lovelace/consent #1.mp4",
        Role.VOICE_AUDIO: "s3://media/a/ada lovelace/raw/deep.wav",
    }
    # Beside an image it may be the clip of a live photo.
    assert [*map(str, ada.videos)] == ["s3://media/a/ada lovelace/take.mov"]
    assert ada.statement.read_text() == "I, {full_name}, agree."
    assert ada.unused == ("notes.txt is not used: its name promises no image, audio or video",)
    assert bob.problems[0] == "person.toml: there is no setting nmae; did you mean name?"
    assert bob.unread
    assert eve.problems[0].startswith("no image, audio or video here: move the files from Videos")
    assert eve.overlooked == ("Videos is not used: it is a folder; move what is needed of it here",)
    assert eve.problems[1:] == ("training.mp4 lies in iCloud, and not here: download it",)


def test_texts_that_are_too_large_are_their_own_persons_problem(put, tmp_path, monkeypatch):
    """A statement ended the run of everybody, and settings of any size were read into memory."""
    put(**{
        "t/ada/person.toml": b"#" * 9_000_000,
        "t/ben/person.toml": b'statement = "words.txt"',
        "t/ben/consent.mp4": b"x",
        "t/ben/words.txt": b"I, {full_name}, agree." * 9_000,
        "t/eve/person.toml": b"",
    })  # fmt: skip
    monkeypatch.setattr("palprep.storage.Bucket.fetch", lambda *_, **__: pytest.fail("all of it"))
    ada, ben, eve = read_people(people_in_bucket("s3://media/t", tmp_path).people, kinds_of)
    assert ada.problems[0] == "person.toml is larger than 65,536 bytes: shorten it"
    with pytest.raises(UsageError, match=r"statement.txt has more than 65,536 bytes"):
        spoken_by(ben)
    assert not eve.unread


def test_a_name_promises_each_kind_that_is_read(put, tmp_path):
    """Of a camcorder's video nothing was made."""
    put(**{"m/ada/consent.MTS": b"x", "m/ada/training.mpg": b"x", "m/ada/portrait.HIF": b"x"})
    [ada] = read_people(people_in_bucket("s3://media/m", tmp_path).people, kinds_of)
    assert {*roles(ada)} == {Role.CONSENT_VIDEO, Role.TRAINING_VIDEO, Role.FACE_IMAGE}
    every = {each for kind in sniff._TYPES.values() for each in kind.extensions}
    assert [each for each in sorted(every) if promised_kind(f"a{each}") is None] == []


def test_a_run_fetches_what_it_needs_once(put, tmp_path, wav, connection, engine, log, monkeypatch):
    put(**{"b/ada/recording.wav": wav.read_bytes()})
    options = RunOptions(connection=connection, engine=engine, pace=PACE)
    given = {"into": tmp_path / "out", "options": options}
    [ada] = run("s3://media/b", **given).people
    assert (ada.status, ada.reasons) == ("voice_only", ())
    assert ada.assets[0].source == "s3://media/b/ada/recording.wav"
    assert not (tmp_path / "out/sources").exists()
    monkeypatch.setattr(
        "palprep.batch.engines.files.fetch_here", lambda *_, **__: pytest.fail("again")
    )
    assert run("s3://media/b/", **given).people[0].status == "voice_only"
    assert log.creates == {"voice": 1}


def test_a_file_that_is_replaced_meanwhile_is_no_file_to_be_sent_again(
    put, tmp_path, wav, connection, engine, log, monkeypatch
):
    """The person was to redo it, with exit code 1, and a message to this person was written."""
    put(**{"r/ada/recording.wav": wav.read_bytes()})

    def replaced_first(*args: object):
        put(**{"r/ada/recording.wav": wav.read_bytes() + b"\0\0"})
        return fetch_here(*args)

    given = {
        "into": tmp_path / "out",
        "options": RunOptions(connection=connection, engine=engine, pace=PACE),
    }
    with monkeypatch.context() as patch:
        patch.setattr("palprep.batch.work.originals.fetch_here", replaced_first)
        [ada] = run("s3://media/r", **given).people
    assert (ada.status, ada.blocked_by) == ("failed", ("storage_failed",))
    assert "recording.wav changed while palprep worked on it; run again" in ada.reasons[0]
    assert run("s3://media/r", **given).people[0].status == "voice_only"
    assert log.creates == {"voice": 1}


def test_a_bucket_with_nobody(put, tmp_path):
    with pytest.raises(UsageError, match="s3://media/nobody holds nobody"):
        people_in_bucket("s3://media/nobody", tmp_path)
    put(**{"c/portrait.jpg": b"x"})
    with pytest.raises(UsageError, match="and move its 1 media file there"):
        people_in_bucket("s3://media/c", tmp_path)


def test_a_bucket_that_cannot_be_read(s3, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StorageError, match="credentials are not accepted"):
        people_in_bucket("s3://media/a", tmp_path)
