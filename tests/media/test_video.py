from __future__ import annotations

import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import av
import pytest
from heard import heard_video
from videos import edited

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.ffmpeg import ffmpeg_binary
from palprep.media.sources.source import Source
from palprep.media.video import carries_the_same, probe_video

from .conftest import gradient, sine


def test_a_plain_mp4(make_video):
    path = make_video(sound=sine(1.0))
    facts = heard_video(Source.of(path))
    assert (facts.codec, facts.pixel_format) == ("h264", "yuv420p")
    assert (facts.width, facts.height, facts.rotation_deg) == (64, 48, 0)
    assert facts.frames == 25
    assert facts.frame_rate == pytest.approx(25.0)
    assert facts.frame_rate_constant
    assert facts.duration_s == pytest.approx(1.0)
    assert facts.moov_position == "end"
    assert not facts.truncated
    assert not facts.hdr
    assert facts.bit_rate is not None
    assert facts.audio is not None
    assert facts.audio.stream.codec == "aac"
    assert facts.audio.levels is not None
    assert facts.audio.levels.rms_dbfs == pytest.approx(-9.03, abs=0.5)


def test_packets_and_their_times_tell_whether_two_videos_are_the_same(make_video, tmp_path):
    path = make_video(sound=sine(1.0))
    video = Source.of(path)

    def packed(name: str, *how: str) -> Path:
        """The same packets in another file, but for what ``how`` says."""
        command = [str(ffmpeg_binary()), "-v", "error", "-i", str(path), "-c", "copy"]
        subprocess.run([*command, *how, str(tmp_path / name)], check=True)
        return tmp_path / name

    again = packed("again.mov")
    assert carries_the_same(video, Source.of(again))
    touched = bytearray(path.read_bytes())
    touched[touched.index(b"mdat") + 2_000] ^= 1
    other = tmp_path / "touched.mp4"
    other.write_bytes(touched)
    silent = packed("silent.mp4", "-an")
    slower = packed("slower.mp4", "-bsf:v", "setts=ts=TS*1.02")
    shorter = packed("shorter.mp4", "-t", "0.5")
    for different in (other, silent, slower, shorter):
        assert not carries_the_same(video, Source.of(different)), different.name
    pictures, wider = packed("a.mkv", "-an"), packed("b.mkv", "-an", "-colorspace", "bt2020nc")
    assert carries_the_same(Source.of(silent), Source.of(pictures))
    assert not carries_the_same(Source.of(silent), Source.of(wider))


def test_frames_that_an_edit_hides_are_no_frames_and_no_part_of_the_same_video(
    make_video, tmp_path
):
    path, half = make_video(), tmp_path / "half.mp4"
    half.write_bytes(edited(path.read_bytes(), (0.0, 0.48)))
    assert probe_video(Source.of(half)).frames == 12
    assert not carries_the_same(Source.of(path), Source.of(half))
    assert probe_video(Source.of(half)).other_streams == 1
    assert probe_video(Source.of(path)).other_streams == 0


def test_samples_that_a_tag_hides_are_part_of_what_two_videos_share(make_video, tmp_path):
    """A copy without iTunes' tag for the start of the sound lets more of it be heard."""

    def box(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I4s", 8 + len(body), kind) + body

    path = make_video(sound=sine(1.0))
    names = box(b"mean", bytes(4) + b"com.apple.iTunes") + box(b"name", bytes(4) + b"iTunSMPB")
    hidden = box(b"data", struct.pack(">II", 1, 0) + b" 00000000 00000840 000001CA 0 0")
    handler = box(b"hdlr", bytes(8) + b"mdirappl" + bytes(9))
    tags = box(b"meta", bytes(4) + handler + box(b"ilst", box(b"----", names + hidden)))
    data = path.read_bytes()
    at = data.rindex(b"moov") - 4
    tagged = tmp_path / "tagged.mp4"
    tagged.write_bytes(data[:at] + box(b"moov", data[at + 8 :] + box(b"udta", tags)))
    assert not carries_the_same(Source.of(tagged), Source.of(path))


def test_levels_are_optional_and_sound_may_be_missing(make_video):
    path = make_video(sound=sine(1.0))
    quick = probe_video(Source.of(path))
    assert quick.audio is not None
    assert quick.audio.levels is None
    assert quick.audio.duration_s == pytest.approx(1.0, abs=0.1)
    silent = make_video("b.mp4")
    assert heard_video(Source.of(silent)).audio is None


@pytest.mark.parametrize(
    ("counter_clockwise", "clockwise", "shown"),
    [(90, 270, (48, 64)), (180, 180, (64, 48)), (-90, 90, (48, 64))],
)
def test_rotation_turns_the_displayed_size(make_video, counter_clockwise, clockwise, shown):
    path = make_video(rotate=counter_clockwise)
    facts = heard_video(Source.of(path))
    assert facts.rotation_deg == clockwise
    assert (facts.stored_width, facts.stored_height) == (64, 48)
    assert (facts.width, facts.height) == shown


def test_pixel_aspect_widens_the_displayed_size(make_video):
    path = make_video(aspect=Fraction(3, 2))
    facts = heard_video(Source.of(path))
    assert (facts.width, facts.height) == (96, 48)


def test_the_rate_comes_from_timestamps(make_video):
    times = [index * 2 if index < 20 else index * 3 - 20 for index in range(40)]
    path = make_video(rate=50, seconds=0.8, times=times)
    facts = heard_video(Source.of(path))
    assert not facts.frame_rate_constant
    assert facts.frame_rate == pytest.approx(39 / ((times[-1] - times[0]) / 50))


@pytest.mark.parametrize(
    ("stated", "taken"), [("240.000000", 240.0), ("nan", None), ("fast", None)]
)
def test_the_rate_at_which_a_phone_took_it_is_read(make_video, tmp_path, stated, taken):
    path = tmp_path / "slow.mp4"
    tag = ["-movflags", "use_metadata_tags", "-metadata", f"com.android.capture.fps={stated}"]
    copy = [ffmpeg_binary(), "-v", "error", "-i", make_video(), "-c", "copy", *tag, path]
    subprocess.run([*map(str, copy)], check=True)
    facts = probe_video(Source.of(path))
    assert (facts.taken_rate, facts.frame_rate) == (taken, pytest.approx(25.0))
    assert probe_video(Source.of(make_video())).taken_rate is None


def test_one_dropped_frame_in_two_hundred_leaves_the_rate_constant(make_video):
    times = [index + (index > 100) for index in range(200)]
    path = make_video(seconds=8.0, times=times)
    facts = heard_video(Source.of(path))
    assert facts.frame_rate_constant
    assert facts.frame_rate == pytest.approx(24.875, abs=0.01)


@pytest.mark.parametrize("rate", [24, 25, 30, 60])
def test_millisecond_timestamps_of_webm_are_constant(make_video, rate):
    path = make_video("a.webm", codec="libvpx", rate=rate, seconds=0.6)
    facts = heard_video(Source.of(path))
    assert facts.frame_rate_constant
    assert facts.frame_rate == pytest.approx(rate, rel=0.01)
    assert facts.moov_position is None


@pytest.mark.parametrize(
    ("flags", "position"),
    [("+faststart", "front"), ("+frag_keyframe+empty_moov", "fragmented")],
)
def test_where_the_index_stands(make_video, flags, position):
    path = make_video(options={"movflags": flags})
    assert heard_video(Source.of(path)).moov_position == position


def test_ten_bits_and_hdr(make_video):
    path = make_video(pix_fmt="yuv420p10le", color_trc=16, codec="libx265")
    facts = heard_video(Source.of(path))
    assert facts.pixel_format == "yuv420p10le"
    assert facts.color_transfer == "smpte2084"
    assert facts.hdr


def test_cut_off_files(make_video, tmp_path):
    path = make_video(seconds=4.0)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(DamagedMedia, match="no index"):
        heard_video(Source.of(path))
    front = make_video("b.mp4", seconds=4.0, options={"movflags": "+faststart"})
    data = front.read_bytes()
    front.write_bytes(data[: len(data) * 4 // 5])
    facts = heard_video(Source.of(front))
    assert facts.truncated
    assert facts.frames < 100


@pytest.mark.parametrize(
    ("name", "options"),
    [("a.ts", {}), ("a.m2ts", {"mpegts_m2ts_mode": "1"}), ("a.mkv", {"live": "1"}),
     ("a.webm", {"live": "1"})],
)  # fmt: skip
def test_what_states_no_length_is_cut_off_where_it_ends_within_a_packet(make_video, name, options):
    """As recordings of browsers and of OBS, and those of camcorders."""
    codec = "libvpx" if "webm" in name else "libx264"
    path = make_video(name, seconds=4.0, codec=codec, options=options)
    whole = path.read_bytes()
    for size, told in ((len(whole), False), (len(whole) - 9, True), (len(whole) // 2 + 5, True)):
        path.write_bytes(whole[:size])
        assert heard_video(Source.of(path)).truncated == told, size


@pytest.mark.parametrize("name", ["a.ts", "a.mkv", "a.mov"])
def test_a_track_without_a_packet_is_no_audio(tmp_path, name):
    """As of a camera whose microphone was off."""
    with av.open(str(tmp_path / name), "w") as out:
        video = out.add_stream("libx264", rate=25, width=64, height=48, pix_fmt="yuv420p")
        out.add_stream("aac", rate=48_000, layout="mono").codec_context.open()
        for index in range(25):
            frame = av.VideoFrame.from_ndarray(gradient())
            frame.pts = index
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
    facts = heard_video(Source.of(tmp_path / name))
    assert (facts.frames, facts.audio) == (25, None)


def test_a_stream_that_shows_only_at_the_end_is_no_surprise(make_video):
    """PyAV looks for it among those that there were when the file was opened."""
    path = make_video("a.ts", seconds=8.0)
    content = bytearray(path.read_bytes())
    starts = (at for at in range(0, len(content), 188) if content[at + 1 : at + 3] == b"\x41\x00")
    content[max(starts) + 1] = 0x51  # The last frame is in a stream of its own.
    path.write_bytes(content)
    assert 190 <= heard_video(Source.of(path)).frames < 200


@pytest.mark.parametrize("with_sound", [False, True])
def test_recordings_that_were_put_one_behind_the_other(make_video, tmp_path, with_sound):
    more = {"sound": sine(4.0, 48_000), "sound_rate": 48_000} if with_sound else {}
    one = make_video("a.ts", seconds=4.0, **more)
    both = tmp_path / "both.ts"
    both.write_bytes(one.read_bytes() * 2)
    alone, facts = heard_video(Source.of(one)), heard_video(Source.of(both))
    assert (alone.joined, facts.joined) == (False, True)
    if with_sound:
        assert (alone.audio.joined, facts.audio.joined) == (False, True)
        assert facts.timing.audio_drift_s is None


def test_sound_alone_is_no_video(make_sound):
    path = make_sound("a.m4a", sine(1.0, 48_000), codec="aac")
    with pytest.raises(UnsupportedMedia, match="no video stream"):
        heard_video(Source.of(path))


def test_a_picture_that_never_decodes(make_video):
    path = make_video(seconds=1.0)
    data = bytearray(path.read_bytes())
    start = data.index(b"mdat") + 4
    end = data.index(b"moov") - 4
    data[start:end] = bytes(end - start)
    path.write_bytes(data)
    with pytest.raises(DamagedMedia, match="No frame"):
        heard_video(Source.of(path))
