"""palprep consent: the documented JSON; code 0 only for a statement that was said."""

from __future__ import annotations

import datetime as dt
import signal
import subprocess
from pathlib import Path

import imageio_ffmpeg
import pytest

from palprep.cli.exits import Interrupted
from palprep.journal import Journal, give_code
from palprep.journal.entries.bodies import CodeGiven
from palprep.media.sources import Source

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


def test_a_statement_on_a_recording_is_not_to_be_fixed(
    palprep: Palprep, spoken: Path, tmp_path: Path
) -> None:
    """The fix of a recording is a voice: nothing looks for consent in it."""
    recording = tmp_path / "consent.m4a"
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", spoken, "-vn", "-c", "copy"]
    subprocess.run([*command, recording], check=True)
    ran = palprep("consent", recording, "--name", "Jane Carter")
    assert ran.code == 0
    assert ran.err.endswith("and consent must be given on video. Next: film it.\n")


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


def test_a_statement_in_a_language_that_was_not_named_is_no_failure(
    palprep: Palprep, spoken: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("Ich, {full_name}, willige in einen Klon von mir ein.\n")
    ran = palprep("consent", spoken, "--name", "Jane Carter", "--statement", "own.txt", "--json")
    assert ran.code == 1
    (entry,) = ran.objects
    assert entry["outcome"] == "unknown"
    assert "does not look English: name its language, with --language" in entry["reasons"][0]


def test_a_name_is_listened_for_as_it_is_spoken(palprep: Palprep, spoken: Path) -> None:
    asked = ("consent", spoken, "--name", "Джейн Картер")
    unknown = palprep(*asked)
    assert unknown.code == 1
    assert "--spoken-as" in unknown.out
    ran = palprep(*asked, "--spoken-as", "Jane Carter")
    assert ran.code == 0
    assert "--full-name 'Джейн Картер' --spoken-as 'Jane Carter' --into prepared" in ran.err


def test_how_a_name_sounds_needs_the_name(palprep: Palprep, spoken: Path) -> None:
    ran = palprep("check", spoken, "--spoken-as", "Jane Carter")
    assert ran.code == 2
    assert "--spoken-as needs --full-name" in ran.err


def test_a_statement_with_a_name_in_it(palprep: Palprep, spoken: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("I, Robert Miller, sell you my house.\n")
    ran = palprep("consent", spoken, "--statement", "own.txt", "--name", "Jane Carter")
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


def test_a_file_that_cannot_be_heard_is_an_object_all_the_same(
    palprep: Palprep, sample_media: Path
) -> None:
    for name, code in (("text-named-video.mp4", 1), ("silent-training.mp4", 1), ("gone.mp4", 2)):
        file = sample_media / "broken" / name
        ran = palprep("consent", file, "--name", "Jane Carter", "--json")
        (entry,) = ran.objects
        assert (ran.code, list(entry)) == (code, [*KEYS, "error"])
        assert (entry["path"], entry["outcome"], entry["words"]) == (str(file), "unknown", [])
        assert entry["error"]["message"] == entry["reasons"][0] in ran.err


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


def test_the_words_to_say_are_printed(palprep: Palprep, tmp_path: Path) -> None:
    ran = palprep("statement", "Jane Carter")
    assert ran.code == 0
    assert ran.out.startswith("I, Jane Carter, am currently speaking")
    assert ran.out.count("\n") == 1
    (tmp_path / "own.txt").write_text("I, {full_name}, agree.\n")
    asked = ("statement", "Jane Carter", "--statement", "own.txt", "--json")
    assert palprep(*asked).objects == [
        {"full_name": "Jane Carter", "statement": "I, Jane Carter, agree.", "code": None}
    ]


def test_a_fresh_code_is_printed_and_noted(palprep: Palprep, tmp_path: Path) -> None:
    asked = ("statement", "Jane Carter", "--code", "--journal", "out")
    ran = palprep(*asked)
    assert ran.code == 0
    assert len(ran.out.splitlines()[1].split()) == 3
    code = palprep(*asked, "--json", "--valid", "10m").objects[0]["code"]
    given, ends = (dt.datetime.fromisoformat(code[key]) for key in ("given_at", "ends_at"))
    assert (ends - given).total_seconds() == 600
    with Journal.of(tmp_path / "out") as journal:
        noted = [entry.body.code.words for entry in journal.entries(CodeGiven)]
    assert noted == [tuple(ran.out.splitlines()[1].split()), tuple(code["words"])]


@pytest.mark.parametrize(
    "more", [["--code"], ["--journal", "out"], ["--code", "--journal", "out", "--language", "de"]]
)
def test_a_code_needs_a_journal_and_english(palprep: Palprep, more: list[str]) -> None:
    assert palprep("statement", "Jane Carter", *more).code == 2


def test_with_a_journal_its_code_is_listened_for(
    palprep: Palprep, coded_consent: Path, tmp_path: Path
) -> None:
    asked = ("consent", coded_consent, "--name", "Jane Carter", "--journal", "out", "--json")
    with Journal.of(tmp_path / "out", create=True) as journal:
        pass
    assert list(palprep(*asked).objects[0]) == KEYS
    with Journal.of(tmp_path / "out") as journal:
        words = iter(("tiger", "lemon", "cactus"))
        give_code(journal, "Jane Carter", choose=lambda _: next(words))
    ran = palprep(*asked)
    assert ran.code == 0
    code = ran.objects[0]["code"]
    assert (code["words"], code["spoken_in"]) == (["tiger", "lemon", "cactus"], None)
    assert 12 < code["spoken"]["start_s"] < code["spoken"]["end_s"] < 16
    other = tmp_path / "again.mp4"
    other.write_bytes(coded_consent.read_bytes() + b"\0")
    ran = palprep("consent", other, *asked[2:])
    assert ran.code == 4
    assert "was spoken before, in consent.mp4" in ran.objects[0]["reasons"][0]


def test_a_journal_must_be_there(palprep: Palprep, spoken: Path) -> None:
    ran = palprep("consent", spoken, "--name", "Jane Carter", "--journal", "nowhere")
    assert ran.code != 0
    assert "There is no journal" in ran.err


@pytest.mark.parametrize(
    "options", [("--valid", "5m"), ("--valid", "0", "--code", "--journal", "j")]
)
def test_a_time_that_cannot_be_meant_is_refused(
    palprep: Palprep, tmp_path: Path, options: tuple[str, ...]
) -> None:
    ran = palprep("statement", "Jane", *options)
    assert (ran.code, ran.out, "--valid" in ran.err) == (2, "", True)
    assert not (tmp_path / "j").exists()


def test_a_signal_is_told_and_has_its_code(
    palprep: Palprep, spoken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        raise Interrupted(signal.SIGTERM)

    monkeypatch.setattr(Source, "of", ended)
    ran = palprep("consent", spoken, "--name", "Jane Carter")
    assert ran.code == 143
    assert ran.err.startswith("Interrupted: Nothing was verified. Go on with: palprep consent")
