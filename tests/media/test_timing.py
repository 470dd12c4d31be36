from __future__ import annotations

import subprocess

import pytest
from heard import heard_video

from palprep.media.ffmpeg import ffmpeg_binary
from palprep.media.sources.source import Source
from palprep.media.video import probe_video

from .conftest import sine


def test_a_regular_video(make_video):
    path = make_video(seconds=4.0, sound=sine(4.0))
    facts = heard_video(Source.of(path))
    timing = facts.timing
    assert timing is not None
    assert timing.dropped_frames == 0
    assert timing.audio_offset_s == pytest.approx(0.0, abs=0.1)
    assert timing.audio_drift_s == pytest.approx(0.0, abs=1e-3)


def test_dropped_frames_are_counted(make_video):
    times = [index + (index > 20) + 3 * (index > 60) for index in range(100)]
    path = make_video(seconds=4.0, times=times)
    timing = heard_video(Source.of(path)).timing
    assert timing is not None
    assert timing.dropped_frames == 4


def test_no_sound_no_offset(make_video):
    path = make_video()
    timing = heard_video(Source.of(path)).timing
    assert timing is not None
    assert timing.audio_offset_s is timing.audio_drift_s is None


def shifted(path, seconds: str):
    """A copy whose sound starts later, by an edit list that ffmpeg writes."""
    out = path.with_name("late.mp4")
    source = ["-i", str(path)]
    command = [
        *(
            str(ffmpeg_binary()),
            "-y",
            "-loglevel",
            "error",
            *source,
            "-itsoffset",
            seconds,
            *source,
        ),
        *("-map", "0:v", "-map", "1:a", "-c", "copy", str(out)),
    ]
    subprocess.run(command, check=True)
    return out


@pytest.mark.parametrize("probe", [heard_video, probe_video])
def test_late_sound_is_an_offset(make_video, probe):
    path = shifted(make_video(seconds=2.0, sound=sine(2.0)), "0.5")
    timing = probe(Source.of(path)).timing
    assert timing is not None
    assert timing.audio_offset_s == pytest.approx(0.5, abs=0.03)


def test_missing_samples_are_a_drift(make_video):
    made = make_video(seconds=3.0, sound=sine(3.0))
    path = made.with_name("gap.mp4")
    later = r"setts=ts=TS+if(gt(TS*TB\,1.5)\,0.5/TB\,0)"
    command = [str(ffmpeg_binary()), "-y", "-loglevel", "error", "-i", str(made), "-c", "copy"]
    subprocess.run([*command, "-bsf:a", later, str(path)], check=True)
    timing = heard_video(Source.of(path)).timing
    assert timing is not None
    assert timing.audio_drift_s == pytest.approx(0.5, abs=0.07)
    before = heard_video(Source.of(made)).timing
    assert before is not None
    assert before.audio_drift_s == pytest.approx(0.0, abs=0.001)
