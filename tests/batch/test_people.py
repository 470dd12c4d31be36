"""Which file plays which role, and what is said when that cannot be told."""

from __future__ import annotations

import os
import wave
from pathlib import Path

import pytest

from palprep.batch.people.folder import find_people, read_person
from palprep.batch.people.person import Roster, name_of, read_people
from palprep.errors import FileUnreadable, UsageError
from palprep.media.sources import Source
from palprep.preflight.values import kinds_of
from palprep.values import Kind, Role

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(64)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "ada-lovelace"
    place.mkdir()
    return place


@pytest.fixture
def mp4(light_people):
    """The bytes of a small real video."""
    return (light_people / "jane-carter/consent.mp4").read_bytes()


def put_wav(path: Path) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))


def found_in(place) -> Roster:
    """Who is in the folder, read."""
    found = find_people(place)
    return Roster(read_people(found.people, kinds_of), found.loose)


def roles(person) -> dict[Role, str]:
    return {role: path.name for role, path in person.sources.items()}


def test_files_are_known_by_content_and_hints(folder, mp4):
    (folder / "IMG_0001.dat").write_bytes(JPEG)
    put_wav(folder / "take3.bin")
    (folder / "a.mp4").write_bytes(mp4)
    (folder / "MyConsentClip.mov").write_bytes(mp4)
    person = read_person(folder, kinds_of)
    assert person.problems == ()
    assert roles(person) == {
        Role.FACE_IMAGE: "IMG_0001.dat",
        Role.CONSENT_VIDEO: "MyConsentClip.mov",
        Role.VOICE_AUDIO: "take3.bin",
    }
    # Beside an image it may be the clip of a live photo.
    assert person.unclear == {Role.TRAINING_VIDEO: (folder / "a.mp4",)}


def test_a_video_can_be_a_voice_recording(folder, mp4):
    (folder / "voice note.mov").write_bytes(mp4)
    assert roles(read_person(folder, kinds_of)) == {Role.VOICE_AUDIO: "voice note.mov"}
    (folder / "voice note.mov").rename(folder / "recording.mov")
    assert roles(read_person(folder, kinds_of)) == {}
    (folder / "person.toml").write_text('stock_voice = "gloria"')
    assert roles(read_person(folder, kinds_of)) == {Role.VOICE_AUDIO: "recording.mov"}


def test_other_files_are_left_alone(folder):
    (folder / "portrait.jpg").write_bytes(JPEG)
    (folder / "notes.txt").write_text("hello")
    (folder / ".DS_Store").write_bytes(JPEG)
    (folder / "Thumbs.db").write_bytes(JPEG)
    (folder / "~$people.jpg").write_bytes(JPEG)
    (folder / "Icon\r").write_bytes(b"")
    (folder / "@eaDir").mkdir()
    (folder / "raw.jpg").mkdir()
    person = read_person(folder, kinds_of)
    assert roles(person) == {Role.FACE_IMAGE: "portrait.jpg"}
    assert [each.partition(" ")[0] for each in person.unused] == ["notes.txt", "raw.jpg"]


def test_what_icloud_alone_holds_is_asked_for(folder):
    """A replica would be made of the portrait, and not of the video."""
    (folder / "portrait.jpg").write_bytes(JPEG)
    (folder / ".training.mp4.icloud").write_bytes(b"bplist00")
    person = read_person(folder, kinds_of)
    assert person.problems == ("training.mp4 lies in iCloud, and not here: download it",)


@pytest.mark.parametrize("name", ["voice.m4a.part", "Unconfirmed 7.crdownload"])
def test_a_download_that_has_not_ended_is_waited_for(folder, name):
    """A voice would be made of what has arrived of it."""
    put_wav(folder / name)
    [problem] = read_person(folder, kinds_of).problems
    assert problem.startswith(f"{name} is a download that has not ended: wait for it")


def test_a_false_name_still_counts_so_that_its_check_can_say_why(folder):
    (folder / "training.mp4").write_text("not a video")
    assert Source.of(folder / "training.mp4").type.kind is Kind.OTHER
    assert roles(read_person(folder, kinds_of)) == {Role.TRAINING_VIDEO: "training.mp4"}
    (folder / "scan.TIFF").write_bytes(b"II*\0")  # Known, and taken for no role.
    assert roles(read_person(folder, kinds_of))[Role.FACE_IMAGE] == "scan.TIFF"


def test_of_two_recordings_one_is_to_be_chosen_until_one_is_named(folder):
    put_wav(folder / "one.wav")
    put_wav(folder / "two.wav")
    person = read_person(folder, kinds_of)
    assert (person.problems, person.sources) == ((), {})
    assert person.unclear[Role.VOICE_AUDIO] == (folder / "one.wav", folder / "two.wav")
    (folder / "person.toml").write_text('[files]\nvoice-audio = "two.wav"\n')
    person = read_person(folder, kinds_of)
    assert roles(person) == {Role.VOICE_AUDIO: "two.wav"}
    assert [each.words for each in person.assigned] == [
        "two.wav is taken as the voice-audio: person.toml names it"
    ]
    assert person.unused == ("one.wav is not used: the voice-audio is two.wav",)


def test_of_several_images_one_is_to_be_picked(folder):
    (folder / "one.jpg").write_bytes(JPEG)
    (folder / "two.jpg").write_bytes(JPEG)
    person = read_person(folder, kinds_of)
    assert (person.problems, person.sources) == ((), {})
    assert person.unclear[Role.FACE_IMAGE] == (folder / "one.jpg", folder / "two.jpg")
    picked = person.settled(Role.FACE_IMAGE, folder / "two.jpg", "it is the fittest")
    assert roles(picked) == {Role.FACE_IMAGE: "two.jpg"}


def test_a_file_is_named_in_either_form_of_unicode(folder):
    (folder / "a.jpg").write_bytes(JPEG)
    (folder / "Jose\u0301.jpg").write_bytes(JPEG)
    (folder / "person.toml").write_text('[files]\nface-image = "Jos\u00e9.jpg"', "utf-8")
    person = read_person(folder, kinds_of)
    assert (person.problems, roles(person)) == ((), {Role.FACE_IMAGE: "Jose\u0301.jpg"})


def test_one_hint_among_several_decides(folder):
    (folder / "one.jpg").write_bytes(JPEG)
    (folder / "portrait.jpg").write_bytes(JPEG)
    person = read_person(folder, kinds_of)
    assert person.problems == ()
    assert roles(person) == {Role.FACE_IMAGE: "portrait.jpg"}
    assert person.unused == ("one.jpg is not used: the face-image is portrait.jpg",)


def test_a_guess_says_why(folder, mp4):
    (folder / "IMG_2041.jpg").write_bytes(JPEG)
    (folder / "Consent - final (2).mp4").write_bytes(mp4)
    assert [each.words for each in read_person(folder, kinds_of).assigned] == [
        "IMG_2041.jpg is taken as the face-image: it is the only image without another role",
        "Consent - final (2).mp4 is taken as the consent-video: its name says consent",
    ]


def test_a_name_that_is_listened_for_is_told_where_no_one_wrote_it(folder, mp4):
    (folder / "portrait.jpg").write_bytes(JPEG)
    assert read_person(folder, kinds_of).guessed_name is None
    (folder / "consent.mp4").write_bytes(mp4)
    guessed = read_person(folder, kinds_of).guessed_name
    assert guessed.startswith(
        f"{read_person(folder, kinds_of).name} is taken as the name in the consent"
    )
    (folder / "person.toml").write_text('full_name = "Ada King"')
    assert read_person(folder, kinds_of).guessed_name is None


def test_what_nobody_uses_is_named(folder):
    (folder / "a.jpg").write_bytes(JPEG)
    (folder / "notes.docx").write_text("hello")
    (folder / "raw").mkdir()
    (folder / ".hidden").write_text("")
    assert read_person(folder, kinds_of).unused == (
        "notes.docx is not used: it is no image, audio or video",
        "raw is not used: it is a folder; move what is needed of it here",
    )
    (folder.parent / "team photo.jpg").write_bytes(JPEG)
    (folder.parent / "README.txt").write_text("")
    assert found_in(folder.parent).loose == ("README.txt", "team photo.jpg")


def test_however_the_folder_is_spelt_it_is_the_same(folder, tmp_path_factory, monkeypatch):
    (folder / "a.jpg").write_bytes(JPEG)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "link").symlink_to(folder.parent)
    monkeypatch.chdir(elsewhere)
    found = [found_in(each) for each in (folder.parent, "link", "../elsewhere0/./link")]
    assert found[0] == found[1]
    assert {each.slug for each in found[0].people} == {folder.name}


@pytest.mark.parametrize("name", ["person.toml", "portrait.jpg"])
def test_a_pipe_is_refused_at_once(folder, name):
    (folder / "a.wav").write_bytes(b"")
    os.mkfifo(folder / name)
    person = read_person(folder, kinds_of)
    if name == "person.toml":
        [problem] = person.problems
        assert "person.toml cannot be read" in problem
        assert "no regular file" in problem
    else:
        with pytest.raises(FileUnreadable, match="no regular file"):
            Source.of(person.sources[Role.FACE_IMAGE])


@pytest.mark.parametrize("name", ["../bob/a.jpg", "/etc/passwd"])
@pytest.mark.parametrize("setting", ["[files]\nface-image", "statement"])
def test_settings_name_nothing_outside_the_folder(folder, name, setting):
    (folder.parent / "bob").mkdir()
    (folder.parent / "bob" / "a.jpg").write_bytes(JPEG)
    (folder / "person.toml").write_text(f'{setting} = "{name}"\n')
    [problem] = read_person(folder, kinds_of).problems
    assert name in problem
    assert "folder" in problem


def test_settings_as_windows_writes_them(folder):
    (folder / "a.jpg").write_bytes(JPEG)
    (folder / "person.toml").write_bytes(b'\xef\xbb\xbfname = "Ada"\r\n')
    person = read_person(folder, kinds_of)
    assert (person.problems, person.name) == ((), "Ada")


@pytest.mark.parametrize("beside", [(), ("take1.wav",), ("take1.wav", "take2.wav")])
def test_consent_as_sound_alone_is_refused(folder, beside):
    for name in ("consent.wav", *beside):
        put_wav(folder / name)
    person = read_person(folder, kinds_of)
    assert person.problems == ("consent.wav is audio alone: consent must be given on video",)


def test_consent_as_sound_stops_no_one_who_has_a_video(folder, mp4):
    put_wav(folder / "consent.wav")
    (folder / "statement.mp4").write_bytes(mp4)
    person = read_person(folder, kinds_of)
    assert person.problems == ()
    assert person.unused == ("consent.wav is audio alone: consent must be given on video",)
    assert person.overlooked == person.unused


def test_settings(folder, mp4):
    (folder / "training.mp4").write_bytes(mp4)
    (folder / "words.txt").write_text("I, {full_name}, agree.")
    (folder / "person.toml").write_text(
        'name = "Ada"\nfull_name = "Ada Lovelace"\nvoice_name = "Ada warm"\ndescription = "d"\n'
        'tags = ["one"]\nmodel = "core-4.5"\ncallback_url = "https://example.com/c"\n'
        'statement = "words.txt"\n'
    )
    person = read_person(folder, kinds_of)
    assert person.problems == ()
    assert (person.name, person.full_name) == ("Ada", "Ada Lovelace")
    assert person.settings.tags == ("one",)
    assert person.statement == folder / "words.txt"


def test_names_come_from_the_folder(folder):
    (folder / "a.jpg").write_bytes(JPEG)
    person = read_person(folder, kinds_of)
    assert (person.slug, person.name, person.full_name) == (
        "ada-lovelace", "Ada Lovelace", "Ada Lovelace",
    )  # fmt: skip
    assert name_of("Jean-Luc_PICARD") == "Jean Luc PICARD"
    assert name_of("--") == "--"


@pytest.mark.parametrize(
    "slug",
    ["Carter, Jane", "01 - Jane Carter", "Jane Carter (2)", "WhatsApp Chat - Jane Carter",
     "WhatsApp Chat mit Jane Carter", "Chat de WhatsApp con Jane Carter", "7_jane_carter",
     "\u200fJane\u00a0 Carter\u200f"],
)  # fmt: skip
def test_a_name_is_what_lists_exports_and_copies_leave_of_it(slug):
    assert name_of(slug) == "Jane Carter"
    assert name_of("Nu\u0301n\u0303ez") == "Núñez"
    assert (name_of("0001"), name_of("12-a, b, c")) == ("0001", "A, B, C")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fullname = "A"', "there is no setting fullname; did you mean full_name?"),
        ('zzz = "A"', "there is no setting zzz; known are auto_fix_training_image, callback_url,"),
        ('[files]\nvideo = "a"', "there is no setting files.video; did you mean training-video or"),
        ('name = ""', "name: must not be empty"),
        ('language = "German"', "language: must be two letters, as in de"),
        ("tags = 3", 'tags: must be a list, as in ["one", "two"]'),
        ("stock_voice = 3", "stock_voice: must be text in straight quotes"),
        ("stock_voice = “gloria”", 'as in stock_voice = "gloria", in straight quotes'),
        ('[files]\nstock_voice = "a"', "write stock_voice above [files]"),
        ('[files]\nface-image = "A.JPG"', "as face-image; it is not there; did you mean a.jpg?"),
        (f'tags = ["{"x" * 65}"]', "tags.0: must have at most 64 characters"),
        (f'description = "{"x" * 1001}"', "description: must have at most 1,000"),
        ('statement = "gone.txt"', "names gone.txt, which is not in the folder"),
        ('[files]\nvoice-audio = "gone.wav"', "names gone.wav as voice-audio; it is not there"),
        ("name = ", "person.toml cannot be read: Invalid value"),
        (
            "properties = " + "{x = " * 252 + "1" + "}" * 252,
            "properties: must be JSON in whole char",
        ),
        ("properties = {x = [nan]}", "properties: must be JSON in whole characters, without NaN"),
        ('name = "Ada\\u0000"', "name: must not hold line breaks or control characters"),
        ('model = "nonsense"', "model: must be one of core-4, core-4.5, core-3"),
        ('callback_url = "javascript:alert(1)"', "callback_url: must be a link that starts with"),
        ("name = " + "[" * 5000, "person.toml cannot be read: it is nested too deeply"),
        ("#" * 70_000, "person.toml is larger than 65,536 bytes"),
    ],
)
def test_bad_settings_are_that_persons_problem(folder, text, said):
    (folder / "a.jpg").write_bytes(JPEG)
    (folder / "person.toml").write_text(text, "utf-8")
    [problem] = read_person(folder, kinds_of).problems
    assert said in problem


def test_each_mistake_in_settings_is_a_problem_of_its_own(folder):
    (folder / "a.jpg").write_bytes(JPEG)
    (folder / "person.toml").write_text('stockvoice = "a"\nmodell = "b"', "utf-8")
    one, other = read_person(folder, kinds_of).problems
    assert one == "person.toml: there is no setting stockvoice; did you mean stock_voice?"
    assert other == "person.toml: there is no setting modell; did you mean model?"


def test_an_empty_subfolder_is_a_problem_of_its_own(folder):
    (folder.parent / "bob").mkdir()
    (folder.parent / "bob" / "a.jpg").write_bytes(JPEG)
    ada, bob = found_in(folder.parent).people
    assert ada.problems == (
        "no image, audio or video here: add a portrait, a video or a recording",
    )
    assert (bob.slug, bob.problems) == ("bob", ())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Chat.zip", "unpack Chat.zip into this folder"),
        ("chat/voice.opus", "move the files from chat here; or, if these are people, run"),
    ],
)
def test_what_must_be_unpacked_or_moved_is_named(folder, name, said):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"PK\3\4")
    [problem] = read_person(folder, kinds_of).problems
    assert problem.startswith(f"no image, audio or video here: {said}")


@pytest.mark.parametrize("name", ["Person.toml", "person.toml.txt", "person (1).toml"])
def test_settings_under_another_name_are_not_passed_over(folder, name):
    put_wav(folder / "voice.wav")
    (folder / name).write_text('full_name = "Ada King"')
    person = read_person(folder, kinds_of)
    assert person.problems == (f"{name} is not read: rename it to person.toml",)
    assert (person.unread, person.unused) == (True, ())
    (folder / "person.toml").write_text("")
    assert read_person(folder, kinds_of).problems == ()


def test_settings_that_are_not_utf_8(folder):
    (folder / "person.toml").write_bytes('name = "Begoña"'.encode("latin-1"))
    assert "; save it as UTF-8, each setting once" in read_person(folder, kinds_of).problems[0]


def test_names_that_no_text_can_hold(folder):
    (folder.parent / os.fsdecode(b"\xffbob")).mkdir()
    (folder / os.fsdecode(b"\xe9.jpg")).write_bytes(JPEG)
    ada, bob = found_in(folder.parent).people
    assert ada.problems == ("the name of \ufffd.jpg is not UTF-8: rename it",)
    assert (bob.slug, bob.problems) == (
        "\ufffdbob", ("the folder's name is not UTF-8: rename it",),
    )  # fmt: skip


def test_folders_that_hold_nobody(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="is not there: give a folder"):
        found_in(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file, not a folder"):
        found_in(tmp_path / "file")
    with pytest.raises(UsageError, match=r"one subfolder per person$"):
        found_in(tmp_path)
    (tmp_path / "portrait.jpg").write_bytes(JPEG)
    with pytest.raises(
        UsageError, match="one subfolder per person, and move its 1 media file there"
    ) as error:
        found_in(tmp_path)
    alone = f"palprep run {tmp_path.parent} --only {tmp_path.name}"
    assert error.value.message.endswith(f"If this is one person: {alone}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=rf"palprep run \.\. --only {tmp_path.name}$"):
        found_in(Path())
