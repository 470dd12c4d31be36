from __future__ import annotations

import os
from pathlib import Path

import av
import numpy as np
import pytest
from heard import heard_audio
from PIL import Image
from videos import edited, first_frame, heard_at, times, video_plan

from palprep import check, prepare
from palprep.errors import CannotFit
from palprep.fixes.carry_out import apply
from palprep.media import glimpse, probe_video
from palprep.media.sources import Source
from palprep.rules.plans import VoicePlan
from palprep.values import Outcome, Span

CONSENT = Path("people/jane-carter/consent.mp4")
"""Of the sample media; it needs no fix."""


def test_a_remux_keeps_every_packet_and_turns_the_file_round(
    phone_video, packets, top_level_boxes, tmp_path
):
    assert top_level_boxes(phone_video)[-1] == "moov"
    applied = apply(video_plan(), Source.of(phone_video), tmp_path / "ada")
    target = Path(applied.path)
    assert target == tmp_path / "ada.mp4"
    assert packets(target, "video") == packets(phone_video, "video")
    assert packets(target, "audio") == packets(phone_video, "audio")
    boxes = top_level_boxes(target)
    assert boxes.index("moov") < boxes.index("mdat")
    assert [each.id for each in applied.fixes] == ["remux", "faststart", "strip_metadata"]
    assert applied.fixes[0].did == "copied the h264 and aac packets into an mp4 unchanged"
    assert applied.coding_kept


def test_a_video_that_states_no_length_is_copied_whole(make, picture, packets, tmp_path):
    live = ("-c:v", "libx264", "-live", "1", "-f", "matroska")
    recorded = make("recorded.mkv", *picture, *live)
    source = Source.of(recorded)
    assert glimpse(source)[0] == pytest.approx(2.0, abs=0.05)
    target = Path(apply(video_plan(), source, tmp_path / "ada").path)
    assert len(packets(target, "video")) == len(packets(recorded, "video")) == 60


@pytest.mark.parametrize("shown", [[(0.0, 0.5), (1.5, 2.0)], [(0.0, 1.0)], [(1.0, 2.0)]])
def test_what_was_cut_out_of_a_video_stays_out(phone_video, tmp_path, shown):
    cut = tmp_path / "cut.mov"
    cut.write_bytes(edited(phone_video.read_bytes(), *shown))
    source = Source.of(cut)
    applied = apply(video_plan(), source, tmp_path / "ada")
    assert {"transcode_video", "transcode_audio"} <= {each.id for each in applied.fixes}
    assert len(times(Path(applied.path))) == 30
    sound = VoicePlan(reasons=(), mix="keep", copies=True)
    alone = heard_audio(Source.of(apply(sound, source, tmp_path / "sound").path))
    assert alone.duration_s == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("pan", "did"),
    [
        ("stereo|c0=c0|c1=-1*c0", "turned the inverted channel round and mixed down to mono"),
        ("stereo|c0=0*c0|c1=c0", "kept the second channel alone"),
        ("quad|FL=c0|BL=c0", "kept the first channel alone"),
    ],
)
def test_the_sound_of_a_video_is_heard_in_a_mixdown(phone_video, make, packets, tmp_path, pan, did):
    """Of a balanced microphone in a stereo socket whoever mixes it down hears nothing."""
    odd = make("odd.mp4", "-i", str(phone_video), "-c:v", "copy", "-af", f"pan={pan}")
    assert check(odd).check("voice_stereo").outcome is Outcome.WARN
    prepared = prepare(odd, into=tmp_path / "out")
    assert prepared.report.check("voice_stereo").outcome is Outcome.PASS
    assert did in [each.did for each in prepared.fixes if each.id == "mix"]
    with av.open(str(prepared.path)) as container:
        sound = np.concatenate([each.to_ndarray() for each in container.decode(audio=0)], axis=1)
    assert len(sound) == 1
    assert np.sqrt((sound**2).mean()) == pytest.approx(0.3 / np.sqrt(2), rel=0.1)


@pytest.mark.parametrize(
    "key",
    [
        *("com.apple.quicktime.location.ISO6709", "location", "com.apple.quicktime.model"),
        *("com.android.manufacturer", "artist", "title", "comment", "creation_time"),
    ],
)
def test_a_video_that_needs_no_fix_still_loses_what_tells_of_a_person_or_a_place(
    sample_media, make, packets, tmp_path, key
):
    good = sample_media / CONSENT
    tagged = ("-c", "copy", "-movflags", "+faststart+use_metadata_tags")
    value = "2026-03-01T12:00:00Z" if key == "creation_time" else "+51.5-000.1/"
    told = make("told.mp4", "-i", str(good), *tagged, "-metadata", f"{key}={value}")
    prepared = prepare(told, role="consent-video", into=tmp_path)
    assert [each.id for each in prepared.fixes] == ["remux", "strip_metadata"]
    assert packets(prepared.path, "video") == packets(good, "video")
    assert not probe_video(Source.of(prepared.path)).described


def test_a_video_that_tells_nothing_and_needs_no_fix_is_copied(sample_media, tmp_path):
    assert not prepare(sample_media / CONSENT, role="consent-video", into=tmp_path).fixes


def test_names_that_are_no_text_are_names(phone_video, tmp_path):
    named = tmp_path / os.fsdecode(b"M\xfcller.mov")
    named.write_bytes(phone_video.read_bytes())
    applied = apply(video_plan(), Source.of(named), tmp_path / named.stem)
    assert os.fsencode(applied.path).endswith(b"/M\xfcller.mp4")
    assert Path(applied.path).stat().st_size > 0


def test_rotation_survives_a_remux_as_metadata(phone_video, tmp_path):
    applied = apply(video_plan(), Source.of(phone_video), tmp_path / "ada")
    with av.open(applied.path) as container, av.open(str(phone_video)) as source:
        turned = next(container.decode(video=0)).rotation
        assert turned == next(source.decode(video=0)).rotation
        assert abs(turned) == 90


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_video_that_is_not_upright_is_turned(make, picture, phone_video, tmp_path, degrees):
    lossless = ("-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv420p")
    for number, recorded in enumerate((make("flat.mp4", *picture, *lossless), phone_video)):
        plan = video_plan(copy=False, turned_deg=degrees)
        applied = apply(plan, Source.of(recorded), tmp_path / f"{number}")
        wanted = Image.fromarray(first_frame(recorded)).rotate(-degrees, expand=True)
        shown = first_frame(Path(applied.path))
        assert shown.shape[:2] == wanted.size[::-1]
        assert np.abs(np.asarray(wanted, np.int16) - shown).mean() < 4
        said = [each.did for each in applied.fixes if each.id in {"turn", "transcode_video"}]
        assert f"{wanted.width}x{wanted.height} px" in said[0]
        assert said[1].startswith("turned by")


@pytest.mark.parametrize("copy", [True, False])
def test_place_device_and_title_stay_behind(phone_video, tmp_path, copy):
    assert b"Secretphone" in phone_video.read_bytes()
    applied = apply(video_plan(copy=copy), Source.of(phone_video), tmp_path / "ada")
    data = Path(applied.path).read_bytes()
    for secret in (b"Secretphone", b"+51.5007", b"Ada at home", b"Lavf"):
        assert secret not in data


@pytest.mark.parametrize("copy", [True, False])
def test_slow_motion_stays_known(make, picture, tmp_path, copy):
    tag = ("-movflags", "use_metadata_tags", "-metadata", "com.android.capture.fps=240")
    slow = make("slow.mp4", *picture, *tag)
    target = apply(video_plan(copy_video=copy), Source.of(slow), tmp_path / "ada").path
    assert probe_video(Source.of(target)).taken_rate == 240.0


def test_an_encode_bakes_the_rotation_in(phone_video, tmp_path):
    applied = apply(video_plan(copy=False), Source.of(phone_video), tmp_path / "ada")
    with av.open(applied.path) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (180, 320)
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert stream.codec_context.name == "h264"
        assert container.streams.audio[0].codec_context.name == "aac"
        assert next(container.decode(video=0)).rotation == 0
    shown = first_frame(Path(applied.path)).astype(int)
    wanted = first_frame(phone_video).astype(int)
    assert np.abs(shown - wanted).mean() < 4
    assert np.abs(shown[::-1, ::-1] - wanted).mean() > 20  # the other way round is far off
    assert "rotate" in [each.id for each in applied.fixes]


@pytest.mark.parametrize(("copy_video", "copy_audio"), [(True, False), (False, True)])
def test_picture_and_sound_are_copied_independently(
    phone_video, packets, tmp_path, copy_video, copy_audio
):
    plan = video_plan(copy_video=copy_video, copy_audio=copy_audio)
    target = Path(apply(plan, Source.of(phone_video), tmp_path / "ada").path)
    assert (packets(target, "video") == packets(phone_video, "video")) is copy_video
    assert (packets(target, "audio") == packets(phone_video, "audio")) is copy_audio


def test_a_video_without_sound_stays_one(make, picture, tmp_path):
    made = make("mute.mp4", *picture, "-c:v", "libx264", "-pix_fmt", "yuv420p")
    applied = apply(video_plan(), Source.of(made), tmp_path / "ada")
    with av.open(applied.path) as container:
        assert not container.streams.audio


def test_codecs_that_an_mp4_does_not_hold_are_encoded(make, picture, tmp_path):
    made = make("old.mov", *picture, "-c:v", "prores_ks", "-profile:v", "0")
    encoded = apply(video_plan(copy=False), Source.of(made), tmp_path / "ada")
    assert len(times(Path(encoded.path))) == 60


def test_a_wavering_rate_becomes_constant(make, tmp_path):
    made = make(
        "vfr.mp4",
        *("-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30:duration=3"),
        *("-vf", "select='not(eq(mod(n,17),5))'", "-fps_mode", "vfr"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p"),
    )
    before = np.diff(times(made))
    assert np.ptp(before) > 0.03
    target = Path(apply(video_plan(copy=False), Source.of(made), tmp_path / "ada").path)
    steps = np.diff(times(target))
    assert steps == pytest.approx(steps.mean(), abs=1e-4)


def test_a_trim_is_exact_to_the_frame_and_keeps_the_sound_in_step(make, tmp_path):
    # One white frame and one click, both at 1.0 s.
    made = make(
        "clap.mp4",
        *("-f", "lavfi", "-i", "color=black:size=160x90:rate=25:duration=3"),
        *("-f", "lavfi", "-i", "aevalsrc='if(between(t,1,1.01),0.9,0)':s=48000:d=3"),
        *("-vf", "drawbox=color=white:t=fill:enable='eq(n,25)'"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "250", "-c:a", "aac"),
    )
    plan = video_plan(copy=False, trim=Span(start_s=0.48, end_s=2.0))
    target = Path(apply(plan, Source.of(made), tmp_path / "ada").path)
    with av.open(str(target)) as container:
        frames = [
            (frame.time, frame.to_ndarray(format="gray").mean())
            for frame in container.decode(video=0)
        ]
    assert len(frames) == 38
    white = [time for time, light in frames if light > 128]
    assert white == pytest.approx([0.52], abs=0.001)
    assert heard_at(target) == pytest.approx(0.52, abs=0.012)


@pytest.mark.parametrize("copy_audio", [True, False])
def test_copied_sound_stays_in_step_with_a_cut_picture(make, tmp_path, copy_audio):
    made = make(
        "click.mp4",
        *("-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=3"),
        *("-f", "lavfi", "-i", "aevalsrc='if(between(t,1,1.01),0.9,0)':s=48000:d=3"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"),
    )
    plan = video_plan(copy=False, copy_audio=copy_audio, trim=Span(start_s=0.43, end_s=2.43))
    target = Path(apply(plan, Source.of(made), tmp_path / "ada").path)
    assert heard_at(target) == pytest.approx(0.57, abs=0.025)
    assert times(target)[0] == pytest.approx(0.0, abs=0.02)
    assert len(times(target)) == 50


def test_a_picture_that_starts_after_the_sound_is_cut_where_it_starts(make, picture, tmp_path):
    tone = ("-f", "lavfi", "-i", "sine=frequency=440:duration=5")
    late = make("late.mkv", *("-itsoffset", "3"), *picture, *tone, "-c:v", "libx264", "-c:a", "aac")
    plan = video_plan(copy=False, trim=Span(start_s=3.0, end_s=5.0))
    target = Path(apply(plan, Source.of(late), tmp_path / "ada").path)
    assert times(target)[0] == pytest.approx(0.0, abs=0.04)
    assert len(times(target)) == 60


def test_a_remux_can_end_early(phone_video, packets, tmp_path):
    plan = video_plan(trim=Span(start_s=0, end_s=1.0))
    applied = apply(plan, Source.of(phone_video), tmp_path / "ada")
    assert not applied.coding_kept
    target = Path(applied.path)
    kept = packets(target, "video")
    assert kept == packets(phone_video, "video")[: len(kept)]
    assert times(target)[-1] == pytest.approx(1.0, abs=0.15)


def test_a_size_is_kept_by_a_lower_rate_only_where_it_must(make, tmp_path):
    made = make(
        "noisy.mp4",
        *("-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2"),
        *("-vf", "noise=alls=40:allf=t", "-c:v", "libx264", "-crf", "12", "-preset", "veryfast"),
        *("-pix_fmt", "yuv420p"),
    )
    free = apply(video_plan(copy=False), Source.of(made), tmp_path / "free")
    roomy = apply(
        video_plan(copy=False, max_size_bytes=50_000_000), Source.of(made), tmp_path / "roomy"
    )
    sizes = [Path(each.path).stat().st_size for each in (free, roomy)]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
    assert f"{sizes[1]:,}" in roomy.fixes[-1].did
    limit = 130_000
    seen: list[float] = []
    plan = video_plan(copy=False, max_size_bytes=limit)
    tight = apply(plan, Source.of(made), tmp_path / "tight", progress=seen.append)
    size = Path(tight.path).stat().st_size
    assert limit * 0.6 < size <= limit
    assert "kbit/s or less" in tight.fixes[-1].did
    assert seen == sorted(seen)
    with pytest.raises(CannotFit, match="trim it shorter"):
        apply(video_plan(copy=False, max_size_bytes=4_000), Source.of(made), tmp_path / "no")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "free.mp4",
        "roomy.mp4",
        "tight.mp4",
    ]


def test_odd_sides_lose_a_line_rather_than_their_sharpness(make, tmp_path):
    made = make(
        "odd.mov",
        *("-f", "lavfi", "-i", "testsrc2=size=161x91:rate=25:duration=1"),
        *("-c:v", "png", "-pix_fmt", "rgb24"),
    )
    applied = apply(video_plan(copy=False), Source.of(made), tmp_path / "ada")
    assert first_frame(Path(applied.path)).shape == (90, 160, 3)
