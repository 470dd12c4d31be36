from __future__ import annotations

import errno
import io
import os
import socket

import av
import pytest
from heard import heard_audio, heard_video

from palprep.errors import (
    DamagedMedia,
    FileMissing,
    FileUnreadable,
    MediaTooHeavy,
    UnsupportedMedia,
)
from palprep.media.container import open_container, video_stream
from palprep.media.sound.decoding import audio_streams
from palprep.media.sources.bounds import HeaderReader
from palprep.media.sources.isobmff import read_movie
from palprep.media.sources.sniff import Content, accepted
from palprep.media.sources.source import Source
from palprep.values import Kind

from .conftest import sine


def test_a_playlist_is_refused_and_its_target_never_read(tmp_path, make_video):
    target = make_video("secret.mp4")
    for text in (
        f"#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\nfile://{target}\n#EXT-X-ENDLIST\n",
        f"ffconcat version 1.0\nfile '{target}'\n",
    ):
        path = tmp_path / "video.mp4"
        path.write_text(text)
        with (
            pytest.raises(UnsupportedMedia, match="a list of other files"),
            open_container(Source.of(path)),
        ):
            pass
        # Even if sniffing were fooled, the forced demuxer reads no playlist.
        fooled = taken_for(path, accepted(Kind.VIDEO, "mp4"))
        with pytest.raises(DamagedMedia), open_container(fooled):
            pass


def test_memory_that_runs_out_is_no_damage(make_video):
    source = Source.of(make_video("long.mp4"))
    with (
        pytest.raises(MediaTooHeavy, match="takes more memory than this machine gives"),
        open_container(source),
    ):
        av.error.err_check(-errno.ENOMEM)  # As of any call of FFmpeg's.


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EMFILE])
def test_a_system_that_gives_no_more_is_no_damage(make_video, number):
    source = Source.of(make_video("long.mp4"))
    with pytest.raises(FileUnreadable, match=os.strerror(number)), open_container(source):
        av.error.err_check(-number)  # As of any call of FFmpeg's.


@pytest.mark.parametrize(("disk_fails", "kind"), [(True, FileUnreadable), (False, DamagedMedia)])
def test_a_disk_that_fails_is_no_damage(make_video, disk_fails, kind):
    """FFmpeg reports both as an input or output error."""

    class Disk(io.FileIO):
        def readinto(self, buffer):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    class Failing(Source):
        def open(self):
            return Disk(self.path) if opened and disk_fails else super().open()

    def read():
        with open_container(Failing.of(path)):
            opened.append(True)
            av.error.err_check(-errno.EIO)

    opened, path = [], make_video("long.mp4")
    with pytest.raises(kind, match=os.strerror(errno.EIO)):
        read()


def taken_for(path, kind):
    """A source of which another kind was found than it has."""
    source = Source.of(path)
    vars(source)["content"] = Content(kind)
    return source


def test_no_connection_is_made_for_a_session_description(tmp_path):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.2)
        port = server.getsockname()[1]
        path = tmp_path / "a.webm"
        path.write_text(f"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:{port}/a.ts\n#EXT-X-ENDLIST\n")
        fooled = taken_for(path, accepted(Kind.VIDEO, "webm"))
        with pytest.raises(DamagedMedia), open_container(fooled):
            pass
        with pytest.raises(TimeoutError):
            server.accept()


def test_names_that_look_like_protocols_are_names(make_wav, tmp_path, monkeypatch):
    made = make_wav(sine(0.2))
    monkeypatch.chdir(tmp_path)
    for name in ("concat:a.wav|b.wav", "-i", "a%03d.wav", "ünï.wav"):
        path = made.rename(name)
        assert heard_audio(Source.of(path)).duration_s == pytest.approx(0.2)
        made = path


def test_what_fails_while_reading_becomes_damaged_media(make_video):
    path = make_video()
    with (
        pytest.raises(DamagedMedia, match=r"a\.mp4 .* cannot be read \(sample rate\)"),
        open_container(Source.of(path)),
    ):
        raise ValueError("sample rate")


def test_palprep_errors_pass_unchanged(make_video):
    path = make_video()
    with pytest.raises(FileMissing, match="mine"), open_container(Source.of(path)):
        raise FileMissing("mine")


def test_external_references_are_seen_and_not_followed(make_video, tmp_path):
    """A data reference that names another file: `alis` without the self-contained flag."""
    path = make_video("a.mov")
    data = path.read_bytes()
    at = data.index(b"dref")
    entry = data.index(b"url ", at)
    changed = bytearray(data)
    changed[entry + 4 : entry + 8] = bytes(4)
    path.write_bytes(changed)
    with path.open("rb") as file:
        assert read_movie(HeaderReader(file, len(data), path.name)).tracks[0].external
    with open_container(Source.of(path)) as container:
        assert video_stream(container, Source.of(path)).codec_context is not None
    # Where the picture is not in this file either, that is what is said of it.
    start, end = changed.index(b"mdat") + 4, changed.index(b"moov") - 4
    changed[start:end] = bytes(end - start)
    path.write_bytes(changed)
    with pytest.raises(DamagedMedia, match="it refers to another file for its picture"):
        heard_video(Source.of(path))


def test_without_pictures_the_streams_are_the_same(make_video):
    path = make_video(seconds=0.4, sound=sine(0.4))
    told = []
    for pictures in (True, False):
        with open_container(Source.of(path), analyse_frames=pictures) as container:
            picture = video_stream(container, Source.of(path))
            described = picture.codec_context.name, picture.duration, picture.average_rate
            told.append((described, audio_streams(container)))
            # Asked for all the same, the pictures are there.
            assert sum(1 for _ in container.decode(picture)) == 10
    assert told[0] == told[1]
