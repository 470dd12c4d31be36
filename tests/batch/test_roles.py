"""Roles by content: folders as telephones, messengers and people of three languages leave them."""

from __future__ import annotations

import shutil
import subprocess
import wave

import imageio_ffmpeg
import pytest
from scripted_engine import Scripted

from palprep.batch.people.folder import read_person
from palprep.batch.work.roles import STATEMENT_S, Seen, by_content
from palprep.journal.entries.bodies import FileGlimpsed
from palprep.values import Kind, Role

TRAINING, CONSENT = Role.TRAINING_VIDEO, Role.CONSENT_VIDEO
BOTH = {TRAINING, CONSENT}
LONG, SHORT = STATEMENT_S + 40, STATEMENT_S - 30


@pytest.mark.parametrize(
    ("files", "roles", "found"),
    [
        # The statement is heard in the short one, and the other is training.
        ({"a": (SHORT, True), "b": (LONG, False)}, BOTH, {CONSENT: "a", TRAINING: "b"}),
        ({"a": (SHORT, True), "b": (SHORT, False)}, BOTH, {CONSENT: "a", TRAINING: "b"}),
        # The training video opens with it, and the other is neither.
        ({"a": (LONG, True), "b": (SHORT, False)}, BOTH, {TRAINING: "a"}),
        ({"a": (LONG, True), "b": (SHORT, True)}, BOTH, {TRAINING: "a", CONSENT: "b"}),
        ({"a": (LONG, True), "b": (2 * LONG, False)}, BOTH, {TRAINING: "a"}),
        # Heard nowhere, or by no one: lengths tell, and the check of the short one says why.
        ({"a": (LONG, False), "b": (SHORT, False)}, BOTH, {TRAINING: "a", CONSENT: "b"}),
        ({"a": (LONG, None), "b": (SHORT, None)}, BOTH, {TRAINING: "a", CONSENT: "b"}),
        # One role is settled.
        ({"a": (SHORT, True), "b": (SHORT, False)}, {CONSENT}, {CONSENT: "a"}),
        ({"a": (SHORT, False)}, {CONSENT}, {}),
        ({"a": (SHORT, None)}, {CONSENT}, {CONSENT: "a"}),
        ({"a": (LONG, False), "b": (SHORT, False)}, {TRAINING}, {TRAINING: "a"}),
        ({"a": (SHORT, False)}, BOTH, {TRAINING: "a"}),
        # The statement alone is no training video that is too short.
        ({"a": (SHORT, True)}, BOTH, {CONSENT: "a"}),
        # Of files that nobody can read none is asked about.
        ({"a": (0.0, None), "b": (0.0, None)}, BOTH, {TRAINING: "a", CONSENT: "b"}),
        ({"a": (0.0, None), "b": (0.0, None)}, {TRAINING}, {TRAINING: "a"}),
        # Two answers are a question.
        ({"a": (LONG, False), "b": (LONG, False)}, BOTH, {TRAINING: "ab"}),
        ({"a": (SHORT, True), "b": (SHORT, True), "c": (LONG, False)}, BOTH,
         {CONSENT: "ab", TRAINING: "c"}),
        ({"a": (SHORT, True), "b": (SHORT, True)}, {CONSENT}, {CONSENT: "ab"}),
        ({"a": (LONG, None), "b": (SHORT, None), "c": (SHORT, None)}, BOTH,
         {TRAINING: "a", CONSENT: "bc"}),
    ],
)  # fmt: skip
def test_statement_and_length_decide(files, roles, found, tmp_path):
    seen = [Seen(tmp_path / name, *known) for name, known in files.items()]
    told = by_content(seen, roles)
    assert {role: "".join(each.file.name for each in left) for role, left in told.items()} == found


KINDS = {
    **dict.fromkeys((".heic", ".jpg", ".png", ".webp"), Kind.IMAGE),
    **dict.fromkeys((".opus", ".aac"), Kind.AUDIO),
}


@pytest.mark.parametrize(
    ("names", "sources", "left"),
    [
        ("Einwilligung.mp4 Schulung.mp4 Foto.jpg", "Foto.jpg Schulung.mp4 Einwilligung.mp4", ""),
        ("Porträt.jpg IMG_1.jpg", "Porträt.jpg", ""),
        ("Einwilligungsvideo.mp4 IMG_1.jpg", "IMG_1.jpg Einwilligungsvideo.mp4", ""),
        ("entrenamiento.mp4 autorización.mp4 voz.opus",
         "entrenamiento.mp4 autorización.mp4 voz.opus", ""),
        ("IMG_1234.MOV IMG_1234.HEIC", "IMG_1234.HEIC", "IMG_1234.MOV"),
        ("VID-20260101-WA0003.mp4 VID-20260101-WA0004.mp4 PTT-20260101-WA0001.opus",
         "PTT-20260101-WA0001.opus", "VID-20260101-WA0003.mp4 VID-20260101-WA0004.mp4"),
        ("signal-2026-01-01-120000.mp4 training.mp4", "training.mp4",
         "signal-2026-01-01-120000.mp4"),
        ("Screenshot_2026.png Reisepass.jpg IMG-2026-WA0001.jpg", "IMG-2026-WA0001.jpg", ""),
        ("Bildschirmfoto_1.png", "Bildschirmfoto_1.png", ""),
        ("Einwilligung.jpg STK-2026-WA0002.webp IMG_1.heic", "IMG_1.heic", ""),
        ("ScreenRecording_1.mov IMG_2.MOV PTT-1.opus", "IMG_2.MOV PTT-1.opus",
         "ScreenRecording_1.mov"),
        ("signal-2026-01-01-120000.aac", "signal-2026-01-01-120000.aac", ""),
        ("GMT20260101_Recording_1920x1080.mp4 consent.mp4 IMG_1.jpg", "IMG_1.jpg consent.mp4",
         "GMT20260101_Recording_1920x1080.mp4"),
        ("Meeting-Recording-1.mp4 Meeting-Recording-2.mp4 Recording.opus", "Recording.opus",
         "Meeting-Recording-1.mp4 Meeting-Recording-2.mp4"),
        ("consent-recording.mp4 training-recording.mp4",
         "training-recording.mp4 consent-recording.mp4", ""),
        ("consent.mp4 recording.mov training.mp4", "training.mp4 consent.mp4 recording.mov", ""),
        ("training-with-consent.mp4 voice-note.mov", "voice-note.mov", "training-with-consent.mp4"),
    ],
)  # fmt: skip
def test_names_are_a_hint_in_three_languages(names, sources, left, tmp_path):
    for name in names.split():
        (tmp_path / name).write_bytes(b"")

    def kinds(paths):
        return tuple(KINDS.get(each.suffix.lower(), Kind.VIDEO) for each in paths)

    person = read_person(tmp_path, kinds)
    assert person.problems == ()
    assert [each.name for each in person.sources.values()] == sources.split()
    assert sorted(each.name for each in person.videos) == left.split()


def tone(path, seconds: float) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(range(200)) * int(80 * seconds))


def spoken(recording, path, seconds: float) -> None:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", recording, "-t", str(seconds)]
    subprocess.run([*command, path], check=True, stdin=subprocess.DEVNULL)


def live_clip(video, path) -> None:
    """A telephone's three seconds, named as one half of a live photo."""
    named = "com.apple.quicktime.content.identifier=4E5D"
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", video, "-t", "3", "-c", "copy"),
        *("-movflags", "use_metadata_tags", "-metadata", named, path),
    ]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def test_many_copies_are_told_at_once(go, add):
    place = add("ada")
    for number in range(20):
        shutil.copy(place / "recording.wav", place / f"recording-{number:02}.wav")
    [person] = go(dry_run=True).people
    [told] = [each for each in person.reasons if "same file" in each]
    names = ", ".join(f"recording-{number:02}.wav" for number in range(5))
    assert told == f"{names} and 15 more are not used: they are the same file as recording.wav"


def test_a_chat_export_sorts_itself(go, folder, light_people):
    """The statement, a longer video, a live photo, its still once more, two voice notes, a tone."""
    jane, sent = folder / "jane-carter", light_people / "jane-carter"
    jane.mkdir()
    shutil.copy(sent / "consent.mp4", jane / "WhatsApp Video 2026-01-01.mp4")
    shutil.copy(sent / "training.mp4", jane / "PXL_1.mp4")
    shutil.copy(sent / "portrait.heic", jane / "IMG_1.HEIC")
    shutil.copy(sent / "portrait.heic", jane / "IMG_1 (1).HEIC")
    live_clip(sent / "training.mp4", jane / "IMG_1.MOV")
    spoken(sent / "recording.m4a", jane / "PTT-1.wav", 14)
    spoken(sent / "recording.m4a", jane / "PTT-2.wav", 4)
    tone(jane / "ringtone.wav", 40)
    looked = []

    class Looking(Scripted):
        def run(self, function, /, *args):
            found = super().run(function, *args)
            if isinstance(found, FileGlimpsed):
                looked.append((args[0].name, args[1] is not None))
            return found

    engine = Looking()
    [person] = go(engine=engine, dry_run=True).people
    assert {role: task.source.rpartition("/")[2] for role, task in engine.tasks.items()} == {
        Role.CONSENT_VIDEO: "WhatsApp Video 2026-01-01.mp4",
        Role.TRAINING_VIDEO: "PXL_1.mp4",
        Role.FACE_IMAGE: "IMG_1.HEIC",
        Role.VOICE_AUDIO: "PTT-1.wav",
    }
    said = "\n".join(person.reasons)
    assert "WhatsApp Video 2026-01-01.mp4 is taken as the consent-video: the statement of" in said
    assert "PTT-1.wav is taken as the voice-audio: it holds the most speech" in said
    assert "IMG_1.MOV is not used: it is the clip of a live photo" in said
    assert "is not used: it is the same file as IMG_1" in said
    assert ("IMG_1.MOV", True) not in looked
    before = list(looked)
    go(engine=engine, dry_run=True)
    assert looked == before


def test_a_live_clip_is_told_from_a_video_though_its_photo_was_renamed(go, folder, light_people):
    sent = light_people / "jane-carter"
    for name in ("ada", "jane"):
        (folder / name).mkdir()
        shutil.copy(sent / "portrait.heic", folder / name / "edited.heic")
        (folder / name / "person.toml").write_text('stock_voice = "anna"\n')
    live_clip(sent / "training.mp4", folder / "ada" / "IMG_7.MOV")
    shutil.copy(sent / "consent.mp4", folder / "jane" / "PXL_7.mp4")
    ada, jane = go(engine=Scripted(), dry_run=True).people
    assert {each.role for each in ada.assets} == {Role.FACE_IMAGE}
    assert {each.role for each in jane.assets} == {Role.FACE_IMAGE, CONSENT}


def test_the_clip_of_a_motion_photo_is_told_by_the_name_that_an_export_gives_it(
    go, folder, light_people
):
    """Of a portrait from Google Photos a longer training video was asked for."""
    (folder / "ada").mkdir()
    shutil.copy(light_people / "jane-carter/portrait.heic", folder / "ada" / "PXL_7.MP.heic")
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error"),
        *("-i", light_people / "jane-carter/training.mp4", "-t", "3", "-c", "copy"),
        *("-f", "mp4", folder / "ada" / "PXL_7.MP"),
    ]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (folder / "ada" / "person.toml").write_text('stock_voice = "anna"\n')
    [ada] = go(engine=Scripted(), dry_run=True).people
    assert {each.role for each in ada.assets} == {Role.FACE_IMAGE}
    assert "PXL_7.MP is not used: it is the clip of a live photo" in ada.reasons


def test_of_an_edited_video_the_original_is_not_used(go, folder, light_people):
    """A replica was trained from what its owner had cut off: the original is longer."""
    (folder / "jane").mkdir()
    for sent, name in (("training", "IMG_7.MOV"), ("consent", "IMG_E7.MOV")):
        shutil.copy(light_people / f"jane-carter/{sent}.mp4", folder / "jane" / name)
    engine = Scripted()
    [jane] = go(engine=engine, dry_run=True).people
    assert "IMG_7.MOV is not used: IMG_E7 was edited from it" in jane.reasons
    assert {each.source.rpartition("/")[2] for each in jane.assets} == {"IMG_E7.MOV"}
    # One that cannot be read is a question.
    (folder / "jane" / "IMG_E7.MOV").write_bytes(b"cut off")
    [jane] = go(engine=engine, dry_run=True).people
    assert jane.asked == {TRAINING: ("IMG_7.MOV", "IMG_E7.MOV")}


def test_the_statement_alone_is_a_consent_video(go, folder, light_people):
    """Whoever sent that lacks a training video, and not a longer statement."""
    (folder / "jane-carter").mkdir()
    shutil.copy(light_people / "jane-carter" / "consent.mp4", folder / "jane-carter" / "PXL_7.mp4")
    [jane] = go(engine=Scripted(), dry_run=True).people
    assert jane.status == "needs_answer"
    assert "add a recording or a training video" in jane.reasons[0]
    assert {each.role for each in jane.assets} == {CONSENT}


def test_names_that_lengths_speak_against_are_listened_to(go, folder, light_people):
    jane, sent = folder / "jane-carter", light_people / "jane-carter"
    jane.mkdir()
    shutil.copy(sent / "consent.mp4", jane / "training.mp4")
    shutil.copy(sent / "training.mp4", jane / "consent.mp4")
    engine = Scripted()
    go(engine=engine, dry_run=True)
    assert engine.tasks[CONSENT].source.endswith("training.mp4")
    assert engine.tasks[TRAINING].source.endswith("consent.mp4")


def test_what_content_leaves_open_is_asked_with_what_is_known(go, folder):
    (folder / "ada").mkdir()
    tone(folder / "ada" / "PTT-1.wav", 14)
    tone(folder / "ada" / "PTT-2.wav", 12)
    [person] = go(engine=Scripted(), dry_run=True).people
    assert person.status == "needs_answer"
    [question] = person.reasons
    assert question.startswith(
        "Which file is the voice-audio: PTT-1.wav (14.0 s, without speech), PTT-2.wav (12.0 s, "
        "without speech)?"
    )
    assert person.asked == {Role.VOICE_AUDIO: ("PTT-1.wav", "PTT-2.wav")}


def test_a_file_that_cannot_be_read_is_asked_about_as_that(go, folder):
    (folder / "ada").mkdir()
    tone(folder / "ada" / "PTT-1.wav", 14)
    (folder / "ada" / "PTT-2.wav").symlink_to("gone.wav")
    [person] = go(engine=Scripted(), dry_run=True).people
    known = "PTT-1.wav (14.0 s, without speech), PTT-2.wav (unreadable)"
    asked = f"Which file is the voice-audio: {known}?"
    assert person.reasons[0].startswith(asked)


def test_what_may_hold_the_missing_video_is_told_with_the_result(go, folder):
    (folder / "ada" / "Videos").mkdir(parents=True)
    tone(folder / "ada" / "PTT-1.wav", 14)
    (folder / "ada" / "drive-download.zip").write_bytes(b"PK")
    (folder / "ada" / "notes.txt").write_text("x")
    [person] = go(engine=Scripted(), dry_run=True).people
    assert person.reasons[-2:] == (
        "Videos is not used: it is a folder; move what is needed of it here",
        "drive-download.zip is not used: unpack it, if something in it is needed",
    )


def test_a_missing_stock_voice_is_told_before_which_portrait_was_taken(go, add, sample_media):
    place = add("ada", portrait=True)
    (place / "portrait.heic").rename(place / "IMG_1.heic")
    shutil.copy(sample_media / "broken/landscape-without-a-face.jpg", place / "IMG_2.jpg")
    [person] = go(dry_run=True).people
    told = [each for each in person.reasons if "portrait" in each]
    assert [each.split(":")[0] for each in told] == [
        "No replica is made of the portrait", "IMG_1.heic is the portrait",
    ]  # fmt: skip
