"""Whatever codec comes in, what goes out is an mp4 that the profile takes."""

from __future__ import annotations

import av
import numpy as np
import pytest
from heard import heard_video
from videos import PROFILE, first_frame, report_of, video_plan, wanting

from palprep.fixes.carry_out import apply
from palprep.media.sources import Source
from palprep.rules.plans import plan
from palprep.values import Outcome

FAST = ("-preset", "ultrafast")

CODECS = {
    "vp8": ("in.webm", "-c:v", "libvpx", "-c:a", "libvorbis"),
    "vp9": ("in.webm", "-c:v", "libvpx-vp9", "-cpu-used", "8", "-c:a", "libopus"),
    "theora": ("in.ogg", "-c:v", "libtheora", "-c:a", "libvorbis"),
    "av1": ("in.mp4", "-c:v", "libsvtav1", "-preset", "12", "-c:a", "aac"),
    "mpeg2video": ("in.mp4", "-c:v", "mpeg2video", "-c:a", "mp2"),
    "mpeg4": ("in.mp4", "-c:v", "mpeg4", "-c:a", "libmp3lame"),
    "mjpeg": ("in.mov", "-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-c:a", "pcm_s16le"),
    "prores": ("in.mov", "-c:v", "prores", "-c:a", "pcm_s24be"),
    "hevc": ("in.mov", "-c:v", "libx265", "-x265-params", "log-level=none", *FAST, "-c:a", "aac"),
    "h264": ("in.mp4", "-c:v", "libx264", "-pix_fmt", "yuv422p10le", *FAST, "-c:a", "aac"),
}


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_ends_as_h264_and_aac(make, picture, tone, tmp_path, codec):
    name, *options = CODECS[codec]
    made = make(name, *picture, *tone, *options)
    report = report_of(made)
    assert report.facts.video.codec == codec
    assert wanting(report) & {"video_codec", "video_pixel_format"}
    repair = plan(report, PROFILE)
    assert not repair.copy_video
    applied = apply(repair, Source.of(made), tmp_path / "ada")
    after = report_of(tmp_path / "ada.mp4")
    assert wanting(after) == set()
    assert after.facts.video.frames == pytest.approx(report.facts.video.frames, abs=1)
    assert "transcode_video" in [each.id for each in applied.fixes]


@pytest.mark.parametrize("name", ["obs.mkv", "camera.mts"])
def test_h264_of_recorders_and_cameras_is_only_put_into_an_mp4(
    make, picture, tone, packets, tmp_path, name
):
    made = make(name, *picture, *tone, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac")
    repair = plan(report_of(made), PROFILE)
    assert repair.copy_video
    apply(repair, Source.of(made), tmp_path / "ada")
    after = report_of(tmp_path / "ada.mp4")
    assert wanting(after) == set()
    assert after.facts.video.frames == 60


def test_sound_of_more_channels_than_aac_has_is_mixed(make, picture, tmp_path):
    sound = "anoisesrc=c=pink:a=0.1:d=2,pan=22.2|" + "|".join(f"c{each}=c0" for each in range(24))
    made = make(
        "many.mov", *picture, "-f", "lavfi", "-i", sound, "-c:v", "libx264", "-c:a", "pcm_s16le"
    )
    apply(plan(report_of(made), PROFILE), Source.of(made), tmp_path / "ada")
    audio = heard_video(Source.of(tmp_path / "ada.mp4")).audio
    before = heard_video(Source.of(made)).audio
    assert (before.stream.channels, audio.stream.channels) == (24, 2)
    assert audio.levels.rms_dbfs == pytest.approx(before.levels.rms_dbfs, abs=1)


def test_frames_that_are_hours_apart_are_encoded(make, tmp_path):
    late = ("-vf", "setpts=N*4000/TB", "-fps_mode", "passthrough", "-c:v", "libx264")
    made = make("hours.mkv", "-f", "lavfi", "-i", "color=s=64x48:r=1:d=2", *late)
    applied = apply(video_plan(copy=False), Source.of(made), tmp_path / "ada")
    assert heard_video(Source.of(applied.path)).duration_s == pytest.approx(4000, abs=2002)


def test_mirrored_pictures_are_stored_as_they_were_shown(make, phone_video, tmp_path):
    made = make(
        "mirrored.mp4",
        *("-display_rotation:v:0", "90", "-display_hflip:v:0", "-i", str(phone_video)),
        *("-c", "copy"),
    )
    report = report_of(made)
    assert report.facts.video.mirrored
    assert "video_upright" in wanting(report)
    applied = apply(plan(report, PROFILE), Source.of(made), tmp_path / "ada")
    assert {"mirror", "rotate"} <= {each.id for each in applied.fixes}
    after = report_of(tmp_path / "ada.mp4")
    assert wanting(after) == set()
    shown = first_frame(tmp_path / "ada.mp4")
    assert shown.shape == (320, 180, 3)
    with av.open(str(made)) as container:
        stored = next(container.decode(video=0)).to_ndarray(format="rgb24")
    # A quarter turn with a mirror is a transposition, along the one diagonal or the other.
    distances = [
        np.abs(shown.astype(int) - each).mean()
        for each in (stored.swapaxes(0, 1), stored[::-1, ::-1].swapaxes(0, 1))
    ]
    assert min(distances) < 6


@pytest.mark.parametrize(("told", "turned"), [(0, 0), (90, 0), (0, 90)])
def test_what_is_encoded_has_square_pixels(make, picture, tone, tmp_path, told, turned):
    # 4:3 pixels, as HDV and AVCHD camcorders store them.
    narrow = ("-vf", "scale=240:180,setsar=4/3", "-c:v", "mpeg2video", "-q:v", "2", "-c:a", "mp2")
    flat = make("flat.mov", *picture, *tone, *narrow)
    made = make("narrow.mov", "-display_rotation:v:0", str(told), "-i", str(flat), "-c", "copy")
    repair = plan(report_of(made), PROFILE).model_copy(update={"turned_deg": turned})
    applied = apply(repair, Source.of(made), tmp_path / "ada")
    shown = (320, 180)[:: -1 if told or turned else 1]
    with av.open(applied.path) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == shown
        assert stream.sample_aspect_ratio in {None, 1}
    assert "{}x{} px".format(*shown) in applied.fixes[0].did


def test_interlaced_footage_becomes_whole_pictures(make, picture, tmp_path):
    made = make(
        "woven.mp4",
        *(*picture, "-vf", "tinterlace=interleave_top,fieldorder=tff", "-flags", "+ilme+ildct"),
        *("-c:v", "libx264", "-x264-params", "tff=1", "-pix_fmt", "yuv420p"),
    )
    report = report_of(made)
    assert "video_progressive" in wanting(report)
    applied = apply(plan(report, PROFILE), Source.of(made), tmp_path / "ada")
    assert "deinterlace" in [each.id for each in applied.fixes]
    after = report_of(tmp_path / "ada.mp4").facts.video
    assert not after.interlaced
    assert after.frame_rate == pytest.approx(report.facts.video.frame_rate)


def with_dolby_vision(data: bytes, profile: int, compatibility: int) -> bytes:
    """An mp4, its index at the end, with a configuration record added to its HEVC entry."""
    record = bytes([1, 0, profile << 1, 0b101, compatibility << 4]) + bytes(19)
    box = (8 + len(record)).to_bytes(4) + b"dvcC" + record
    at = data.index(b"hvcC") - 4
    at += int.from_bytes(data[at : at + 4])
    grown = bytearray(data[:at] + box + data[at:])
    for kind in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"hvc1"):
        start = grown.index(kind, grown.index(b"moov")) - 4
        size = int.from_bytes(grown[start : start + 4]) + len(box)
        grown[start : start + 4] = size.to_bytes(4)
    return bytes(grown)


@pytest.fixture
def hevc(make, picture):
    options = ("-c:v", "libx265", "-tag:v", "hvc1", "-x265-params", "log-level=none", *FAST)
    return make("hevc.mp4", *picture, *options, "-pix_fmt", "yuv420p10le").read_bytes()


def test_dolby_vision_without_a_base_layer_is_to_be_recorded_again(hevc, tmp_path):
    source = tmp_path / "dolby.mp4"
    source.write_bytes(with_dolby_vision(hevc, 5, 0))
    report = report_of(source)
    (finding,) = (each for each in report.checks if each.id == "video_dolby_vision")
    assert finding.outcome is Outcome.FAIL
    assert "record it again" in finding.advice
    assert plan(report, PROFILE) is None


def test_dolby_vision_with_a_base_layer_is_converted_by_it(hevc, tmp_path):
    source = tmp_path / "phone.mp4"
    source.write_bytes(with_dolby_vision(hevc, 8, 4))
    report = report_of(source)
    assert report.facts.video.dolby_vision == "8.4"
    assert "video_dolby_vision" not in wanting(report)
    assert (report.facts.video.hdr, report.facts.video.color_transfer) == (True, "arib-std-b67")
    applied = apply(plan(report, PROFILE), Source.of(source), tmp_path / "ada")
    assert "tone_map" in [each.id for each in applied.fixes]
    assert wanting(report_of(tmp_path / "ada.mp4")) == {"audio_present"}
