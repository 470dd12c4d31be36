"""palprep check: the documented JSON, one clear reason for each bad file, exit codes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from .conftest import Palprep

REPORT_KEYS = ["path", "role", "profile", "verdict", "passed", "error", "checks", "facts"]
CHECK_KEYS = [
    *("id", "label", "outcome", "passed", "sentence", "measured"),
    *("limit", "source", "advice", "follows", "region"),
]
PASSED = {"pass": True, "warn": True, "fail": False, "unknown": None}


def test_json_is_the_documented_object_per_path_in_order(
    palprep: Palprep, light_people: Path, sample_media: Path
) -> None:
    paths = [
        light_people / "jane-carter/recording.m4a",
        sample_media / "broken/text-named-video.mp4",
        light_people / "jane-carter/portrait.heic",
    ]
    ran = palprep("check", "--json", *paths)
    assert ran.code == 1
    assert [entry["path"] for entry in ran.objects] == [str(path) for path in paths]
    for entry in ran.objects:
        assert list(entry) == REPORT_KEYS
        assert entry["passed"] is (entry["verdict"] != "fail")
        for check in entry["checks"]:
            assert list(check) == CHECK_KEYS
            assert check["passed"] is PASSED[check["outcome"]]
    recording, text, portrait = ran.objects
    assert recording["role"] == "voice-audio"
    assert portrait["role"] == "face-image"
    assert text["error"]["code"] == "media_unsupported"
    assert text["checks"] == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("landscape-without-a-face.jpg", "human_like_subject"),
        ("silent-training.mp4", "audio_present"),
    ],
)
def test_a_broken_file_fails_for_its_own_reason(
    palprep: Palprep, sample_media: Path, name: str, reason: str
) -> None:
    ran = palprep("check", "--json", sample_media / "broken" / name)
    assert ran.code == 1
    (entry,) = ran.objects
    failed = {check["id"]: check for check in entry["checks"] if check["outcome"] == "fail"}
    assert reason in failed
    assert failed[reason]["advice"]
    assert failed[reason]["source"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("text-named-video.mp4", "media_unsupported"),
        ("truncated-portrait.heic", "media_damaged"),
        # One object for every path, also for one that is mistyped.
        ("no-such-file.jpg", "file_missing"),
    ],
)
def test_an_unusable_file_is_a_report_with_an_error(
    palprep: Palprep, sample_media: Path, name: str, code: str
) -> None:
    ran = palprep("check", "--json", sample_media / "broken" / name)
    assert ran.code == (2 if code == "file_missing" else 1)
    (entry,) = ran.objects
    assert entry["verdict"] == "fail"
    assert entry["error"]["code"] == code
    assert name in entry["error"]["message"]


def test_a_directory_named_like_a_picture_is_one_clear_line(
    palprep: Palprep, tmp_path: Path
) -> None:
    (tmp_path / "x.jpg").mkdir()
    (entry,) = palprep("check", "--json", "x.jpg").objects
    assert entry["error"]["code"] == "file_missing"
    assert "\n" not in entry["error"]["message"]


def test_people_read_the_reason_and_the_remedy(palprep: Palprep, sample_media: Path) -> None:
    silent = ("--quick", sample_media / "broken/silent-training.mp4")
    ran = palprep("check", *silent)
    assert ran.code == 1
    assert ran.out.startswith("FAIL")
    as_json = palprep("check", "--json", *silent)
    (no_sound,) = (
        check for check in as_json.objects[0]["checks"] if check["id"] == "audio_present"
    )
    assert f"{no_sound['sentence']} {no_sound['advice']}" in ran.out
    assert no_sound["source"] not in ran.out
    told = palprep("check", "-v", *silent).out
    assert f"audio_present · no audio stream · limit: required · {no_sound['source']}" in told


def test_verbose_lists_what_passed_too(palprep: Palprep, light_people: Path) -> None:
    path = light_people / "jane-carter/recording.m4a"
    assert "checks passed" in palprep("check", path).out
    ran = palprep("check", "--verbose", path)
    (entry,) = palprep("check", "--json", path).objects
    assert len(entry["checks"]) > 5
    told = " ".join(ran.out.split())
    assert all(check["sentence"] in told for check in entry["checks"])


def test_the_role_can_be_said(palprep: Palprep, light_people: Path) -> None:
    ran = palprep(
        "check", "--json", "--as", "voice-audio", light_people / "anna-miller/recording.mov"
    )
    assert ran.objects[0]["role"] == "voice-audio"


def test_a_wrong_profile_is_usage(palprep: Palprep, sample_media: Path) -> None:
    ran = palprep("check", "--profile", "core-9", sample_media / "README.md")
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_quick_leaves_the_rest_unknown(palprep: Palprep, light_people: Path) -> None:
    path = light_people / "jane-carter/consent.mp4"
    (entry,) = palprep("check", "--quick", "--json", path).objects
    outcomes = [check["outcome"] for check in entry["checks"]]
    assert outcomes.count("unknown") > outcomes.count("fail")
    assert entry["facts"]["video"]["duration_s"] == pytest.approx(12.5, abs=0.2)


def test_a_name_lets_the_consent_be_verified(palprep: Palprep, light_people: Path) -> None:
    path = light_people / "jane-carter/consent.mp4"
    outcomes = {}
    for name in ("Jane Carter", "Robert Miller"):
        (entry,) = palprep("check", "--json", "--name", name, path).objects
        outcomes[name] = {check["id"]: check["outcome"] for check in entry["checks"]}
    assert outcomes["Jane Carter"]["consent_spoken"] in {"pass", "warn"}
    assert outcomes["Robert Miller"]["consent_spoken"] == "fail"


@pytest.fixture
def folder(tmp_path: Path, sample_media: Path) -> Path:
    """Two images, in a folder and in one below it, with files that are not theirs."""
    below = tmp_path / "all" / "below"
    below.mkdir(parents=True)
    people = sample_media / "people"
    shutil.copy(people / "jane-carter/portrait.heic", tmp_path / "all" / "b.heic")
    shutil.copy(sample_media / "broken/landscape-without-a-face.jpg", below / "a.jpg")
    for name in ("all/notes.txt", "all/.hidden.jpg", "all/below/table.csv"):
        (tmp_path / name).write_text("nothing to see")
    return tmp_path / "all"


def test_a_folder_is_read_with_all_below_it(palprep: Palprep, folder: Path) -> None:
    ran = palprep("check", "--json", "--quick", "all")
    assert ran.code == 1
    assert [entry["path"] for entry in ran.objects] == ["all/b.heic", "all/below/a.jpg"]
    assert ran.err == ""
    told = palprep("check", "--quick", folder)
    summary, following = told.err.splitlines()
    assert summary == (
        "2 files: 1 passed with warnings, 1 failed. "
        "Passed over, without media: notes.txt, table.csv."
    )
    assert following == f"Next: palprep fix {folder} --into prepared"
    assert palprep("check", "--quick", "--quiet", folder).err == ""
    options = ("--as", "face-image", "--profile", "core-3", "--full-name", "Jane Carter")
    following = palprep("check", "--quick", folder, *options).err.splitlines()[1]
    said = "--as face-image --profile core-3 --full-name 'Jane Carter'"
    assert following == f"Next: palprep fix {folder} {said} --into prepared"


def test_a_name_is_listened_for_in_no_recording(palprep: Palprep, light_people: Path) -> None:
    """It passed with a name, and nothing had listened for the statement of that person."""
    recording = light_people / "jane-carter/recording.m4a"
    said = "No statement was listened for: --full-name is for videos."
    assert palprep("check", recording, "--full-name", "Jane Carter").err.startswith(said)
    assert said not in palprep("check", recording).err


def test_a_fix_is_next_only_where_a_file_passes_by_it(palprep: Palprep, folder: Path) -> None:
    # Its metadata can be removed, and nobody is in it all the same.
    with Image.open(folder / "below/a.jpg") as image:
        exif = Image.Exif()
        exif[0x010F] = "Maker"
        image.save(folder / "tagged.jpg", exif=exif)
    ran = palprep("check", "--quick", "all/tagged.jpg")
    assert "palprep fix removes all metadata" in " ".join(ran.out.split())
    assert ran.err.splitlines()[1] == (
        "Next: do what the findings say, and run the same command again."
    )
    both = palprep("check", "--quick", "all/tagged.jpg", "all/b.heic").err.splitlines()[1]
    assert both == "Next: palprep fix all/tagged.jpg all/b.heic --into prepared"


@pytest.mark.usefixtures("folder")
def test_several_jobs_say_the_same_in_the_same_order(palprep: Palprep) -> None:
    alone = palprep("check", "--json", "--quick", "all", "gone.jpg")
    shared = palprep("check", "--json", "--quick", "--jobs", "2", "all", "gone.jpg")
    assert (shared.code, shared.out) == (alone.code, alone.out)
    assert alone.code == 2


def test_a_mistyped_path_is_usage_before_anything_is_read(palprep: Palprep, folder: Path) -> None:
    (folder / "empty").mkdir()
    for paths, said in (
        ([folder / "b.heif"], f"{folder}/b.heif does not exist: did you mean b.heic?"),
        ([folder / "b.heic", "gone"], "gone does not exist: check the path"),
        ([folder / "empty"], f"{folder}/empty is a folder without images, audio or videos."),
    ):
        ran = palprep("check", *paths)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == f"palprep: {said}\n"


def test_a_path_that_no_disk_takes_is_told_in_words(palprep: Palprep, folder: Path) -> None:
    long = "x" * 300
    (folder / "itself.jpg").symlink_to("itself.jpg")
    for path, code, error in (
        (folder / "itself.jpg", 1, "file_unreadable"),
        (long, 2, "file_missing"),
    ):
        ran = palprep("check", "--json", path)
        assert (ran.code, ran.objects[0]["error"]["code"]) == (code, error)
    for command, code, said in (
        (["check", long], 2, f"{long} does not exist"),
        (["fix", folder / "b.heic", "--into", long], 1, "the name is too long"),
        (["best", folder / "b.heic", "--into", long], 1, "the name is too long"),
        (["run", long], 2, f"{long} is not there"),
        (["run", folder.parent, "--into", long, "--dry-run"], 1, "the name is too long"),
        (["record", folder / long / "ada"], 1, "the name is too long"),
        (["consent", folder / "b.heic", "--full-name", "A", "--journal", long], 1, "no journal"),
    ):
        ran = palprep(*command)
        assert (ran.code, said in ran.err) == (code, True), ran.err


def test_what_runs_the_networks_says_nothing(script: Palprep, light_people: Path) -> None:
    ran = script("check", "--quiet", "--json", light_people / "jane-carter/portrait.heic")
    assert ran.objects[0]["facts"]["portrait"]["faces"]
    assert ran.err == ""


def test_a_fit_file_needs_nothing_more(palprep: Palprep, light_people: Path) -> None:
    ran = palprep("check", "--quick", light_people / "jane-carter/recording.m4a")
    assert ran.code == 0
    assert ran.err.splitlines()[0] == "1 file: 1 passed."
    assert "nothing to fix" in ran.err


@pytest.mark.parametrize("command", [("check",), ("fix", "--into", "prepared")])
def test_json_and_every_step_go_together(palprep: Palprep, command: tuple[str, ...]) -> None:
    ran = palprep(*command, "gone.jpg", "--json", "--verbose")
    assert ran.code == 2
    assert [each["error"]["code"] for each in ran.objects] == ["file_missing"]
    assert "not both" not in ran.err
