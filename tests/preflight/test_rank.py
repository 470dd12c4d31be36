"""The best portrait of a folder, or of a video: fitness, duplicates, and the order."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, strategies as st

from palprep.errors import FileMissing, FileUnreadable, UnsupportedMedia
from palprep.preflight import pick_best
from palprep.preflight.comparison import NEAR_DUPLICATE_BITS, distance, fitness, group_duplicates
from palprep.vision import Models, Pixels, PortraitFacts
from palprep.vision.analysis import analyse_portrait
from palprep.vision.identity import perceptual_hash

HASHES = st.integers(0, 2**64 - 1).map(lambda value: f"{value:016x}")


def test_the_best_picture_comes_first_and_twins_behind(folder: Path) -> None:
    ranked = pick_best(folder)
    names = [Path(each.path).name for each in ranked]
    assert set(names[:2]) == {"good.jpg", "twin.jpg"}
    assert names[-1] == "nobody.png"
    assert ranked[1].duplicate_of == 0
    assert "human_like_subject" in ranked[-1].failed


def test_a_candidate_without_a_name_tells_which_of_the_files_it_is(folder: Path) -> None:
    nobody, good = ((folder / name).read_bytes() for name in ("nobody.png", "good.jpg"))
    ranked = pick_best([nobody, b"empty", good], passed_over=lambda *_: None)
    assert [(each.path, each.number) for each in ranked] == [("<bytes>", 2), ("<bytes>", 0)]


def test_frames_of_a_video_are_ranked_by_time(light_people: Path) -> None:
    video = light_people / "jane-carter" / "training.mp4"
    ranked = pick_best(video, per_second=0.2)
    assert len(ranked) > 1
    assert all(each.at_s is not None for each in ranked)
    assert len({each.at_s for each in ranked}) == len(ranked)


def test_best_of_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        pick_best(tmp_path / "gone")
    with pytest.raises(UnsupportedMedia):
        pick_best(tmp_path)


def test_what_lies_in_folders_of_a_folder_is_ranked(folder: Path, tmp_path: Path) -> None:
    """Only the folder itself was looked at, in silence, where `palprep check` looks below."""
    (tmp_path / "shoot/day 2").mkdir(parents=True)
    (tmp_path / "shoot/.trash").mkdir()
    shutil.copy(folder / "nobody.png", tmp_path / "shoot")
    shutil.copy(folder / "good.jpg", tmp_path / "shoot/day 2")
    shutil.copy(folder / "good.jpg", tmp_path / "shoot/.trash")
    ranked = [Path(each.path) for each in pick_best(tmp_path / "shoot")]
    assert ranked == [tmp_path / "shoot/day 2/good.jpg", tmp_path / "shoot/nobody.png"]


@pytest.mark.parametrize("nowhere", ["", [""]])
def test_an_empty_path_is_not_the_current_folder(
    folder: Path, nowhere: str | list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(FileMissing, match="The path is empty"):
        pick_best(nowhere)


def test_a_folder_that_the_system_keeps_closed_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", folder)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(FileUnreadable, match="Permission denied; check its path"):
        pick_best(tmp_path)


def test_a_blurred_portrait_is_less_fit(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    blurred = analyse_portrait(np.asarray(cv2.GaussianBlur(portrait, (0, 0), 5), np.uint8), models)
    assert 0 < fitness(blurred) < fitness(picture) <= 1


def test_nobody_is_not_fit(models: Models) -> None:
    assert fitness(analyse_portrait(np.zeros((99, 99, 3), np.uint8), models)) == 0


def test_a_closed_mouth_outweighs_a_slightly_steadier_gaze(picture):
    talks = picture.model_copy(
        update={
            "subject": picture.subject.model_copy(update={"mouth_open": 0.25}),
        }
    )
    eyes = picture.subject.eyes.model_copy(update={"gaze_yaw_deg": 5.0, "gaze_pitch_deg": 0.0})
    looks = picture.subject.model_copy(update={"mouth_open": 0.02, "eyes": eyes})
    assert fitness(talks) < fitness(picture.model_copy(update={"subject": looks}))


def test_small_changes_keep_the_fingerprint(portrait: Pixels) -> None:
    own = perceptual_hash(portrait)
    brighter = np.clip(portrait.astype(int) + 12, 0, 255).astype(np.uint8)
    _, data = cv2.imencode(".jpg", portrait, [cv2.IMWRITE_JPEG_QUALITY, 40])
    coded = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    smaller = np.asarray(cv2.resize(portrait, None, fx=0.4, fy=0.4), np.uint8)
    for each in (brighter, coded, smaller):
        assert distance(own, perceptual_hash(each)) <= NEAR_DUPLICATE_BITS
    assert distance(own, perceptual_hash(portrait[::-1])) > NEAR_DUPLICATE_BITS


@given(HASHES, HASHES)
def test_distance_is_a_metric(one: str, other: str) -> None:
    assert distance(one, one) == 0
    assert distance(one, other) == distance(other, one) <= 64


@given(st.lists(HASHES, max_size=12))
def test_groups_lead_back_to_leaders(hashes: list[str]) -> None:
    groups = group_duplicates(hashes)
    assert len(groups) == len(hashes)
    assert all(groups[leader] == leader <= index for index, leader in enumerate(groups))
