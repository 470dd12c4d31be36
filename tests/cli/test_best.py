"""palprep best: ranking by fitness, from a folder or a video."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from palprep.media import probe_video
from palprep.media.sources import Source

from .conftest import Palprep


@pytest.fixture
def pictures(sample_media: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("people/jane-carter/portrait.heic", "broken/landscape-without-a-face.jpg"):
        shutil.copy(sample_media / name, folder)
    (folder / "notes.txt").write_text("no picture")
    return folder


def test_a_portrait_outranks_a_landscape(palprep: Palprep, pictures: Path) -> None:
    ran = palprep("best", pictures, "--json")
    assert ran.code == 0
    first, second = ran.objects
    assert first["path"].endswith("portrait.heic")
    assert first["failed"] == []
    assert "only_one_person_visible" in second["failed"]
    assert first["fitness"] > second["fitness"]


def test_several_paths_are_ranked_together(
    palprep: Palprep, pictures: Path, tmp_path: Path
) -> None:
    """Whoever named two images was told of wrong usage."""
    best = shutil.move(pictures / "portrait.heic", tmp_path)
    (tmp_path / "notes.jpg").write_text("no picture")
    ran = palprep("best", best, pictures, tmp_path / "notes.jpg", "--json")
    assert ran.code == 0
    names = [Path(entry["path"]).name for entry in ran.objects]
    assert names == ["portrait.heic", "landscape-without-a-face.jpg"]
    assert ran.err.startswith("Passed over: notes.jpg is a text file; name an image or a video\n")
    assert palprep("best", best, tmp_path / "gone.jpg").code == 2


def test_files_of_the_same_name_are_told_by_their_paths(
    palprep: Palprep, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pictures / "day2").mkdir()
    shutil.move(pictures / "landscape-without-a-face.jpg", pictures / "day2/portrait.heic")
    monkeypatch.chdir(pictures.parent)
    shown = palprep("best", pictures.name).out.split()
    assert f"{pictures.name}/portrait.heic" in shown
    assert f"{pictures.name}/day2/portrait.heic" in shown


def test_frames_and_images_together_are_counted_as_images(
    palprep: Palprep, pictures: Path, light_people: Path
) -> None:
    clip, image = light_people / "jane-carter/consent.mp4", pictures / "portrait.heic"
    alone = palprep("best", clip, "--per-second", "0.1")
    assert re.match(r"\d of \d frames pass(es)?\. ", alone.err)
    image.unlink()
    mixed = palprep("best", clip, pictures, "--per-second", "0.1")
    assert re.match(r"\d of \d images pass(es)?\. ", mixed.err)


def test_top_shows_no_more_than_asked(palprep: Palprep, pictures: Path) -> None:
    ran = palprep("best", pictures, "--top", "1")
    assert "portrait.heic" in ran.out
    assert "landscape" not in ran.out
    best = pictures / "portrait.heic"
    assert ran.err == f"1 of 2 images passes. Next: palprep fix {best} --into prepared\n"
    assert palprep("best", pictures, "--quiet").err == ""
    stricter = palprep("best", pictures, "--profile", "core-3").err
    assert stricter.endswith(f"palprep fix {best} --profile core-3 --into prepared\n")


def test_images_that_cannot_be_read_are_told(
    palprep: Palprep, pictures: Path, sample_media: Path
) -> None:
    shutil.copy(sample_media / "broken/truncated-portrait.heic", pictures)
    shutil.copy(sample_media / "people/jane-carter/recording.m4a", pictures)
    (pictures / "empty.jpg").touch()
    for more in ((), ("--json",)):
        told = palprep("best", pictures, *more).err.splitlines()
        assert told[0] == "Passed over: empty.jpg is an empty file; name an image or a video"
        assert told[1].startswith("Passed over: truncated-portrait.heic starts like a HEIC image ")
        assert len(told) == (2 if more else 3)


def test_a_video_gives_its_frames(palprep: Palprep, light_people: Path) -> None:
    ran = palprep(
        "best", light_people / "anna-miller/recording.mov", "--per-second", "0.2", "--json"
    )
    assert 4 <= len(ran.objects) <= 8
    assert all(0 <= entry["at_s"] <= 26.4 for entry in ran.objects)


def test_the_best_frame_is_kept_in_full_size(
    palprep: Palprep, light_people: Path, tmp_path: Path
) -> None:
    video = light_people / "anna-miller/recording.mov"
    asked = ("best", video, "--per-second", "0.2", "--into", tmp_path)
    first = palprep(*asked)
    [kept] = tmp_path.iterdir()
    assert kept.name.startswith("recording-")
    assert kept.suffix == ".png"
    shown = probe_video(Source.of(video))
    with Image.open(kept) as image:
        assert image.size == (shown.width, shown.height)
    assert f"Next: palprep fix {kept} --into prepared" in first.err or first.code == 1
    palprep(*asked)
    assert list(tmp_path.iterdir()) == [kept]


def test_the_best_image_is_copied_as_it_is(script: Palprep, pictures: Path, tmp_path: Path) -> None:
    into = tmp_path / "best"
    ran = script("best", pictures, "--into", into)
    kept = into / "portrait.heic"
    assert kept.read_bytes() == (pictures / "portrait.heic").read_bytes()
    assert ran.err == f"1 of 2 images passes. Next: palprep fix {kept} --into prepared\n"


def test_when_even_the_best_fails_the_code_is_1(palprep: Palprep, sample_media: Path) -> None:
    assert palprep("best", sample_media / "broken/landscape-without-a-face.jpg").code == 1


@pytest.mark.parametrize(("name", "code"), [("missing", 2), ("empty", 1)])
def test_nothing_to_rank_is_one_clear_line(
    palprep: Palprep, tmp_path: Path, name: str, code: int
) -> None:
    (tmp_path / "empty").mkdir()
    ran = palprep("best", name)
    assert ran.code == code
    assert ran.err.count("\n") == 1
    assert name in ran.err
