"""Durations, positions and sizes in words."""

from __future__ import annotations

import pytest

from palprep.rules.texts import stamp
from palprep.views.format import by_file, duration, file_gist, position, size


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0.00 s"), (0.4, "0.40 s"), (0.999, "1.0 s"), (1.5, "1.5 s"), (12.34, "12.3 s"),
        (59.94, "59.9 s"), (59.97, "1 min 00 s"), (125, "2 min 05 s"),
        (3599.4, "59 min 59 s"), (3600, "1 h 00 min"), (18_305, "5 h 05 min"),
        (3.2e6, "888 h 53 min"),
    ],
)  # fmt: skip
def test_a_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "-"), (3.44, "0:03.4"), (59.97, "1:00.0"), (61, "1:01.0"), (3725.0, "62:05.0")],
)
def test_a_position(seconds: float | None, words: str) -> None:
    assert position(seconds) == words


def test_a_position_to_the_frame_and_to_the_second() -> None:
    assert position(12.345, digits=2) in {"0:12.34", "0:12.35"}
    assert position(90, digits=0) == "1:30"


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (123_456, "123 kB"), (999_499, "999 kB"), (999_999, "1 MB"), (3_700_000, "3.7 MB"),
        (999_999_999, "1 GB"), (1_250_000_000, "1.25 GB"),
    ],
)  # fmt: skip
def test_a_size(size_bytes: int, words: str) -> None:
    assert size(size_bytes) == words


@pytest.mark.parametrize("at", ["2026-11-02T05:00:00.000+00:00", "2026-11-02T06:00:00+01:00"])
def test_a_moment_is_in_utc(at: str) -> None:
    assert stamp(at) == "2026-11-02 05:00 UTC"


def test_what_could_not_be_read_has_no_gist() -> None:
    assert file_gist(None) == ""


def test_a_file_is_named_once_for_all_that_is_found_in_it() -> None:
    reasons = [
        "Only the voice is made. a.jpg (face-image): Two people.",
        "a.jpg (face-image): Far.",
    ]
    other = [
        "Left out: b.jpg (face-image): Dark.",
        "Left out: b.jpg (face-image): Small.",
        "And this.",
    ]
    assert by_file([*reasons, *other]) == [
        "Only the voice is made. a.jpg (face-image): Two people. Far.",
        "Left out: b.jpg (face-image): Dark. Small.",
        "And this.",
    ]
