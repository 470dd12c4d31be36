"""palprep consent: the documented JSON; code 0 only for a statement that was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Palprep

KEYS = ["path", "outcome", "transcript", "starts_at", "ends_at", "words", "reasons"]
WORD_KEYS = ["expected", "heard", "start", "end", "probability", "outcome"]


@pytest.fixture
def spoken(light_people: Path) -> Path:
    return light_people / "jane-carter/consent.mp4"


def test_a_spoken_statement_passes(script: Palprep, spoken: Path) -> None:
    ran = script("consent", spoken, "--name", "Jane Carter", "--json")
    assert ran.code == 0
    (entry,) = ran.objects
    assert list(entry) == KEYS
    assert entry["outcome"] in {"pass", "warn"}
    assert 0 <= entry["starts_at"] < entry["ends_at"] < 13
    assert all(list(word) == WORD_KEYS for word in entry["words"])
    assert [word["expected"] for word in entry["words"][:3]] == ["I,", "Jane", "Carter,"]


def test_another_name_fails_and_says_which_word(palprep: Palprep, spoken: Path) -> None:
    ran = palprep("consent", spoken, "--name", "Robert Miller")
    assert ran.code == 1
    assert ran.out.startswith("FAIL")
    assert "Robert" in ran.out


def test_a_statement_of_the_users_own(palprep: Palprep, spoken: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("I, {full_name}, sell you my house and my garden.\n")
    ran = palprep("consent", spoken, "--name", "Jane Carter", "--statement", "own.txt", "--json")
    assert ran.code == 1
    assert ran.objects[0]["outcome"] == "fail"


def test_a_statement_with_the_name_in_it(palprep: Palprep, spoken: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        '[statements]\ndefault = "I, Robert Miller, sell you my house."\n'
    )
    asked = ("consent", spoken, "--statement", "own.toml", "--name")
    assert palprep(*asked, "Robert Miller").out.startswith("FAIL")
    ran = palprep(*asked, "Jane Carter")
    assert ran.code == 2
    assert "names nobody called Jane Carter: write {full_name}" in ran.err


@pytest.mark.parametrize("content", [None, "A statement for nobody."])
def test_a_statement_that_cannot_be_meant_is_usage(
    palprep: Palprep, spoken: Path, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "own.txt").write_text(content)
    ran = palprep("consent", spoken, "--name", "Jane Carter", "--statement", "own.txt")
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_what_holds_no_sound_is_one_clear_line(palprep: Palprep, sample_media: Path) -> None:
    for name, code in (("text-named-video.mp4", 1), ("silent-training.mp4", 1), ("gone.mp4", 2)):
        ran = palprep("consent", sample_media / "broken" / name, "--name", "Jane Carter")
        assert ran.code == code
        assert ran.err.count("\n") == 1
        assert name in ran.err


def test_a_model_can_be_named_by_the_environment(
    palprep: Palprep, spoken: Path, tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "no-model")
    for command in (
        ("consent", spoken, "--name", "Jane Carter"),
        ("check", spoken, "--name", "Jane Carter"),
        ("fix", spoken, "--name", "Jane Carter", "--into", tmp_path / "fixed"),
        ("run", spoken.parent, "--into", tmp_path / "out", "--dry-run"),
        ("sandbox",),
    ):
        ran = palprep(*command, PALPREP_WHISPER_MODEL=nowhere)
        assert ran.code != 0
        assert "no-model" in ran.err
        assert "research/conversion/whisper.py" in ran.err
        assert not list(tmp_path.iterdir())
