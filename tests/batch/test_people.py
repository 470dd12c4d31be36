"""Which file plays which role, and what is said when that cannot be told."""

from __future__ import annotations

import os
import wave
from pathlib import Path

import pytest

from palprep.batch.people import find_people, name_of, read_person
from palprep.errors import UsageError
from palprep.media.source import Source
from palprep.values import Kind, Role

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(64)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "ada-lovelace"
    place.mkdir()
    return place


@pytest.fixture
def mp4(sample_media):
    """The bytes of a small real video."""
    return (sample_media / "people/jane-carter/consent.mp4").read_bytes()


def put_wav(path: Path) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))


def roles(person) -> dict[Role, str]:
    return {role: path.name for role, path in person.sources.items()}


def test_files_are_known_by_content_and_hints(folder, mp4):
    (folder / "IMG_0001.dat").write_bytes(JPEG)
    put_wav(folder / "take3.bin")
    (folder / "a.mp4").write_bytes(mp4)
    (folder / "MyConsentClip.mov").write_bytes(mp4)
    person = read_person(folder)
    assert person.problems == ()
    assert roles(person) == {
        Role.FACE_IMAGE: "IMG_0001.dat",
        Role.TRAINING_VIDEO: "a.mp4",
        Role.CONSENT_VIDEO: "MyConsentClip.mov",
        Role.VOICE_AUDIO: "take3.bin",
    }


def test_a_video_can_be_a_voice_recording(folder, mp4):
    (folder / "voice note.mov").write_bytes(mp4)
    assert roles(read_person(folder)) == {Role.VOICE_AUDIO: "voice note.mov"}


def test_other_files_are_left_alone(folder):
    (folder / "portrait.jpg").write_bytes(JPEG)
    (folder / "notes.txt").write_text("hello")
    (folder / ".DS_Store").write_bytes(JPEG)
    (folder / "Thumbs.db").write_bytes(JPEG)
    (folder / "raw.jpg").mkdir()
    assert roles(read_person(folder)) == {Role.FACE_IMAGE: "portrait.jpg"}


def test_a_false_name_still_counts_so_that_its_check_can_say_why(folder):
    (folder / "training.mp4").write_text("not a video")
    assert Source.of(folder / "training.mp4").type.kind is Kind.OTHER
    assert roles(read_person(folder)) == {Role.TRAINING_VIDEO: "training.mp4"}


def test_two_candidates_are_ambiguous_until_one_is_named(folder):
    (folder / "one.jpg").write_bytes(JPEG)
    (folder / "two.jpg").write_bytes(JPEG)
    [problem] = read_person(folder).problems
    assert problem.startswith("which file is the face-image: one.jpg, two.jpg?")
    assert "portrait" in problem
    (folder / "person.toml").write_text('[files]\nface-image = "two.jpg"\n')
    person = read_person(folder)
    assert roles(person)[Role.FACE_IMAGE] == "two.jpg"


def test_one_hint_among_several_decides(folder):
    (folder / "one.jpg").write_bytes(JPEG)
    (folder / "portrait.jpg").write_bytes(JPEG)
    person = read_person(folder)
    assert person.problems == ()
    assert roles(person) == {Role.FACE_IMAGE: "portrait.jpg"}


def test_consent_as_sound_alone_is_refused(folder):
    put_wav(folder / "consent.wav")
    person = read_person(folder)
    assert person.problems == ("consent.wav is audio alone: consent must be given on video",)


def test_settings(folder, mp4):
    (folder / "training.mp4").write_bytes(mp4)
    (folder / "words.txt").write_text("I, {full_name}, agree.")
    (folder / "person.toml").write_text(
        'name = "Ada"\nfull_name = "Ada Lovelace"\nvoice_name = "Ada warm"\ndescription = "d"\n'
        'tags = ["one"]\nmodel = "core-4.5"\ncallback_url = "https://example.com/c"\n'
        'statement = "words.txt"\n'
    )
    person = read_person(folder)
    assert person.problems == ()
    assert (person.name, person.full_name) == ("Ada", "Ada Lovelace")
    assert person.settings.tags == ("one",)
    assert person.statement == folder / "words.txt"


def test_names_come_from_the_folder(folder):
    (folder / "a.jpg").write_bytes(JPEG)
    person = read_person(folder)
    assert (person.slug, person.name, person.full_name) == (
        "ada-lovelace", "Ada Lovelace", "Ada Lovelace",
    )  # fmt: skip
    assert name_of("Jean-Luc_PICARD") == "Jean Luc PICARD"
    assert name_of("--") == "--"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fullname = "A"', "there is no setting fullname; did you mean full_name?"),
        ('zzz = "A"', "there is no setting zzz; known are callback_url, description,"),
        ('[files]\nvideo = "a"', "there is no setting files.video; known are face-image"),
        ('name = ""', "name: String should have at least 1 character"),
        ("tags = 3", "tags: Input should be a valid tuple"),
        (f'tags = ["{"x" * 65}"]', "tags.0: String should have at most 64 characters"),
        (f'description = "{"x" * 1001}"', "description: String should have at most 1000"),
        ('statement = "gone.txt"', "names gone.txt, which is not in the folder"),
        ('[files]\nvoice-audio = "gone.wav"', "names gone.wav as voice-audio; it is not there"),
        ("name = ", "person.toml cannot be read: Invalid value"),
    ],
)
def test_bad_settings_are_that_persons_problem(folder, text, said):
    (folder / "a.jpg").write_bytes(JPEG)
    (folder / "person.toml").write_text(text)
    [problem] = read_person(folder).problems
    assert said in problem


def test_an_empty_subfolder_is_a_problem_of_its_own(folder):
    (folder.parent / "bob").mkdir()
    (folder.parent / "bob" / "a.jpg").write_bytes(JPEG)
    ada, bob = find_people(folder.parent)
    assert ada.problems == (
        "no image, audio or video here: add a portrait, a video or a recording",
    )
    assert (bob.slug, bob.problems) == ("bob", ())


def test_names_that_no_text_can_hold(folder):
    (folder.parent / os.fsdecode(b"\xffbob")).mkdir()
    (folder / os.fsdecode(b"\xe9.jpg")).write_bytes(JPEG)
    ada, bob = find_people(folder.parent)
    assert ada.problems == ("the name of \ufffd.jpg is not UTF-8: rename it",)
    assert (bob.slug, bob.problems) == (
        "\ufffdbob", ("the folder's name is not UTF-8: rename it",),
    )  # fmt: skip


def test_folders_that_hold_nobody(tmp_path):
    with pytest.raises(UsageError, match="is not there: give a folder"):
        find_people(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file, not a folder"):
        find_people(tmp_path / "file")
    with pytest.raises(UsageError, match=r"one subfolder per person$"):
        find_people(tmp_path)
    (tmp_path / "portrait.jpg").write_bytes(JPEG)
    with pytest.raises(UsageError, match="its 1 media files belong in such subfolders"):
        find_people(tmp_path)
