"""The best portrait of a folder, or of a video."""

from __future__ import annotations

from pathlib import Path

import pytest

from palprep.errors import FileMissing, UnsupportedMedia
from palprep.preflight.rank import pick_best
from palprep.vision.models import Models


def test_the_best_picture_comes_first_and_twins_behind(folder: Path, models: Models) -> None:
    ranked = pick_best(folder, models=models)
    names = [Path(each.path).name for each in ranked]
    assert set(names[:2]) == {"good.jpg", "twin.jpg"}
    assert names[-1] == "nobody.png"
    assert ranked[1].duplicate_of == 0
    assert "human_like_subject" in ranked[-1].failed


def test_frames_of_a_video_are_ranked_by_time(sample_media: Path, models: Models) -> None:
    video = sample_media / "people" / "jane-carter" / "training.mp4"
    ranked = pick_best(video, per_second=0.2, models=models)
    assert len(ranked) > 1
    assert all(each.at_s is not None for each in ranked)
    assert len({each.at_s for each in ranked}) == len(ranked)


def test_best_of_nothing_is_said(tmp_path: Path, models: Models) -> None:
    with pytest.raises(FileMissing):
        pick_best(tmp_path / "gone", models=models)
    with pytest.raises(UnsupportedMedia):
        pick_best(tmp_path, models=models)
