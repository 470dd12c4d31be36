"""Headers that ask for much work: each such file ends in one finding, whatever its format."""

from __future__ import annotations

import importlib
import io
import time

import pytest

from palprep.errors import DamagedMedia
from palprep.media.sources import bounds
from palprep.media.sources.bounds import HeaderReader
from palprep.preflight import check

MANY = 4_000
"""Fiftieth of what research/hostile/bomb_costs.py makes; the budget is as much smaller here."""

DAMAGED = (
    *("edits-of-tracks.mp4", "empty-id3.mp3", "empty-boxes.mp4", "ten-seeks.mkv"),
    *("many-seeks.mkv", "clusters-alone.mkv", "opus-tags-again.ogg", "comment-pages.ogg"),
    *("lists.wav", "chunks.png", "pieces.png", "segments.jpg", "sample-times.m4a"),
    "deep-boxes.mp4",
)


@pytest.fixture
def bombs(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_STEPS", bounds.MOST_STEPS // 50)
    monkeypatch.setattr(
        "palprep.media.sources.isobmff.MOST_INDEX_BYTES", bounds.MOST_INDEX_BYTES // 50
    )
    return importlib.import_module("research.hostile.bomb_files")


@pytest.mark.parametrize("name", DAMAGED)
def test_too_much_work_is_damage(tmp_path, bombs, name):
    path = tmp_path / name
    bombs.LISTS[name](path, MANY)
    before = time.process_time()
    report = check(path)
    assert time.process_time() - before < 2.0
    assert report.error is not None
    assert report.error.code == "media_damaged"


@pytest.mark.parametrize("name", ["padded-id3.mp3", "empty-clusters.mkv", "speex-again.ogg"])
def test_what_costs_nothing_is_judged_like_any_other(tmp_path, bombs, name):
    path = tmp_path / name
    bombs.LISTS[name](path, MANY)
    assert check(path, quick=True).error is None


def test_images_without_sizes_are_damaged(tmp_path, bombs):
    path = tmp_path / "without-sizes.heic"
    bombs.BOMBS[path.name](path)
    assert check(path).error.code == "media_damaged"


def test_a_step_beyond_the_budget_is_damage():
    reader = HeaderReader(io.BytesIO(b"abc"), 3, "a.mp4")
    assert reader.at(1, 5) == b"bc"
    reader.spend(bounds.MOST_STEPS - 1)
    with pytest.raises(DamagedMedia, match=r"a\.mp4 has more headers"):
        reader.at(0, 1)
