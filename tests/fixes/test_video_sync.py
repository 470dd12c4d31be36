"""Sound and picture in step, by the time stamps of both."""

from __future__ import annotations

import av
import pytest
from heard import heard_video
from videos import PROFILE, heard_at, report_of, video_plan, wanting

from palprep.fixes.carry_out import apply
from palprep.media.sources import Source
from palprep.rules.plans import plan


@pytest.mark.parametrize("late_s", [0.5, -0.5])
def test_sound_and_picture_start_together_and_stay_in_step(make, tmp_path, late_s):
    """A click 2 s into the sound: it must stay where it was beside the picture."""
    delayed = "1" if late_s > 0 else "0"
    shift = ("-itsoffset", str(abs(late_s)))
    inputs = [
        ("-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=4"),
        ("-f", "lavfi", "-i", "aevalsrc='if(between(t,2,2.01),0.9,0)':s=48000:d=4"),
    ]
    inputs[int(delayed)] = (*shift, *inputs[int(delayed)])
    made = make(
        "apart.mp4",
        *(*inputs[0], *inputs[1], "-map", "0:v", "-map", "1:a"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"),
    )
    report = report_of(made)
    assert report.facts.video.timing.audio_offset_s == pytest.approx(late_s, abs=0.03)
    repair = plan(report, PROFILE)
    applied = apply(repair, Source.of(made), tmp_path / "ada")
    assert "resync" in [each.id for each in applied.fixes]
    after = report_of(tmp_path / "ada.mp4")
    assert after.facts.video.timing.audio_offset_s == pytest.approx(0.0, abs=0.03)
    wanted = 2.0 + late_s if late_s > 0 else 2.0 - abs(late_s)
    assert heard_at(tmp_path / "ada.mp4") == pytest.approx(wanted, abs=0.03)


def test_silence_stands_where_packets_of_the_sound_are_missing(make, tmp_path):
    """A click 3 s into the sound, of which the second before it is missing."""
    made = make(
        "whole.mp4",
        *("-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=4"),
        *("-f", "lavfi", "-i", "aevalsrc='if(between(t,3,3.01),0.9,0)':s=48000:d=4"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"),
    )
    holed = tmp_path / "holed.mp4"
    options = {"movflags": "+faststart"}
    with av.open(str(made)) as source, av.open(str(holed), "w", options=options) as target:
        streams = {each.index: target.add_stream_from_template(each) for each in source.streams}
        for packet in source.demux():
            missing = packet.stream.type == "audio" and 1.5 <= (packet.dts or 0) / 48_000 < 2.5
            if packet.dts is not None and not missing:
                packet.stream = streams[packet.stream.index]
                target.mux(packet)
    report = report_of(holed)
    assert wanting(report) == {"av_sync_drift"}
    repair = plan(report, PROFILE)
    assert (repair.copy_video, repair.copy_audio) == (True, False)
    apply(repair, Source.of(holed), tmp_path / "ada")
    assert heard_at(tmp_path / "ada.mp4") == pytest.approx(3.0, abs=0.03)
    assert wanting(report_of(tmp_path / "ada.mp4")) == set()


@pytest.mark.parametrize("late_s", [0.0, 1.0])
def test_sound_that_goes_on_after_the_last_picture_is_cut_off(make, tmp_path, late_s):
    """A service would count 7 s, of which 3 s show one picture."""
    made = make(
        "longer.mp4",
        *("-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=4"),
        *("-itsoffset", str(late_s), "-f", "lavfi", "-i", "sine=440:r=48000:d=7"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"),
    )
    report = report_of(made)
    assert report.check("av_sync_end").measured == f"{3 + late_s:.1f} s"
    repair = plan(report, PROFILE)
    assert repair.copy_video
    applied = apply(repair, Source.of(made), tmp_path / "ada")
    assert "trim" in [each.id for each in applied.fixes]
    after = report_of(tmp_path / "ada.mp4")
    assert wanting(after) == set()
    assert after.facts.video.audio.duration_s == pytest.approx(4.0, abs=0.06)
    assert after.facts.video.frames == report.facts.video.frames


def test_sound_around_the_picture_is_cut_off_on_both_sides(make, tmp_path):
    made = make(
        "around.mp4",
        *("-itsoffset", "1", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=4"),
        *("-f", "lavfi", "-i", "sine=440:r=48000:d=8"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"),
    )
    report = report_of(made)
    assert {"av_sync_offset", "av_sync_end"} <= wanting(report)
    apply(plan(report, PROFILE), Source.of(made), tmp_path / "ada")
    after = report_of(tmp_path / "ada.mp4")
    assert wanting(after) == set()
    assert after.facts.video.frames == report.facts.video.frames == 100


@pytest.mark.parametrize(
    ("name", "picture_s", "sound_s"),
    [("between_milliseconds.ts", 0.0, 0.0), ("behind_another_stream.mkv", 3.0, 2.0)],
)
def test_sound_before_the_picture_is_cut_off_to_the_frame(make, tmp_path, name, picture_s, sound_s):
    """It starts 42.67 ms earlier; or behind another sound, from which the cut is not counted."""
    made = make(
        name,
        *("-itsoffset", f"{picture_s}", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=4"),
        *("-itsoffset", f"{sound_s}", "-f", "lavfi", "-i", "sine=440:r=24000:d=5"),
        *("-f", "lavfi", "-i", "sine=880:r=24000:d=1", "-map", "0:v", "-map", "1:a", "-map", "2:a"),
        *("-disposition:a:0", "default", "-disposition:a:1", "0"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"),
    )
    report = report_of(made)
    assert "av_sync_offset" in wanting(report)
    known = report.facts.video
    apply(plan(report, PROFILE), Source.of(made), tmp_path / "ada", known=known)
    after = report_of(tmp_path / "ada.mp4").facts.video
    assert after.frames == known.frames == 100
    assert after.timing.audio_offset_s == pytest.approx(0, abs=0.01)


def test_sound_keeps_its_time_when_the_size_of_the_frames_changes(make, tone, tmp_path):
    parts = [
        make(f"{size}.ts", "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25:duration=2", *tone)
        for size in ("320x180", "160x90")
    ]
    joined = tmp_path / "joined.ts"
    joined.write_bytes(b"".join(part.read_bytes() for part in parts))
    turned = make("turned.mkv", "-i", str(joined), "-c", "copy")
    applied = apply(video_plan(copy=False), Source.of(turned), tmp_path / "ada")
    after = heard_video(Source.of(applied.path))
    assert after.duration_s == pytest.approx(4, abs=0.1)
    assert after.audio.duration_s == pytest.approx(4, abs=0.1)
