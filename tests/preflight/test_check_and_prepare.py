"""The loop on real files: small ones made here, with every repair proved on the output."""

import contextlib
import hashlib
import io
import json
import os
import subprocess
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from videos import edited

from palprep import preflight
from palprep.errors import DamagedMedia, FileMissing, FileUnreadable, UnsupportedMedia, UsageError
from palprep.facts import Speaker
from palprep.media.ffmpeg import ffmpeg_binary
from palprep.media.sources import Source
from palprep.preflight import Prepared, check, prepare
from palprep.values import Kind, Outcome, Role


@pytest.fixture
def turned(tmp_path):
    """A picture that EXIF turns: red on the left once it is upright."""
    pixels = np.zeros((300, 600, 3), np.uint8)
    pixels[:, :300] = (220, 30, 30)
    upright = Image.fromarray(pixels)
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "turned.jpg"
    upright.transpose(Image.Transpose.ROTATE_90).save(path, quality=95, exif=exif)
    return path


@pytest.fixture
def clip(tmp_path):
    """Two seconds of H.264 and AAC with the index at the end."""
    path = tmp_path / "clip.mp4"
    with av.open(str(path), "w", format="mp4") as out:
        picture = out.add_stream("libx264", rate=25, pix_fmt="yuv420p", width=320, height=240)
        sound = out.add_stream("aac", rate=48_000, layout="mono")
        for index in range(50):
            pixels = np.full((240, 320, 3), 5 * index, np.uint8)
            out.mux(picture.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        wave = (0.2 * np.sin(np.arange(96_000) * 0.05)).astype(np.float32)[None]
        frame = av.AudioFrame.from_ndarray(wave, format="fltp", layout="mono")
        frame.sample_rate = 48_000
        out.mux(sound.encode(frame))
        out.mux(picture.encode(None))
        out.mux(sound.encode(None))
    return path


def test_a_picture_is_checked_as_a_face_image(turned):
    report = preflight.check(turned)
    assert report.role is Role.FACE_IMAGE
    assert report.check("image_upright").outcome is Outcome.WARN
    assert report.check("only_one_person_visible").outcome is Outcome.FAIL
    assert report.check("person_centered").outcome is Outcome.UNKNOWN
    assert report.facts.portrait.faces == ()


def test_a_repair_is_proved_on_the_output_and_leaves_the_source_alone(turned, tmp_path):
    before = turned.read_bytes()
    prepared = preflight.prepare(turned, into=tmp_path / "out")
    assert turned.read_bytes() == before
    assert prepared.report.path == str(prepared.path)
    assert prepared.report.check("image_upright").outcome is Outcome.PASS
    assert "orient" in {fix.id for fix in prepared.fixes}
    with Image.open(prepared.path) as output:
        assert output.size == (600, 300)
        assert not output.getexif()
        red, _, blue = output.convert("RGB").getpixel((100, 150))
        assert red > 180
        assert blue < 80
    assert prepared.sha256 == hashlib.sha256(Path(prepared.path).read_bytes()).hexdigest()


def test_what_was_measured_of_kept_pixels_is_what_the_output_would_measure(sample_media, tmp_path):
    source = tmp_path / "ada.jpg"
    portrait = Image.open(sample_media / "people" / "anna-miller" / "portrait.png")
    exif = Image.Exif()
    exif[0x0110] = "Phone"
    portrait.convert("RGB").resize((1200, 1200)).save(source, quality=92, exif=exif)
    ready = preflight.prepare(source, into=tmp_path / "out")
    assert "kept the image as it was encoded" in [each.did for each in ready.fixes]
    assert ready.report == preflight.check(ready.path)
    assert ready.report.facts.image.metadata == ()


@pytest.mark.parametrize(("degrees", "orientation"), [(90, 1), (180, 1), (270, 1), (90, 8)])
def test_a_portrait_that_is_not_upright_is_turned(sample_media, tmp_path, degrees, orientation):
    with Image.open(sample_media / "people" / "anna-miller" / "portrait.png") as opened:
        upright = opened.convert("RGB").resize((900, 900)).crop((0, 0, 900, 800))
    exif = Image.Exif()
    exif[0x0112] = orientation
    source = tmp_path / "ada.png"
    upright.rotate(degrees, expand=True).save(source, exif=exif)
    report = preflight.check(source)
    assert [each.id for each in report.failed] == ["pose_suitable_for_replica", "head_level"]
    [told] = report.told(Outcome.FAIL)
    assert told.sentence == "The picture lies on its side, or is upside down."
    ready = preflight.prepare(source, into=tmp_path / "out")
    assert ready.report.passed
    # EXIF, which stands the image on its head, is wrong.
    turn = {90: "90° clockwise", 180: "180°", 270: "90° counter-clockwise"}[degrees]
    told = "turned by 180°" if orientation == 8 else f"turned by {turn}"
    assert told in [each.did for each in ready.fixes]
    with Image.open(ready.path) as output:
        assert np.array_equal(np.asarray(output), np.asarray(upright))


def test_what_needs_no_repair_is_copied_byte_for_byte(tmp_path):
    source = tmp_path / "plain.jpg"
    Image.new("RGB", (700, 700), "navy").save(source)
    prepared = preflight.prepare(source, into=tmp_path / "out")
    assert prepared.fixes == ()
    assert (tmp_path / "out" / "plain.jpg").read_bytes() == source.read_bytes()


def test_a_wrong_extension_is_mended_by_the_copy(tmp_path):
    source = tmp_path / "plain.png"
    Image.new("RGB", (700, 700), "navy").save(source, "JPEG")
    assert preflight.check(source).check("file_extension").outcome is Outcome.WARN
    prepared = preflight.prepare(source, into=tmp_path / "out")
    assert prepared.path == tmp_path / "out" / "plain.jpg"
    assert [fix.id for fix in prepared.fixes] == ["rename"]
    assert prepared.report.check("file_extension").outcome is Outcome.PASS


def test_an_output_never_replaces_its_source(tmp_path):
    source = tmp_path / "plain.jpg"
    Image.new("RGB", (700, 700), "navy").save(source)
    with pytest.raises(UsageError, match="is the source itself"):
        preflight.prepare(source, into=tmp_path)


def test_files_of_one_name_are_prepared_next_to_each_other(tmp_path):
    made = []
    for colour in ("navy", "teal", "navy"):
        source = tmp_path / colour / "IMG_2041.jpg"
        source.parent.mkdir(exist_ok=True)
        Image.new("RGB", (700, 700), colour).save(source)
        prepared = preflight.prepare(source, into=tmp_path / "out")
        assert prepared.sha256 == hashlib.sha256(prepared.path.read_bytes()).hexdigest()
        assert prepared.report.path == str(prepared.path)
        made.append(prepared.path.name)
    assert made == ["IMG_2041.jpg", "IMG_2041-2.jpg", "IMG_2041.jpg"]
    replaced = preflight.prepare(
        tmp_path / "teal/IMG_2041.jpg", into=tmp_path / "out", overwrite=True
    )
    assert replaced.path.name == "IMG_2041.jpg"


@pytest.mark.parametrize("fixed", [False, True])
def test_what_is_prepared_are_the_bytes_that_were_judged(tmp_path, fixed):
    """A sender who can still write may put another file of the same size and time there."""
    path = tmp_path / "plain.jpg"
    exif = Image.Exif()
    if fixed:
        exif[0x0112] = 6
    Image.new("RGB", (700, 900), "navy").save(path, "JPEG", exif=exif)
    source = Source.of(path)
    assert source.sha256
    before, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-40] + bytes(38) + content[-2:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(FileUnreadable, match="changed while palprep worked on it"):
        preflight.prepare(source, into=tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_a_prepared_file_keeps_its_shape_as_json(tmp_path):
    source = tmp_path / "plain.jpg"
    Image.new("RGB", (700, 700), "navy").save(source)
    prepared = preflight.prepare(source, into=tmp_path / "out")
    assert prepared.to_json()["path"] == str(tmp_path / "out" / "plain.jpg")
    kept = prepared.model_dump_json(exclude_computed_fields=True)
    assert Prepared.model_validate_json(kept) == prepared


@pytest.mark.parametrize("given", ["bytes", "BytesIO", "open"])
def test_a_file_is_a_path_or_bytes_or_a_binary_file(tmp_path, given):
    source = tmp_path / "plain.jpg"
    Image.new("RGB", (700, 700), "navy").save(source)
    file = {
        "bytes": source.read_bytes,
        "BytesIO": lambda: io.BytesIO(source.read_bytes()),
        "open": lambda: source.open("rb"),
    }[given]()
    with contextlib.closing(file) if given != "bytes" else contextlib.nullcontext():
        prepared = preflight.prepare(file, into=tmp_path / "out")
    name, path = ("plain.jpg", str(source)) if given == "open" else ("image.jpg", "<bytes>")
    assert (prepared.path.name, prepared.source) == (name, path)
    assert prepared.path.read_bytes() == source.read_bytes()
    assert prepared.report.checks == preflight.check(source).checks


def test_bytes_have_no_extension_to_judge(tmp_path):
    picture = io.BytesIO()
    Image.new("RGB", (700, 700), "navy").save(picture, "JPEG")
    report = preflight.check(picture.getvalue())
    assert report.path == "<bytes>"
    assert "file_extension" not in {check.id for check in report.checks}
    assert "image_resolution" in {check.id for check in report.checks}


def test_printing_shows_the_table(tmp_path):
    source = tmp_path / "plain.jpg"
    Image.new("RGB", (700, 700), "navy").save(source)
    prepared = preflight.prepare(source, into=tmp_path / "out")
    first, done, *rest = str(prepared).splitlines()
    assert first == f"{source} -> {prepared.path}"
    assert done == "copied as it was"
    assert "\n".join(rest) == str(prepared.report)
    assert (prepared.passed, prepared.report.passed) == (False, False)


def test_a_video_gets_its_index_in_front_without_encoding(clip, tmp_path):
    assert preflight.check(clip).check("video_faststart").outcome is Outcome.WARN
    fractions = []
    prepared = preflight.prepare(clip, into=tmp_path / "out", progress=fractions.append)
    assert prepared.report.check("video_faststart").outcome is Outcome.PASS
    assert packets(clip) == packets(prepared.path)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_a_second_picture_and_sound_are_not_published(clip, tmp_path):
    twice = tmp_path / "twice.mp4"
    maps = ("-map", "0:v", "-map", "0:a", "-map", "1:v", "-map", "1:a")
    plain = ("-c", "copy", "-fflags", "+bitexact", "-movflags", "+faststart")
    command = [ffmpeg_binary(), "-i", clip, "-i", clip, *maps, *plain, twice]
    subprocess.run(command, check=True, capture_output=True)
    prepared = preflight.prepare(twice, into=tmp_path / "out")
    with av.open(str(prepared.path)) as container:
        assert [each.type for each in container.streams] == ["video", "audio"]
    assert packets(clip) == packets(prepared.path)


def test_what_an_edit_list_hides_is_told_and_not_published(clip, tmp_path):
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(edited(clip.read_bytes(), (0.0, 1.0)))
    assert preflight.check(cut).check("single_streams").outcome is Outcome.WARN
    prepared = preflight.prepare(cut, into=tmp_path / "out")
    assert prepared.report.check("single_streams").outcome is Outcome.PASS
    with av.open(str(prepared.path), options={"ignore_editlist": "1"}) as container:
        assert all(float(each.duration * each.time_base) < 1.1 for each in container.streams)


def test_what_was_cut_off_stays_so_where_its_sound_begins_early(tmp_path):
    whole, part = tmp_path / "whole.mp4", tmp_path / "part.mp4"
    picture = ("-itsoffset", "0.2", "-f", "lavfi", "-i", "testsrc=s=320x240:r=25:d=3")
    sound = ("-f", "lavfi", "-i", "sine=300:d=3", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    pieces = ("-movflags", "empty_moov+default_base_moof", "-frag_duration", "200000")
    command = [ffmpeg_binary(), *picture, *sound, *pieces, whole]
    subprocess.run(command, check=True, capture_output=True)
    part.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    prepared = preflight.prepare(part, into=tmp_path / "out")
    assert "resync" in {fix.id for fix in prepared.fixes}
    assert prepared.report.check("video_complete").outcome is Outcome.FAIL


def test_no_frame_is_missing_of_a_video_whose_rate_varied(tmp_path):
    varied = tmp_path / "varied.mp4"
    picture = ("-f", "lavfi", "-i", "testsrc=s=320x240:r=60:d=3", "-vf", "select='mod(n\\,3)'")
    coded = ("-fps_mode", "vfr", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    command = [ffmpeg_binary(), *picture, *coded, varied]
    subprocess.run(command, check=True, capture_output=True)
    prepared = preflight.prepare(varied, into=tmp_path / "out")
    assert "constant_rate" in {fix.id for fix in prepared.fixes}
    assert prepared.report.check("video_dropped_frames").outcome is Outcome.PASS


def packets(path):
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


def test_the_voice_of_a_video_is_its_audio_track(clip, tmp_path):
    prepared = preflight.prepare(clip, into=tmp_path / "out", role="voice-audio")
    assert Source.of(prepared.path).type.kind is Kind.AUDIO
    assert prepared.report.facts.recording.duration_s == pytest.approx(2.0, abs=0.1)


def test_clipping_is_told_of_a_recording_that_was_turned_down(speech, tmp_path):
    """Lossy coding and a gain leave no flat tops."""
    wave = np.clip(speech * (4 / np.abs(speech).max()), -0.999, 0.999)
    path = tmp_path / "loud.m4a"
    with av.open(str(path), "w", format="mp4") as out:
        stream = out.add_stream("aac", rate=16_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], "fltp", "mono")
        frame.sample_rate = 16_000
        out.mux([*stream.encode(frame), *stream.encode(None)])
    before = preflight.check(path).check("voice_clipping")
    prepared = preflight.prepare(path, into=tmp_path / "out")
    assert "level" in {fix.id for fix in prepared.fixes}
    assert before.outcome is not Outcome.PASS
    assert prepared.report.check("voice_clipping").measured == before.measured
    assert preflight.check(prepared.path).check("voice_clipping").measured != before.measured


def test_the_name_tells_a_consent_video(clip):
    consent = clip.with_name("Consent of Ada.mp4")
    clip.rename(consent)
    assert preflight.check(consent).role is Role.CONSENT_VIDEO


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"just words, no media", "media_unsupported", "text"),
        (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hosts\n", "media_unsupported", "playlist"),
        (b"", "media_damaged", "send it again"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(50), "media_damaged", "JPEG"),
    ],
)
def test_bad_media_is_a_failed_report_and_no_traceback(tmp_path, content, code, says):
    path = tmp_path / "video.mp4"
    path.write_bytes(content)
    report = preflight.check(path)
    assert (report.verdict, report.passed, report.error.code) == (Outcome.FAIL, False, code)
    assert says in report.error.message
    assert report.checks == ()
    with pytest.raises((UnsupportedMedia, DamagedMedia)):
        preflight.prepare(path, into=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_missing_files_and_directories(tmp_path):
    (tmp_path / "x.jpg").mkdir()
    for path in (tmp_path / "x.jpg", tmp_path / "nowhere.jpg"):
        assert preflight.check(path).error.code == "file_missing"
        with pytest.raises(FileMissing):
            preflight.prepare(path, into=tmp_path / "out")


def test_content_that_cannot_fill_the_role_says_what_would(turned):
    report = preflight.check(turned, role="training-video")
    assert report.error.code == "media_unsupported"
    assert "a training-video must be a video" in report.error.message
    assert report.error.message.endswith(". Export it as one of these, or give another file")


def test_an_empty_file_is_sent_again(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"")
    error = check(tmp_path / "a.jpg", role="face-image").error
    assert error.code == "media_damaged"
    assert error.message == "a.jpg is empty: it did not arrive whole, send it again"


def test_an_unknown_role_is_the_callers_mistake():
    with pytest.raises(UsageError, match="face-image, training-video"):
        check("x.jpg", role="portrait")


def test_a_speaker_can_be_a_full_name(clip):
    named, given = (
        preflight.check(clip, role="consent-video", speaker=each)
        for each in ("Ada Lovelace", Speaker(full_name="Ada Lovelace"))
    )
    assert named == given
    assert named.check("consent_spoken").outcome is not Outcome.PASS
    with pytest.raises(UsageError, match="full name"):
        preflight.check(clip, role="consent-video", speaker="")


def test_module_functions_take_a_profile(turned, tmp_path):
    assert check(turned, profile="core-4.5").profile == "core-4.5"
    assert prepare(turned, into=tmp_path / "out", profile="core-4.5").report.profile == "core-4.5"


def test_a_profile_that_was_changed_counts_from_then_on(turned, tmp_path):
    own = tmp_path / "own.toml"
    source = 'level = "fail"\nsource = "ours"\ndate = 2026-11-01\n'
    limit = f"[[limits.face-image.image_resolution]]\nmin = {{}}\n{source}"
    own.write_text('extends = "core-4"\n' + limit.format(200))
    assert check(turned, profile=own).check("image_resolution").passed
    own.write_text('extends = "core-4"\n' + limit.format(400))
    assert not check(turned, profile=own).check("image_resolution").passed


def test_a_prepared_file_in_another_folder_tells_nothing_of_the_first(turned, tmp_path):
    there, here = tmp_path / "worker", tmp_path / "run"
    prepared = prepare(turned, into=there)
    both = prepared.model_copy(update={"consent": prepared})
    assert str(there) in both.model_dump_json()
    home = both.relocated(lambda path: here / path.name)
    assert json.dumps(str(there))[1:-1] not in home.model_dump_json()
    for each in (home, home.consent):
        assert each.path == here / prepared.path.name
        assert each.report.path == each.report.facts.file.path == str(each.path)
    assert home.relocated(lambda path: there / path.name) == both
