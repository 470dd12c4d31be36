"""palprep fix: a new file, its own report, and what was done."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from .conftest import Palprep


def test_json_adds_the_prepared_file_and_the_fixes(
    palprep: Palprep, sample_media: Path, tmp_path: Path
) -> None:
    source = sample_media / "people/anna-miller/portrait.png"
    before = source.read_bytes()
    ran = palprep("fix", source, "--into", "out", "--json")
    (entry,) = ran.objects
    assert ran.code == 0
    prepared = tmp_path / entry["prepared"]
    assert prepared.is_file()
    assert entry["path"] == entry["prepared"]
    assert entry["verdict"] != "fail"
    assert {fix["id"] for fix in entry["fixes"]} >= {"flatten", "scale_down"}
    assert all(fix["did"] for fix in entry["fixes"])
    assert source.read_bytes() == before


def test_what_cannot_be_read_is_an_error_entry_and_the_rest_goes_on(
    script: Palprep, light_people: Path, sample_media: Path
) -> None:
    ran = script(
        *("fix", "--into", "out", "--json"),
        sample_media / "broken/truncated-portrait.heic",
        light_people / "jane-carter/portrait.heic",
    )
    assert ran.code == 1
    broken, good = ran.objects
    assert broken["error"]["code"] == "media_damaged"
    assert broken["prepared"] is None
    assert good["prepared"]


def test_of_files_with_one_name_it_is_said_which_could_not_be_fixed(
    palprep: Palprep, tmp_path: Path
) -> None:
    for person in ("ada", "bo"):
        (tmp_path / person).mkdir()
        Image.new("RGB", (64, 64)).save(tmp_path / person / "IMG_1.tif")
    said = palprep("fix", "ada/IMG_1.tif", "bo/IMG_1.tif", "--into", "out").err
    assert "palprep: ada/IMG_1.tif is a TIFF" in said
    assert "palprep: bo/IMG_1.tif is a TIFF" in said
    assert said.count(". Export it as one of these, or give another file\n") == 2


def test_files_of_the_same_name_do_not_overwrite_each_other(
    palprep: Palprep, light_people: Path
) -> None:
    names = ("jane-carter/portrait.heic", "anna-miller/portrait.png")
    portraits = [light_people / name for name in names]
    ran = palprep("fix", *portraits, "--into", "out", "--json", "--jobs", "2")
    assert ran.code == 0
    assert len({entry["prepared"] for entry in ran.objects}) == 2
    twice = palprep("fix", portraits[0], portraits[0], "--into", "other", "--json")
    assert twice.code == 0
    first, second = twice.objects
    assert first["prepared"] == second["prepared"]
    told = palprep("fix", portraits[0], portraits[0], "--into", "other").err
    assert told.startswith("1 new file is fit.\n")


def test_folders_are_mirrored(palprep: Palprep, tmp_path: Path) -> None:
    for each in ("a/x.png", "a/below/x.png", "b/y.png", "b/y.webp"):
        path = tmp_path / "given" / each
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (700, 700), "navy").save(path)
    one = palprep("fix", "given/a", "--into", "one", "--json")
    assert [entry["prepared"] for entry in one.objects] == [
        "one/rejected/x.png",
        "one/rejected/below/x.png",
    ]
    both = palprep("fix", "given/a", "given/b", "--into", "both")
    made = {str(each.relative_to(tmp_path / "both")) for each in (tmp_path / "both").rglob("*.*")}
    assert made == {
        *("rejected/a/x.png", "rejected/a/below/x.png"),
        *("rejected/b/y.png", "rejected/b/y.jpg"),
    }
    assert "set apart in both/rejected" in both.err


def test_what_still_fails_is_set_apart(
    palprep: Palprep, light_people: Path, sample_media: Path, tmp_path: Path
) -> None:
    nobody = sample_media / "broken/landscape-without-a-face.jpg"
    fit = light_people / "jane-carter/portrait.heic"
    ran = palprep("fix", nobody, fit, "--into", "out")
    assert ran.code == 1
    new = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("out/**/*.*"))
    assert new == ["out/portrait.jpg", "out/rejected/landscape-without-a-face.jpg"]
    assert "out/rejected/landscape-without-a-face.jpg" in ran.out
    summary, following = ran.err.splitlines()
    assert summary == "1 new file is fit. 1 new file is set apart in out/rejected."
    assert following.startswith("Next: ")
    assert nobody.read_bytes() == (tmp_path / new[1]).read_bytes()
    (entry,) = palprep("fix", nobody, "--into", "out", "--json").objects
    assert entry["prepared"] == entry["path"] == "out/rejected/landscape-without-a-face.jpg"
    assert entry["facts"]["file"]["path"] == entry["path"]
    assert palprep("fix", fit, "--into", "out", "--quiet").err == ""


@pytest.mark.parametrize("blocked", ["file", "below-file"])
def test_an_output_that_cannot_be_written_is_one_clear_line(
    palprep: Palprep, light_people: Path, tmp_path: Path, blocked: str
) -> None:
    (tmp_path / "taken").write_text("in the way")
    into = {"file": "taken", "below-file": "taken/out"}[blocked]
    ran = palprep("fix", light_people / "jane-carter/portrait.heic", "--into", into)
    assert (ran.code, ran.out) == (1, "")
    [why] = ran.err.splitlines()
    assert "taken" in why
    assert "choose another folder" in why
    (entry,) = palprep(
        "fix", light_people / "jane-carter/portrait.heic", "--into", into, "--json"
    ).objects
    assert "taken" in entry["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--split-consent"], "--split-consent needs --full-name"),
        (["--split-consent", "--name", "Jane Carter"], "needs a training video"),
        (["--statement", "own.txt"], "--statement needs --full-name"),
        (["--name", "Jane Carter", "--statement", "own.txt"], "names nobody called Jane Carter"),
        (["--name", "Jane Carter", "--language", "xx"], "No consent statement is known in 'xx'"),
    ],
)
def test_a_speaker_that_cannot_be_meant_is_usage(
    palprep: Palprep, light_people: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    (tmp_path / "own.txt").write_text("I agree.")
    video = light_people / "jane-carter/consent.mp4"
    ran = palprep("fix", video, "--into", "out", *arguments)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_name_brings_the_dossier_beside_the_video(
    palprep: Palprep, light_people: Path, tmp_path: Path
) -> None:
    video = light_people / "jane-carter/consent.mp4"
    ran = palprep("fix", video, "--into", "out", "--name", "Jane Carter", "--json")
    (entry,) = ran.objects
    assert ran.code == 0
    assert "consent" not in entry
    (dossier,) = palprep("dossier", entry["dossier"], "--source", video, "--json").objects
    assert (dossier["person"], dossier["in_force"]) == ("Jane Carter", True)
    video_checks = {check["id"] for check in dossier["entries"][0]["checks"]}
    assert video_checks >= {"consent_spoken", "consent_seen", "mouth_moves"}
