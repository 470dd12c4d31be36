"""Tags of recordings: how many there may be."""

from __future__ import annotations

import pytest

from palprep.errors import DamagedMedia
from palprep.media.audio import probe_audio
from palprep.media.source import Source
from palprep.media.tags import MOST_TAGS, require_few_tags


def of_seven_bits(size):
    return bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))


def looked_at(path):
    with path.open("rb") as file:
        require_few_tags(file, path.name)


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
    path.write_bytes(tagged(version, MOST_TAGS + 1))
    with pytest.raises(DamagedMedia, match="more than 10,000 tags"):
        looked_at(path)


def test_flac_says_how_many_comments_it_holds(tmp_path):
    path = tmp_path / "x.flac"
    for count, refused in ((MOST_TAGS, False), (MOST_TAGS + 1, True)):
        comments = (3).to_bytes(4, "little") + b"who" + count.to_bytes(4, "little")
        blocks = bytes([0, 0, 0, 34]) + bytes(34) + b"\x84" + len(comments).to_bytes(3, "big")
        path.write_bytes(b"fLaC" + blocks + comments)
        if refused:
            with pytest.raises(DamagedMedia, match="more than 10,000 tags"):
                looked_at(path)
        else:
            looked_at(path)


def test_the_refusal_comes_before_a_library_looks(tmp_path):
    path = tmp_path / "x.mp3"
    path.write_bytes(tagged(4, 100_000))
    with pytest.raises(DamagedMedia, match="tags"):
        probe_audio(Source.of(path))


@pytest.mark.parametrize(
    "content", [b"ID3", b"ID3\4\0\0\0\0\0\x7f", b"ID3\4\0\0\x7f\x7f\x7f\x7fTXXX"]
)
def test_what_breaks_off_has_few(tmp_path, content):
    path = tmp_path / "x.mp3"
    path.write_bytes(content)
    looked_at(path)
