"""Files of strangers: odd names, what is no file, what takes too much. The others go on."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from .conftest import SCRIPT, Palprep

CUT = b"\xff\xd8\xff\xe0\x00\x10JFIF"
"""How a JPEG begins."""

LOCALES = {
    "as shells set it": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "utf-8:strict"},
    "none": {"LC_ALL": "C"},
    "Latin-1": {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1:strict"},
}


@pytest.fixture
def _measured_once() -> None:
    """Each command measures its files itself."""


def run(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command, and its output as it came."""
    done = subprocess.run(
        [SCRIPT, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("locale", LOCALES)
def test_names_that_are_not_utf_8(tmp_path: Path, locale: str) -> None:
    names = [b"caf\xe9.jpg", "café “ada”.jpg".encode(), b"plain.jpg"]
    paths = [os.fsencode(tmp_path) + b"/" + name for name in names]
    for path in paths:
        Path(os.fsdecode(path)).write_bytes(CUT)
    done = run("check", "--json", *paths, **LOCALES[locale])
    assert done.returncode == 1
    seen = [json.loads(line)["path"] for line in done.stdout.decode("utf-8").splitlines()]
    assert [os.fsencode(each) for each in seen] == paths
    fixed = run("fix", "--json", "--into", tmp_path / "out", *paths, **LOCALES[locale])
    entries = [json.loads(line) for line in fixed.stdout.decode("utf-8").splitlines()]
    assert [os.fsencode(each["path"]) for each in entries] == paths
    shown = run("check", *paths, **LOCALES[locale])
    assert rb"caf\xe9.jpg" in shown.stdout
    assert shown.stdout.count(b"FAIL") == 3


def test_nothing_gives_a_terminal_orders(tmp_path: Path) -> None:
    names = ["clear\x1b[2J.jpg", "title\x1b]0;x\x07.jpg", "gpj.\u202eada.jpg", "c1\x9b1m.jpg"]
    for name in names:
        (tmp_path / name).write_bytes(CUT)
    missing = str(tmp_path / "gone\x1b[31m.jpg")
    log = str(tmp_path / "log")
    for arguments in (
        ("check", str(tmp_path)),
        ("check", str(tmp_path), "--json"),
        ("check", missing),
        ("check", missing, "--json"),
        ("fix", str(tmp_path), "--into", str(tmp_path / "out"), "--verbose", "--log-file", log),
    ):
        done = run(*arguments)
        said = done.stdout.decode("utf-8") + done.stderr.decode("utf-8")
        assert (
            r"\x1b[2J" in said
            or r"\u001b[2J" in said
            or r"gone\x1b[31m" in said
            or (r"gone\u001b[31m" in said)
        )
        assert not set(said) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert not set(Path(log).read_text("utf-8")) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_what_is_no_file_is_refused_at_once(tmp_path: Path, palprep: Palprep) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "link.mp4").symlink_to(tmp_path / "pipe.jpg")
    (tmp_path / "null.wav").symlink_to("/dev/null")
    (tmp_path / "zero.wav").symlink_to("/dev/zero")
    names = ["link.mp4", "null.wav", "pipe.jpg", "zero.wav"]
    for arguments in ([tmp_path], [tmp_path / name for name in names]):
        done = palprep("check", "--json", *arguments)
        assert [Path(each["path"]).name for each in done.objects] == names
        assert {each["error"]["code"] for each in done.objects} == {"file_unreadable"}
        assert done.code == 1


def test_a_file_that_takes_too_much_memory(tmp_path: Path, script: Palprep) -> None:
    portrait = Path(__file__).parents[2] / "sample_media/people/anna-miller/portrait.png"
    (tmp_path / "cut.jpg").write_bytes(CUT)
    files = (portrait, tmp_path / "cut.jpg")
    done = script("check", "--json", *files, "--memory-limit", "150MB")
    assert [each["error"]["code"] for each in done.objects] == ["media_too_heavy", "media_damaged"]
    assert "more than 143 MiB of memory" in done.objects[0]["error"]["message"]
    into = tmp_path / "out"
    done = script("fix", "--json", *files, "--into", into, "--memory-limit", "150MB")
    assert [each["error"]["code"] for each in done.objects] == ["media_too_heavy", "media_damaged"]
    assert done.code == 1
    assert not into.exists()


def test_a_file_that_takes_too_long(script: Palprep) -> None:
    video = Path(__file__).parents[2] / "sample_media/people/jane-carter/training.mp4"
    done = script("check", video, "--time-limit", "1")
    assert done.code == 1
    assert "takes longer than 1 s of processor time and was stopped" in done.out


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--time-limit", "0", "must be more than 0"),
        ("--time-limit", "soon", "is no duration"),
        ("--memory-limit", "0", "is no size"),
        ("--memory-limit", "much", "is no size"),
        ("--memory-limit", "1KB", "at least 1MiB"),
    ],
)
def test_limits_that_make_no_sense(palprep: Palprep, option: str, value: str, says: str) -> None:
    done = palprep("check", "any.jpg", option, value)
    assert done.code == 2
    assert says in done.err


def test_what_libraries_warn_of_is_for_the_log(tmp_path: Path, script: Palprep) -> None:
    """Pillow warns of an animation without frames."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    path, log = tmp_path / "odd.png", tmp_path / "log"
    rows = b"".join(b"\0" + bytes(3 * 64) for _ in range(64))
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
        + chunk(b"acTL", struct.pack(">II", 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    done = script("check", path, "--log-file", log)
    assert "1 file: 1 failed." in done.err
    assert "APNG" not in done.err
    assert "DEBUG palprep.workers.worker: " in log.read_text()
    assert "UserWarning: Invalid APNG" in log.read_text()


def test_an_address_is_no_file(palprep: Palprep) -> None:
    done = palprep("check", "http://host.example/ada.jpg")
    assert "http://host.example/ada.jpg is an address, and no file: download it first" in done.err
    assert done.code == 2
