"""palprep explain."""

from __future__ import annotations

from palprep.rules.registry import RULES

from .conftest import Palprep


def test_lists_every_rule(palprep: Palprep) -> None:
    ran = palprep("explain", "--json")
    assert ran.code == 0
    assert [entry["id"] for entry in ran.objects] == list(RULES)


def test_tells_limits_with_their_sources(palprep: Palprep) -> None:
    ran = palprep("explain", "image_base64_length", "--json")
    (entry,) = ran.objects
    (limit,) = (each for each in entry["limits"] if each["role"] == "face-image")
    assert limit["max"] == 29_360_128
    assert limit["level"] == "fail"
    assert "specification" in limit["source"]
    page = palprep("explain", "image_base64_length").out
    assert "29,360,128" in page
    assert limit["source"] in page


def test_a_misspelled_check_is_usage_and_helps(palprep: Palprep) -> None:
    ran = palprep("explain", "image_base64_lenght")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "image_base64_length" in ran.err


def test_an_unknown_profile_is_usage(palprep: Palprep) -> None:
    ran = palprep("explain", "--profile", "core-9")
    assert ran.code == 2
    assert "core-4.5" in ran.err
