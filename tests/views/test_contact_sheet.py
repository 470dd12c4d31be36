"""The contact sheet of a ranking: the best that differ, each with its picture."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from palprep.preflight import Candidate, Ranking
from palprep.views.drawings.pictures import MOST, SIDE, shots
from palprep.views.notebook import html_of


def candidate(path: str, at_s: float | None = None, duplicate_of: int | None = None) -> Candidate:
    return Candidate(
        path=path, at_s=at_s, fitness=0.5, failed=("face_obscured",), warned=(),
        fingerprint="0" * 16, duplicate_of=duplicate_of,
    )  # fmt: skip


def colour(address: str | None) -> tuple[int, int, int]:
    assert address is not None
    image = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")
    assert max(image.size) <= SIDE
    return image.getpixel((image.width // 2, image.height // 2))


@pytest.fixture
def painted(tmp_path: Path) -> dict[str, str]:
    paths = {}
    for name, paint in (("red", (200, 0, 0)), ("blue", (0, 0, 200))):
        path = tmp_path / f"{name}.png"
        Image.new("RGB", (300, 400), paint).save(path)
        paths[name] = str(path)
    return paths


def test_each_picture_stands_with_its_own_candidate(painted: dict[str, str]) -> None:
    kept = shots([candidate(painted["red"]), candidate(painted["blue"])])
    assert [shot.rank for shot in kept] == [1, 2]
    red, blue = (colour(shot.picture) for shot in kept)
    assert red[0] > 150 > red[2]
    assert blue[2] > 150 > blue[0]


def test_what_nearly_equals_a_better_one_is_left_out(painted: dict[str, str]) -> None:
    red, blue = painted["red"], painted["blue"]
    kept = shots([candidate(red), candidate(red, duplicate_of=0), candidate(blue)])
    assert [shot.rank for shot in kept] == [1, 3]
    assert len(shots(candidate(red) for _ in range(MOST + 5))) == MOST


def test_frames_of_a_video_are_those_of_their_times(sample_media: Path) -> None:
    video = str(sample_media / "people/jane-carter/consent.mp4")
    kept = shots([candidate(video, 6.0), candidate(video, 2.0)])
    assert [shot.candidate.at_s for shot in kept] == [6.0, 2.0]
    assert all(shot.picture for shot in kept)


def test_frames_that_follow_each_other_closely_have_their_own_pictures(sample_media: Path) -> None:
    video = str(sample_media / "people/jane-carter/consent.mp4")
    *near, last = shots(candidate(video, at_s) for at_s in (2.0, 2.04, 2.08, 6.0))
    [alone] = shots([candidate(video, 6.0)])
    assert last.picture == alone.picture
    assert all(shot.picture not in {None, last.picture} for shot in near)


def test_a_file_that_is_gone_has_words_alone(tmp_path: Path) -> None:
    html = html_of(Ranking([candidate(str(tmp_path / "<gone>.jpg"))]))
    assert "<img" not in html
    assert "&lt;gone&gt;.jpg" in html
    assert "face_obscured" in html


def test_one_portrait_is_no_portraits(painted: dict[str, str]) -> None:
    assert "<b>1 portrait, best first</b>" in html_of(Ranking([candidate(painted["red"])]))
