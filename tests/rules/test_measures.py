"""Measures in words, and reports as plain text."""

from __future__ import annotations

import pytest

from palprep.rules.report import Check, Report, ReportError
from palprep.rules.texts.words import Measure, counted, degrees, measure_words
from palprep.values import Outcome, Role


def test_things_are_counted_in_words() -> None:
    assert [counted(each, "cut", "cuts") for each in (0, 1, 2, 1200)] == [
        *("no cuts", "1 cut", "2 cuts", "1,200 cuts")
    ]
    assert [degrees(each) for each in (-1.2, 0.2, 89.7)] == ["1 degree", "0 degrees", "90 degrees"]


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (None, "not measured"),
        (True, "yes"),
        (False, "no"),
        (29_360_128, "29,360,128"),
        (23.976, "23.98"),
        (-0.0, "0"),
        (123456.7, "123,457"),
        ("h264", "h264"),
    ],
)
def test_a_measure_reads_naturally(measured: Measure, words: str) -> None:
    assert measure_words(measured) == words


@pytest.mark.parametrize(
    ("check", "measured", "words"),
    [
        ("looking_straight_at_camera", 2.6, "2.6 degrees off"),
        ("video_flicker", 0.05, "0.05% of the brightness"),
        ("lips_keep_moving", 0.04, "4% of the nose's length"),
        ("face_brightness", 0.78, "78% of full brightness"),
        ("image_frames", 24, "24 in the file"),
        ("no_nudity", 0.015, "0.015"),
        ("video_frame_rate", "25.00 fps", "25.00 fps"),
        ("video_upright", True, "yes"),
        ("of_another_version", 3, "3"),
    ],
)
def test_a_number_has_its_unit(check: str, measured: Measure, words: str) -> None:
    found = Check(id=check, label="It", outcome=Outcome.PASS, measured=measured)
    assert found.measure_words == words


def test_a_report_is_a_table_in_a_terminal() -> None:
    checks = (
        Check(id="image_resolution", label="Shorter side", outcome=Outcome.WARN, measured=400,
              sentence="It is too small.", limit="at least 512 px", advice="Retake it."),
        Check(id="image_frames", label="Single frame", outcome=Outcome.PASS, sentence="It is one."),
        Check(id="other", label="Other", outcome=Outcome.UNKNOWN, follows="image_resolution"),
    )  # fmt: skip
    report = Report(path="a.png", role=Role.FACE_IMAGE, profile="core-4", checks=checks)
    assert str(report).splitlines() == [
        "WARN  a.png  (face-image, core-4)",
        "warn    It is too small.",
        "        Retake it.",
        "pass    1 check",
    ]
    assert (report.failed, report.reasons) == ((), ())


@pytest.mark.parametrize(("terminal", "columns"), [("60", 60), (None, 80), ("300", 100)])
def test_what_failed_comes_first_within_the_terminal(
    terminal: str | None, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if terminal:
        monkeypatch.setenv("COLUMNS", terminal)
    long = "It is far too small for a face. " * 5
    checks = (
        Check(id="a", label="A", outcome=Outcome.WARN, sentence="It leans."),
        Check(id="b", label="B", outcome=Outcome.FAIL, sentence=long.strip()),
        Check(id="c", label="C", outcome=Outcome.FAIL, follows="b", sentence="It follows."),
    )
    report = Report(path="a.png", role=Role.FACE_IMAGE, profile="core-4", checks=checks)
    _, first, *others, last = str(report).splitlines()
    assert first.startswith("fail    It is far")
    assert others
    assert all(each.startswith("        ") for each in others)
    assert last == "warn    It leans."
    # Words of at most five letters, so that no line ends much earlier.
    assert columns - 6 <= max(map(len, (first, *others))) <= columns
    assert [check.id for check in report.failed] == ["b", "c"]
    assert report.reasons == (long.strip(),)


def test_an_unreadable_file_is_its_reason() -> None:
    error = ReportError(code="file_missing", message="a.png does not exist; check the path")
    report = Report(path="a.png", role=None, profile="core-4", error=error)
    assert str(report) == f"FAIL  a.png  (core-4)\n{error.message}"
    assert report.reasons == (error.message,)
