"""Which measures are taken of what, on the sample media."""

import subprocess

import av
import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image
from still_video import forged_video

from palprep.facts import video_probing
from palprep.facts.facts import Speaker
from palprep.facts.probing import coded_alike, probe
from palprep.facts.video_probing import QUICK_SAMPLES
from palprep.media import images
from palprep.media.facts import MOST_IMAGE_MEMORY_MB
from palprep.media.sources import Source
from palprep.preflight import check, prepare, verify_consent
from palprep.rules import facing_limits
from palprep.values import Outcome, Role
from palprep.views.drawings.over_time import LABEL_WIDTH, timeline_image
from palprep.views.drawings.timeline_rows import rows
from tests.support.drawn import pictures


@pytest.fixture(scope="module")
def clip(light_people):
    return light_people / "jane-carter" / "consent.mp4"


@pytest.fixture(scope="module")
def consent(clip):
    """The consent clip with everything measured."""
    speaker = Speaker(full_name="Jane Carter")
    return check(clip, role=Role.CONSENT_VIDEO, speaker=speaker)


def test_a_video_is_watched_listened_to_and_verified(consent):
    facts = consent.facts
    assert facts.footage.samples[0].people == 1
    assert facts.portrait.people == 1
    assert facts.video.signal.frames > 100
    assert facts.voice.speech
    assert facts.consent.outcome == "pass"
    assert consent.check("consent_spoken").outcome is Outcome.PASS
    assert consent.check("one_person_throughout").outcome is Outcome.PASS
    assert consent.check("same_person_throughout").outcome is Outcome.PASS


def test_who_interrupts_does_not_wait_for_the_lips(clip, monkeypatch):
    looked_at = []

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(video_probing, "_look_at", interrupted)
    monkeypatch.setattr(video_probing, "follow_face", lambda frames, _: looked_at.extend(frames))
    with pytest.raises(KeyboardInterrupt):
        video_probing.probe_video(
            Source.of(clip), Role.CONSENT_VIDEO, None, most_s=None, quick=False
        )
    assert looked_at == []


@pytest.mark.thorough
def test_of_sound_that_starts_late_all_times_are_a_players(clip, consent, tmp_path):
    """A headset that connects late: for three seconds there is a picture and no sound."""
    picture, sound = "tpad=start_duration=3:start_mode=clone", "asetpts=PTS+3/TB"
    late = forged_video(clip, tmp_path / "late.mp4", picture, sound)
    report = check(late, role=Role.CONSENT_VIDEO, speaker=Speaker(full_name="Jane Carter"))
    facts = report.facts
    assert facts.video.timing.audio_offset_s == pytest.approx(3.0, abs=0.1)
    shifted = pytest.approx(consent.facts.consent.starts_at + 3.0, abs=0.2)
    assert facts.consent.starts_at == facts.timeline.consent.start_s == shifted
    assert report.check("consent_start").sentence.startswith("The statement of consent starts late")
    assert report.check("lip_sync").outcome is Outcome.PASS
    assert verify_consent(late, full_name="Jane Carter").starts_at == shifted
    mended = prepare(late, into=tmp_path / "fit", role="consent-video", speaker="Jane Carter")
    assert mended.report.check("consent_start").outcome is Outcome.PASS


@pytest.mark.thorough
def test_words_that_nothing_is_shown_to_have_no_lips(clip, tmp_path):
    """The lips are followed while faces are still looked for: that no frame is left of them does
    not make the video a damaged one."""
    picture, sound = "trim=end=1", "adelay=9000:all=1"
    over = forged_video(clip, tmp_path / "over.mp4", picture, sound, shortest=False)
    report = check(over, role=Role.CONSENT_VIDEO, speaker=Speaker(full_name="Jane Carter"))
    assert report.error is None
    assert report.facts.consent.starts_at > report.facts.video.duration_s
    assert report.facts.lips is None


def test_quick_leaves_the_rest_unknown_and_looks_at_few_frames(clip):
    report = check(clip, quick=True)
    facts = report.facts
    assert facts.voice is None
    assert facts.consent is None
    assert len(facts.footage.samples) <= QUICK_SAMPLES
    unknown = {check.id for check in report.having(Outcome.UNKNOWN)}
    assert {"audio_audible", "video_cuts", "consent_spoken"} <= unknown
    assert report.check("video_codec").outcome is Outcome.PASS


def test_all_of_a_video_is_looked_at_whose_clock_started_long_before(tmp_path):
    """Cameras and recorders go on counting: of two hours more is seen than the first frame."""
    late = tmp_path / "late.ts"
    exe = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-nostdin"]
    source = ["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=3"]
    subprocess.run([*exe, *source, "-output_ts_offset", "7200", str(late)], check=True)
    facts = probe(Source.of(late), Role.TRAINING_VIDEO, max_memory_mb=None, most_s=3600)
    assert facts.video.start_s > 7200
    assert len(facts.footage.samples) == 12
    assert facts.video.signal.frames > 30


def test_a_last_picture_that_stays_for_seconds_is_a_freeze(tmp_path):
    """What a recorder writes that has stalled: nothing comes after it that could differ."""
    path = tmp_path / "stalled.mp4"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        noise = np.random.default_rng(0).integers(0, 255, (50, 96, 160, 3), np.uint8)
        frames = (av.VideoFrame.from_ndarray(each, format="rgb24") for each in noise)
        packets = [packet for frame in frames for packet in stream.encode(frame)]
        packets += stream.encode(None)
        packets[-1].duration = round(10 / packets[-1].time_base)
        out.mux(packets)
    video = probe(Source.of(path), Role.TRAINING_VIDEO, max_memory_mb=None, most_s=None).video
    [freeze] = video.signal.freezes
    assert (freeze.start_s, freeze.end_s) == (1.96, pytest.approx(video.duration_s))
    assert video.duration_s == pytest.approx(11.96, abs=0.05)


def test_a_video_with_a_single_key_frame_is_looked_at_closely_once(clip, tmp_path):
    """The looks were spread over more key frames, and the checks of age were left out."""
    path = forged_video(clip, tmp_path / "one.mp4", "scale=640:-2,fps=0.2")
    report = check(path, role=Role.CONSENT_VIDEO, quick=True)
    assert len(report.facts.footage.looks) == 1
    assert report.check("appears_under_18").outcome is not Outcome.UNKNOWN


def test_the_voice_of_a_video_needs_no_look_at_its_picture(clip):
    facts = probe(Source.of(clip), Role.VOICE_AUDIO, max_memory_mb=None, most_s=None)
    assert facts.voice.speech
    assert facts.footage is None
    assert facts.portrait is None


@pytest.mark.thorough
def test_a_large_image_is_compared_with_its_copy_whatever_memory_it_takes(tmp_path):
    """A profile may allow more than usual; its fix failed, as if the copy could not be read."""
    noise = np.random.default_rng(0).integers(0, 255, (65, 70, 3), np.uint8)
    large = Image.fromarray(noise).resize((7000, 6500))
    large.save(tmp_path / "a.jpg", progressive=True, subsampling=0, comment=b"a comment")
    source = Source.of(tmp_path / "a.jpg")
    known = probe(source, Role.FACE_IMAGE, max_memory_mb=0, most_s=None)
    assert known.image.decoding_mb > MOST_IMAGE_MEMORY_MB
    (tmp_path / "b.jpg").write_bytes(images.bare_jpeg(source))
    alike = coded_alike(known, source, Source.of(tmp_path / "b.jpg"))
    assert (known.image.metadata, alike.image.metadata) == (("comment",), ())


def test_the_timeline_of_a_report_is_a_picture(consent):
    line = consent.facts.timeline
    shown = {row.label: row for row in rows(line, facing_limits(consent))}
    assert shown["Consent"].spans == [line.consent]
    assert shown["Speech"].spans
    [(left, _, pixels), *_] = pictures(timeline_image(consent))
    assert left == LABEL_WIDTH
    assert pixels.min() < 200


def test_a_still_has_no_timeline(light_people):
    portrait = light_people / "jane-carter" / "portrait.heic"
    assert timeline_image(check(portrait)) is None
