from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given, strategies as st

from palprep.errors import DamagedMedia
from palprep.media.sources.bounds import MOST_STEPS, HeaderReader
from palprep.media.sources.ebml import read_matroska
from palprep.media.sources.headers import read_exif, xmp_orientation
from palprep.media.sources.isobmff import children, read_brands, read_movie


def box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def track(number: int, handler: bytes, *extra: bytes) -> bytes:
    tkhd = box(b"tkhd", struct.pack(">IIII", 0, 0, 0, number), bytes(68))
    mdhd = box(b"mdhd", struct.pack(">IIIII", 0, 0, 0, 48_000, 96_000), bytes(4))
    hdlr = box(b"hdlr", bytes(8), handler, bytes(13))
    return box(b"trak", tkhd, box(b"mdia", mdhd, hdlr), *extra)


def movie(*tracks: bytes) -> bytes:
    return box(b"moov", box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, 2000)), *tracks)


FTYP = box(b"ftyp", b"isom", bytes(4), b"isommp42")
MDAT = box(b"mdat", bytes(100))


def reading(data: bytes) -> HeaderReader:
    return HeaderReader(io.BytesIO(data), len(data), "a.mp4")


def read(data: bytes):
    return read_movie(reading(data))


def test_order_of_index_and_media():
    assert read(FTYP + movie(track(1, b"vide")) + MDAT).moov_position == "front"
    assert read(FTYP + MDAT + movie(track(1, b"vide"))).moov_position == "end"
    fragmented = read(FTYP + movie(track(1, b"vide"), box(b"mvex")) + box(b"moof") + MDAT)
    assert fragmented.moov_position == "fragmented"
    assert not fragmented.truncated


def test_truncation():
    whole = FTYP + movie(track(1, b"vide")) + MDAT
    assert not read(whole).truncated
    assert read(whole[:-1]).truncated
    assert read(FTYP + MDAT).truncated
    assert read(FTYP + movie(track(1, b"vide"))).truncated


def test_brands():
    whole = FTYP + MDAT
    assert read_brands(reading(whole)) == ("isom", {"isom", "mp42"})
    assert read_brands(reading(MDAT)) == (None, frozenset())


def test_chapter_pictures_are_no_picture_track():
    references = box(b"tref", box(b"chap", struct.pack(">I", 2)))
    found = read(FTYP + movie(track(1, b"soun", references), track(2, b"vide")) + MDAT)
    assert found.video_tracks == ()
    assert [(each.track_id, each.handler) for each in found.tracks] == [(1, "soun"), (2, "vide")]


@pytest.mark.parametrize("layout", [">IiI", ">QqI"])
def test_edits_are_the_stretches_that_are_shown(layout):
    version = int(layout == ">QqI") << 24
    for times, cut in (((-1, 0), False), ((0, 96_000), True)):
        listed = (struct.pack(layout, 2000, time, 1 << 16) for time in times)
        edits = box(b"edts", box(b"elst", struct.pack(">II", version, len(times)), *listed))
        assert read(FTYP + movie(track(1, b"vide", edits)) + MDAT).is_cut is cut
    assert read(FTYP + movie(track(1, b"vide")) + MDAT).is_cut is False


@pytest.mark.parametrize(
    ("shown", "hidden_s"),
    [
        ([(0, 2000)], 0.0),
        ([(4096, 2000)], 4096 / 48_000),
        ([(48_000, 1000)], 1.0),
        ([(0, 500), (72_000, 500)], 1.0),
        ([(0, 1000), (0, 1000)], 1.0),
        ([(72_000, 500), (-1, 1000), (0, 500)], 1.0),
        ([(24_000, 0)], 0.5),
    ],
)
def test_what_no_edit_shows_is_hidden(shown, hidden_s):
    """Of a track that lasts 2 s."""
    listed = (struct.pack(">IiI", lasts, begin, 1 << 16) for begin, lasts in shown)
    edits = box(b"edts", box(b"elst", struct.pack(">II", 0, len(shown)), *listed))
    found = read(FTYP + movie(track(1, b"soun", edits)) + MDAT)
    assert found.tracks[0].hidden_s == pytest.approx(hidden_s)
    assert found.hides is (hidden_s > 0.5)
    assert not read(FTYP + movie(track(1, b"tmcd", edits)) + MDAT).hides


def test_what_is_hidden_is_told_by_how_long_the_samples_last():
    """Also where the header says that there is no more."""
    times = box(b"stbl", box(b"stts", struct.pack(">IIII", 0, 1, 300, 1024)))
    head = box(b"mdhd", struct.pack(">IIIII", 0, 0, 0, 48_000, 48_000), bytes(4))
    media = box(b"mdia", head, box(b"hdlr", bytes(8), b"soun", bytes(13)), box(b"minf", times))
    edits = box(b"edts", box(b"elst", struct.pack(">IIIiI", 0, 1, 1000, 0, 1 << 16)))
    (only,) = read(FTYP + movie(box(b"trak", media, edits)) + MDAT).tracks
    assert only.hidden_s == pytest.approx(5.4)


def test_encrypted_samples():
    table = box(b"stbl", box(b"stsd", struct.pack(">II", 0, 1), box(b"encv", bytes(70))))
    mdia = box(b"mdia", box(b"hdlr", bytes(8), b"vide", bytes(13)), box(b"minf", table))
    (only,) = read(FTYP + movie(box(b"trak", mdia)) + MDAT).tracks
    assert only.encrypted


def test_a_size_that_lies_ends_the_walk():
    data = struct.pack(">I4s", 4, b"free") + MDAT
    assert list(children(reading(data), 0, len(data))) == []
    huge = struct.pack(">I4sQ", 1, b"moov", 1 << 62)
    assert read(FTYP + huge).truncated


@given(st.binary(max_size=400), st.integers(0, 400))
def test_no_bytes_make_the_readers_raise(noise, cut):
    """Whatever the bytes, every reader returns, and only values of its documented range."""
    data = FTYP + movie(track(1, b"vide"), box(b"trak", noise)) + MDAT
    found = read(data[:cut] + noise + data[cut:])
    assert found.moov_position in {None, "front", "end", "fragmented"}
    _, tracks, _ = read_matroska(reading(b"\x1a\x45\xdf\xa3" + noise))
    assert all(0 <= each < 1 << 64 for each in tracks)
    turned = {None, *range(1, 9)}
    assert read_exif(b"Exif\0\0II*\0" + noise).orientation in turned
    assert read_exif(b"MM\0*" + noise).orientation in turned
    assert xmp_orientation(noise) in turned


def test_exif_orientation_gps_and_thumbnail():
    def entries(order: str, gps: int, following: int) -> bytes:
        orientation = struct.pack(f"{order}HHIHH", 0x0112, 3, 1, 6, 0)
        pointer = struct.pack(f"{order}HHII", 0x8825, 4, 1, gps)
        listed = struct.pack(f"{order}H", 2) + orientation + pointer
        return listed + struct.pack(f"{order}I", following)

    for magic, order in ((b"II*\0", "<"), (b"MM\0*", ">")):
        one = struct.pack(f"{order}HHHIII", 1, 1, 2, 2, 0, 0)
        head = magic + struct.pack(f"{order}I", 8)
        found = read_exif(b"Exif\0\0" + head + entries(order, 38, 38) + one)
        assert found == (6, True, True)
        empty = struct.pack(f"{order}H", 0)
        assert read_exif(head + entries(order, 38, 0) + empty) == (6, False, False)
    assert read_exif(None) == (None, False, False)
    assert xmp_orientation(b'<rdf:Description tiff:Orientation="8"/>') == 8
    assert xmp_orientation(b"<tiff:Orientation>3</tiff:Orientation>") == 3
    assert xmp_orientation(b'tiff:Orientation="80"') is None


@pytest.mark.parametrize(
    ("kind", "record", "found"),
    [
        (b"dvcC", bytes([1, 0, 5 << 1, 0b0101, 0 << 4]), (5, 0)),
        (b"dvvC", bytes([1, 0, 8 << 1, 0b0101, 4 << 4]), (8, 4)),
        (b"dvcC", bytes([1, 0, 5 << 1]), None),
        (b"colr", bytes(20), None),
    ],
)
def test_dolby_vision_is_read_from_the_sample_entry(kind, record, found):
    entry = box(b"hvc1", bytes(78), box(b"hvcC", bytes(23)), box(kind, record))
    stsd = box(b"stsd", struct.pack(">II", 0, 1), entry)
    tkhd = box(b"tkhd", struct.pack(">IIII", 0, 0, 0, 1), bytes(68))
    hdlr = box(b"hdlr", bytes(8), b"vide", bytes(13))
    media = box(b"mdia", hdlr, box(b"minf", box(b"stbl", stsd)))
    (seen,) = read(FTYP + movie(box(b"trak", tkhd, media)) + MDAT).tracks
    assert seen.dolby_vision == found


def ebml(number: int, body: bytes, *, claims: int | None = None) -> bytes:
    size = len(body) if claims is None else claims
    return number.to_bytes((number.bit_length() + 7) // 8) + (size | 1 << 56).to_bytes(8) + body


def test_lists_of_matroska_that_overlap_are_each_looked_at_once():
    """Found by fuzzing: an index that points into a list at many places, and lists that claim to
    reach far beyond those that hold them."""
    tags, void, seeks = 0x1254C367, bytes((0xEC, 0x80)), 200
    inner = b"".join(ebml(tags, b"", claims=1 << 40) for _ in range(seeks)) + void * 2_000

    def index(first: int) -> bytes:
        positions = ((first + 12 * at).to_bytes(8) for at in range(seeks))
        entries = b"".join(ebml(0x4DBB, ebml(0x53AC, each)) for each in positions)
        return ebml(0x114D9B74, entries)

    segment = index(len(index(0))) + inner
    data = ebml(0x1A45DFA3, b"") + ebml(0x18538067, segment)
    reader = reading(data)
    reader.spend(MOST_STEPS - 4 * len(data))
    with pytest.raises(DamagedMedia, match="middle of a list"):
        read_matroska(reader)
