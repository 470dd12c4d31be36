"""palprep explain."""

from __future__ import annotations

from palprep.rules import RULES

from .conftest import Palprep


def test_lists_every_rule(script: Palprep) -> None:
    ran = script("explain", "--json")
    assert ran.code == 0
    assert [entry["id"] for entry in ran.objects] == list(RULES)
    assert all(entry["limits"] for entry in ran.objects)


def test_a_check_of_two_files_is_explained_like_any_other(palprep: Palprep) -> None:
    (entry,) = palprep("explain", "same_person", "--json").objects
    assert [(each["role"], each["min"], each["level"]) for each in entry["limits"]] == [
        ("pair", 0.363, "fail"),
        ("pair", 0.5, "warn"),
    ]
    assert "SFace" in palprep("explain", "same_person").out


def test_the_statement_is_explained_with_the_limits_of_its_words(palprep: Palprep) -> None:
    (entry,) = palprep("explain", "consent_spoken", "--json").objects
    assert "unsaid_word_probability" in {each["id"] for each in entry["words"]}
    page = palprep("explain", "consent_spoken", "--verbose").out
    assert all(each["id"] in page for each in entry["words"])
    brief = palprep("explain", "consent_spoken")
    assert not any(each["id"] in brief.out for each in entry["words"])
    assert len(brief.out.splitlines()) < 24
    assert "--verbose" in brief.err
    (other,) = palprep("explain", "consent_start", "--json").objects
    assert other["words"] == []


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


def test_a_word_leads_to_the_checks_that_hold_it(palprep: Palprep) -> None:
    assert "mean audio_duration or video_duration?" in palprep("explain", "duration").err


def test_no_id_is_cut_on_a_narrow_terminal(palprep: Palprep) -> None:
    ran = palprep("explain", COLUMNS="80", FORCE_COLOR="1")
    assert all(rule in ran.out for rule in RULES)
    assert ran.err == "Next: palprep explain CHECK_ID\n"


def test_an_unknown_profile_is_usage(palprep: Palprep) -> None:
    ran = palprep("explain", "--profile", "core-9")
    assert ran.code == 2
    assert "core-4.5" in ran.err
