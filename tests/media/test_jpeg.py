"""What the markers of a JPEG say before a decoder sees it."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from palprep.errors import DamagedMedia
from palprep.media.sources.bounds import MOST_SCANS, HeaderReader
from palprep.media.sources.headers import kept_samples, without_metadata


def jpeg(**options) -> bytes:
    data = io.BytesIO()
    Image.effect_noise((96, 64), 60).convert("RGB").save(data, "JPEG", **options)
    return data.getvalue()


def kept_of(data: bytes) -> float:
    return kept_samples(HeaderReader(io.BytesIO(data), len(data), "a.jpg"))


def last_scan(data: bytes) -> tuple[int, int]:
    """Where the last scan begins and ends."""
    return data.rindex(b"\xff\xda"), data.rindex(b"\xff\xd9")


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize(("subsampling", "samples"), [("4:4:4", 3), ("4:2:2", 2), ("4:2:0", 1.5)])
def test_how_an_image_is_coded(progressive, subsampling, samples):
    kept = kept_of(jpeg(progressive=progressive, subsampling=subsampling))
    assert kept == (samples if progressive else 0)


def test_restarts_padding_and_comments_are_no_scans():
    data = jpeg(restart_marker_blocks=2, comment=b"\xff\xda" * 2 * MOST_SCANS, progressive=True)
    padded = data[:2] + b"\xff" * 100 + data[2:]
    assert kept_of(padded) == kept_of(jpeg(progressive=True))


def test_bytes_before_a_marker_are_passed_over_as_decoders_do():
    """Photoshop has written a segment longer than it says."""
    data = jpeg(progressive=True)
    at = data.index(b"\xff\xdb")
    left = data[:at] + b"\x04\x06\xff\x00\x00\x07" + data[at:]
    assert kept_of(left) == kept_of(data) == 1.5
    bare = without_metadata(HeaderReader(io.BytesIO(left), len(left), "a.jpg"))
    with Image.open(io.BytesIO(bare)) as mine, Image.open(io.BytesIO(left)) as whole:
        assert mine.tobytes() == whole.tobytes()
    start, end = last_scan(left)
    with pytest.raises(DamagedMedia, match="more than 100 scans"):
        kept_of(left[:end] + left[start:end] * MOST_SCANS + left[end:])


def test_what_follows_the_image_is_not_looked_at():
    """Phones append a film, or a second image, in which any bytes can stand."""
    shown = jpeg(progressive=True)
    assert kept_of(shown + b"\xff\xda\x00\x04ab" * 2 * MOST_SCANS) == 1.5


def test_scans_beyond_count_are_damage():
    data = jpeg(progressive=True)
    start, end = last_scan(data)
    bomb = data[:end] + data[start:end] * MOST_SCANS + data[end:]
    with pytest.raises(DamagedMedia, match="more than 100 scans"):
        kept_of(bomb)
    honest = data[:end] + data[start:end] * (MOST_SCANS // 2) + data[end:]
    assert kept_of(honest) == 1.5


@pytest.mark.parametrize(
    ("stuffing", "words"),
    [(b"\xff" * 70_000, "bytes of padding"), (b"\xff\xfe\x00\x02" * 10_001, "more headers")],
)
def test_stuffing_is_damage(stuffing, words):
    data = jpeg()
    with pytest.raises(DamagedMedia, match=words):
        kept_of(data[:2] + stuffing + data[2:])


@pytest.mark.parametrize("data", [b"\xff\xd8", b"\xff\xd8\xff\xc0", b"\xff\xd8\xff\xc0\x00\x01"])
def test_without_a_frame_nothing_is_kept(data):
    assert kept_of(data) == 0
