"""Tags, chapters and edits of recordings and videos: how many there may be."""

from __future__ import annotations

import importlib
import struct
from contextlib import nullcontext

import pytest
from heard import heard_audio

from palprep.errors import DamagedMedia
from palprep.media.container import demuxer_of, glimpse, open_container
from palprep.media.sources.bounds import MOST_STEPS, TAG_STEPS, HeaderReader, require_few_tags
from palprep.media.sources.source import Source

MOST_TAGS = MOST_STEPS // (TAG_STEPS + 1) - 10
"""With a step for the header of each, and some for those of the file."""


def of_seven_bits(size):
    return bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))


def looked_at(path):
    source = Source.of(path)
    with path.open("rb") as file:
        require_few_tags(HeaderReader(file, source.size_bytes, path.name), demuxer_of(source))


def tagged(version, count):
    """A tag of ``count`` frames with names of their own, and a little padding."""
    texts = [b"\0name %d\0value" % number for number in range(count)]
    if version == 2:
        frames = [b"TXX" + len(text).to_bytes(3, "big") + text for text in texts]
    elif version == 3:
        frames = [b"TXXX" + len(text).to_bytes(4, "big") + b"\0\0" + text for text in texts]
    else:
        frames = [b"TXXX" + of_seven_bits(len(text)) + b"\0\0" + text for text in texts]
    body = b"".join(frames) + bytes(64)
    return b"ID3" + bytes([version, 0, 0]) + of_seven_bits(len(body)) + body


@pytest.mark.parametrize("version", [2, 3, 4])
def test_more_tags_than_any_recording_has_are_refused(tmp_path, version):
    path = tmp_path / "x.mp3"
    path.write_bytes(tagged(version, MOST_TAGS))
    looked_at(path)
    path.write_bytes(tagged(version, MOST_TAGS + 300))
    with pytest.raises(DamagedMedia, match="more headers, tags"):
        looked_at(path)


def test_flac_says_how_many_comments_it_holds(tmp_path):
    path = tmp_path / "x.flac"
    for count, refused in ((MOST_TAGS, False), (MOST_TAGS + 300, True)):
        comments = (3).to_bytes(4, "little") + b"who" + count.to_bytes(4, "little")
        blocks = bytes([0, 0, 0, 34]) + bytes(34) + b"\x84" + len(comments).to_bytes(3, "big")
        path.write_bytes(b"fLaC" + blocks + comments)
        if refused:
            with pytest.raises(DamagedMedia, match="more headers, tags"):
                looked_at(path)
        else:
            looked_at(path)


def test_the_refusal_comes_before_a_library_looks(tmp_path):
    path = tmp_path / "x.mp3"
    path.write_bytes(tagged(4, 100_000))
    with pytest.raises(DamagedMedia, match="tags"):
        heard_audio(Source.of(path))


@pytest.mark.parametrize(
    "content", [b"ID3", b"ID3\4\0\0\0\0\0\x7f", b"ID3\4\0\0\x7f\x7f\x7f\x7fTXXX"]
)
def test_what_breaks_off_has_few(tmp_path, content):
    path = tmp_path / "x.mp3"
    path.write_bytes(content)
    with path.open("rb") as file:
        require_few_tags(HeaderReader(file, len(content), path.name), "mp3")


@pytest.fixture
def bombs():
    return importlib.import_module("research.hostile.bomb_files")


LISTS = (
    *("tags.wav", "cues.wav", "tags.avi", "comments.ogg", "flac.ogg", "behind-id3.flac"),
    *("tags.aiff", "strings.caf"),
    *("items.m4a", "keys.mp4", "user-data.m4a", "tags.mkv", "chapters.mkv", "attachments.mkv"),
)


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_counted_in_every_container(tmp_path, bombs, name):
    few, many = tmp_path / f"few-{name}", tmp_path / name
    bombs.LISTS[name](few, 500)
    with open_container(Source.of(few)) as container:
        assert container.streams
    bombs.LISTS[name](many, MOST_TAGS + 300)
    with pytest.raises(DamagedMedia, match="tags, chapters or edits"):
        looked_at(many)
    assert glimpse(Source.of(many)) == (0.0, False)


def test_no_more_packets_are_listed_than_there_are_bytes(tmp_path, bombs):
    path = tmp_path / "packets.caf"
    bombs.BOMBS[path.name](path)
    with pytest.raises(DamagedMedia, match="more packets than bytes"):
        looked_at(path)


def test_edits_count_by_what_their_box_says(tmp_path, bombs):
    path = tmp_path / "edits.mp4"
    bombs.BOMBS["edits.mp4"](path)
    with pytest.raises(DamagedMedia, match="edits"):
        looked_at(path)


def test_a_list_that_matroska_names_behind_the_media_is_found(tmp_path, bombs):
    path = tmp_path / "tags.mkv"
    bombs.LISTS["tags.mkv"](path, MOST_TAGS + 300)
    data = path.read_bytes()
    seek_head_bytes = 54
    cluster = data.index(bytes.fromhex("1F43B675"))
    start = data.rindex(bytes.fromhex("1254C367"), 0, cluster)
    segment = data.index(bytes.fromhex("18538067")) + 12
    element = bombs.bomb_boxes.element
    sought = element(
        0x114D9B74,
        element(
            0x4DBB,
            element(0x53AB, bytes.fromhex("1254C367")),
            element(
                0x53AC, struct.pack(">Q", len(data) - (cluster - start) - segment + seek_head_bytes)
            ),
        ),
    )
    tail = data[cluster:] + data[start:cluster]
    path.write_bytes(data[:segment] + sought + data[segment:start] + tail)
    with pytest.raises(DamagedMedia, match="tags"):
        looked_at(path)


def ogg_page(packet: bytes, number: int, stream: bytes = b"one\0") -> bytes:
    laced = bytes([255] * (len(packet) // 255) + [len(packet) % 255])
    head = b"OggS\0\0" + bytes(8) + stream + struct.pack("<II", number, 0)
    return head + bytes([len(laced)]) + laced + packet


def test_comments_of_speex_are_in_its_second_page(tmp_path):
    """Another stream's page may come between, and so may the end of what is read at a time."""
    first = ogg_page(b"Speex   1.2".ljust(80, b"\0"), 0)
    between = ogg_page(b"another".ljust(9_000, b"\0"), 0, b"two\0") * 116
    path = tmp_path / "a.ogg"
    for many in (300, MOST_TAGS + 300):
        comments = struct.pack("<I", 3) + b"abc" + struct.pack("<I", many)
        content = first + between + ogg_page(comments.ljust(200, b"\0"), 1)
        path.write_bytes(content)
        with (
            path.open("rb") as file,
            pytest.raises(DamagedMedia, match="tags") if many > MOST_TAGS else nullcontext(),
        ):
            require_few_tags(HeaderReader(file, len(content), path.name), "ogg")


def test_what_hides_its_number_of_comments_is_refused(tmp_path, bombs):
    path = tmp_path / "a.ogg"
    data = bombs.bomb_recordings.base(path, sound="libopus")
    at = data.index(b"OpusTags") + 8
    path.write_bytes(data[:at] + struct.pack("<I", 70_000) + data[at + 4 :])
    with pytest.raises(DamagedMedia, match="comments that hide"):
        looked_at(path)
