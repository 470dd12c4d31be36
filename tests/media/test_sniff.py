from __future__ import annotations

import os
import struct
import time
from pathlib import Path

import pillow_heif
import pytest
from heard import heard_audio, heard_video

from palprep.errors import FileMissing, FileUnreadable
from palprep.media.sources.source import Source
from palprep.values import Kind

from .conftest import sine


@pytest.mark.parametrize(("form", "name"), [("JPEG", "jpeg"), ("PNG", "png"), ("WEBP", "webp")])
def test_stills_are_known_whatever_they_are_called(tmp_path, picture, form, name):
    path = tmp_path / "holiday.mp3"
    picture.save(path, form)
    found = Source.of(path).type
    assert (found.kind, found.format, found.accepted) == (Kind.IMAGE, name, True)
    assert found.extensions
    assert all(extension.startswith(".") for extension in found.extensions)


def test_heic_and_its_generic_brand(tmp_path, picture):
    path = tmp_path / "a.heic"
    pillow_heif.from_pillow(picture).save(path)
    assert Source.of(path).type.format == "heic"
    data = path.read_bytes()
    length = struct.unpack(">I", data[:4])[0]
    generic = struct.pack(">I", 20) + b"ftypmif1\0\0\0\0mif1" + data[length:]
    path.write_bytes(generic)
    assert Source.of(path).type.format == "heif"
    path.write_bytes(struct.pack(">I", 20) + b"ftypmif1\0\0\0\0avif" + data[length:])
    assert (Source.of(path).type.format, Source.of(path).type.accepted) == ("avif", False)


@pytest.mark.parametrize(
    ("name", "sound_only", "expected"),
    [
        ("a.mp4", False, (Kind.VIDEO, "mp4")),
        ("a.mp4", True, (Kind.AUDIO, "m4a")),
        ("a.mov", False, (Kind.VIDEO, "mov")),
        ("a.mov", True, (Kind.AUDIO, "mov")),
        ("a.webm", False, (Kind.VIDEO, "webm")),
        ("a.webm", True, (Kind.AUDIO, "webm")),
    ],
)
def test_brand_and_tracks_decide(make_video, make_sound, name, sound_only, expected):
    if sound_only:
        made = make_sound(name, sine(0.3, 48_000), codec="libopus" if "webm" in name else "aac")
    else:
        made = make_video(name, codec="libvpx" if "webm" in name else "libx264", seconds=0.2)
    disguised = made.rename(made.with_name("x.jpg"))
    found = Source.of(disguised).type
    assert (found.kind, found.format) == expected
    assert found.accepted


@pytest.mark.parametrize(
    ("name", "codec", "form"),
    [
        ("a.mp3", "libmp3lame", "mp3"),
        ("a.flac", "flac", "flac"),
        ("a.ogg", "libopus", "ogg"),
        ("a.wav", "pcm_s16le", "wav"),
        ("a.aac", "aac", "aac"),
    ],
)
def test_recordings(make_sound, tmp_path, name, codec, form):
    made = make_sound(name, sine(0.5, 48_000), codec=codec)
    assert (Source.of(made).type.kind, Source.of(made).type.format) == (Kind.AUDIO, form)


def test_an_aac_stream_with_checksums(make_sound):
    made = make_sound("a.aac", sine(0.5, 48_000), codec="aac")
    data, checked = made.read_bytes(), b""
    while data:
        length = (data[3] & 3) << 11 | data[4] << 3 | data[5] >> 5
        longer = int.from_bytes(data[3:6], "big") + (2 << 5)  # Two bytes more, for the checksum.
        head = (
            data[:1] + bytes([data[1] & 0xFE]) + data[2:3] + longer.to_bytes(3, "big") + data[6:7]
        )
        checked += head + b"\0\0" + data[7:length]
        data = data[length:]
    made.write_bytes(checked)
    source = Source.of(made)
    assert (source.type.kind, source.type.format) == (Kind.AUDIO, "aac")
    assert heard_audio(source).duration_s == pytest.approx(0.5, abs=0.05)


def test_mp3_with_and_without_a_tag(make_sound, tmp_path):
    made = make_sound("a.mp3", sine(0.5, 48_000), codec="libmp3lame")
    data = made.read_bytes()
    assert data[:3] == b"ID3"
    bare = data[10 + int("".join(f"{byte:07b}" for byte in data[6:10]), 2) :]
    for padding in (b"", bytes(500)):
        made.write_bytes(padding + bare)
        assert Source.of(made).type.format == "mp3"
    # A tag longer than what is looked at by default, as with a large cover.
    tag = b"ID3\x04\0\0" + bytes([0, 8, 0, 0]) + bytes(8 << 14)
    made.write_bytes(tag + bare)
    assert Source.of(made).type.format == "mp3"


@pytest.mark.parametrize(
    ("name", "codec", "sound", "form"),
    [
        ("a.mkv", "libx264", "libopus", "mkv"),
        ("a.avi", "mjpeg", "pcm_s16le", "avi"),
        ("a.mpg", "mpeg2video", "mp2", "mpg"),
        ("a.ts", "libx264", "aac", "mts"),
        ("a.3gp", "libx264", "aac", "3gp"),
    ],
)
def test_what_cameras_and_recorders_write_can_be_read(make_video, name, codec, sound, form):
    pixels = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    made = make_video(
        name, codec=codec, pix_fmt=pixels, sound=sine(1.0, 48_000), sound_rate=48_000,
        sound_codec=sound,
    )  # fmt: skip
    source = Source.of(made)
    assert (source.type.kind, source.type.format) == (Kind.VIDEO, form)
    facts = heard_video(source)
    assert facts.frames == 25
    assert facts.frame_rate == pytest.approx(25.0, rel=0.01)
    assert facts.audio.duration_s == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.caf", "pcm_s16le"), ("a.aiff", "pcm_s16be"), ("a.3gp", "aac"), ("a.mka", "libopus")],
)
def test_voice_notes_and_recordings_of_editors_can_be_read(make_sound, name, codec):
    source = Source.of(make_sound(name, sine(1.0, 48_000), codec=codec))
    assert (source.type.kind, source.type.format) == (Kind.AUDIO, name.removeprefix("a."))
    assert heard_audio(source).duration_s == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("lacking", "told"), [(0, False), (1_000, False), (5_000, True)])
@pytest.mark.parametrize("name", ["a.aiff", "a.wav", "a.avi"])
def test_a_file_of_chunks_that_was_cut_off_says_so(make_sound, make_video, name, lacking, told):
    if name == "a.avi":
        made = make_video(name, codec="mjpeg", pix_fmt="yuvj420p", size=(320, 240))
    else:
        made = make_sound(name, sine(3.0, 48_000), codec=f"pcm_s16{'be' if 'f' in name else 'le'}")
    made.write_bytes(made.read_bytes()[: made.stat().st_size - lacking])
    assert Source.of(made).content.truncated == told


@pytest.mark.parametrize(
    ("stated", "behind", "told"),
    [
        (0, b"", False),  # Nothing is stated by who writes into a pipe: FFmpeg reads to the end.
        (200_000, b"", True),
        (288_000, b"", False),
        (288_000, b"LIST" + bytes(9_000), False),
        (288_000, b"ID3\x04" + bytes(9_000), False),
        (288_000, bytes(9_000), False),
    ],
)
def test_a_wav_whose_header_was_written_before_its_end_says_so(make_sound, stated, behind, told):
    made = make_sound("a.wav", sine(3.0, 48_000), codec="pcm_s16le")
    front, samples = made.read_bytes().split(b"data", 1)
    assert samples[:4] == (288_000).to_bytes(4, "little")
    made.write_bytes(front + b"data" + stated.to_bytes(4, "little") + samples[4:] + behind)
    assert Source.of(made).content.truncated == told


@pytest.mark.parametrize("form", ["mpeg", "vob"])
@pytest.mark.parametrize(
    ("end", "told"), [(b"", False), (b"\0\0\1\xb9", False), (bytes(2_048), False), (None, True)]
)
def test_a_program_stream_that_ends_within_a_packet_is_cut_off(make_video, form, end, told):
    made = make_video(
        "a.mpg", codec="mpeg2video", size=(320, 240), sound=sine(1.0, 48_000), sound_rate=48_000,
        sound_codec="ac3", form=form,
    )  # fmt: skip
    content = made.read_bytes()
    made.write_bytes(content[: len(content) // 2 + 1] if end is None else content + end)
    assert Source.of(made).content.truncated == told


def test_amr_of_an_old_phone_can_be_read(tmp_path):
    path = tmp_path / "note.amr"
    frame = b"\x3c" + bytes(31)  # 20 ms at 12.2 kbit/s (RFC 4867, section 5)
    path.write_bytes(b"#!AMR\n" + 50 * frame)
    source = Source.of(path)
    assert (source.type.kind, source.type.format) == (Kind.AUDIO, "amr")
    facts = heard_audio(source)
    assert facts.duration_s == pytest.approx(1.0, abs=0.05)
    assert facts.stream.sample_rate_hz == 8_000


REFUSED = {
    "empty": b"",
    "gif": b"GIF89a\x01\x00\x01\x00",
    "bmp": b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0",
    "tiff": b"II*\0\x08\0\0\0",
    "matroska": b"\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska",
    "hls-playlist": b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
    "concat-playlist": b"ffconcat version 1.0\nfile /etc/passwd\n",
    "dash-manifest": b'<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">',
    "svg": b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "y">]><svg/>',
    "html": b"<!DOCTYPE html><p>",
    "pdf": b"%PDF-1.7\n",
    "asf": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    "zip": b"PK\x03\x04\x14",
    "cr3": b"\0\0\0\x14ftypcrx \0\0\0\0crx ",
    "text": "Just an äccented note\n".encode(),
    "unknown": bytes(range(128, 256)) * 3,
}


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_named_and_refused(tmp_path, name):
    path = tmp_path / "video.mp4"
    path.write_bytes(REFUSED[name])
    found = Source.of(path).type
    assert (found.format, found.kind, found.accepted) == (name, Kind.OTHER, False)
    assert found.extensions == ()


def test_a_concat_script_without_its_header_is_no_mere_text(tmp_path):
    path = tmp_path / "video.mp4"
    path.write_text("# my list\nfile '/etc/passwd'\n")
    assert Source.of(path).type.format == "concat-playlist"


def test_a_page_of_comments_is_recognised_at_once(tmp_path):
    """Each comment more took twice as long: a saved page kept a worker busy until it was ended."""
    path, began = tmp_path / "page.html", time.process_time()
    path.write_text("<!DOCTYPE html><html><body>" + "<!-- part --> <p>text</p>\n" * 24)
    assert Source.of(path).type.format == "html"
    assert time.process_time() - began < 1
    path.write_text("<?xml version='1.0'?><!-- a > b -->\n" + "<!-- c -->" * 60 + "<MPD>")
    assert Source.of(path).type.format == "dash-manifest"
    path.write_text("<!-- c -->" * 600 + "<note>")
    assert Source.of(path).type.format == "text"


def test_text_that_ends_inside_a_letter_is_still_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("€".encode() * 30_000)
    assert Source.of(path).type.format == "text"


def test_folder_missing_and_unreadable(tmp_path):
    folder = tmp_path / "x.jpg"
    folder.mkdir()
    with pytest.raises(FileMissing, match="is a folder"):
        Source.of(folder)
    with pytest.raises(FileMissing, match="does not exist"):
        Source.of(tmp_path / "gone.jpg")
    (tmp_path / "link.jpg").symlink_to("gone.jpg")
    with pytest.raises(FileMissing, match=r"link\.jpg is a link to what is not there"):
        Source.of(tmp_path / "link.jpg")
    with pytest.raises(FileMissing, match="no possible file name"):
        Source.of(Path("a\0b"))
    with pytest.raises(FileMissing, match=r"https://e\.com/a\.jpg is an address") as address:
        Source.of("https://e.com/a.jpg?X-Amz-Signature=hush")
    assert "hush" not in address.value.message
    os.mkfifo(tmp_path / "pipe.mp4")
    with pytest.raises(FileUnreadable, match=r"no regular file .*: give a file"):
        Source.of(tmp_path / "pipe.mp4")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_permission_denied(tmp_path, picture):
    path = tmp_path / "a.jpg"
    picture.save(path)
    path.chmod(0)
    with pytest.raises(FileUnreadable, match="permissions"):
        Source.of(path)


def test_ogg_with_pictures_is_a_video(tmp_path):
    page = b"OggS\0\x02" + bytes(20) + b"\x01\x2a" + b"\x80theora" + bytes(35)
    path = tmp_path / "a.ogg"
    path.write_bytes(page)
    assert Source.of(path).type.kind is Kind.VIDEO
    path.write_bytes(page.replace(b"\x80theora", b"\x01vorbis"))
    assert Source.of(path).type.kind is Kind.AUDIO
