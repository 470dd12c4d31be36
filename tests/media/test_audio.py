from __future__ import annotations

import av
import numpy as np
import pytest
from heard import heard_audio

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.facts import FLOOR_DBFS
from palprep.media.sound.decoding import probe_audio, stream_samples
from palprep.media.sources.source import Source

from .conftest import mux_sound, sine


def test_levels_of_a_sine(make_wav):
    path = make_wav(sine(2.0, peak=0.5))
    facts = heard_audio(Source.of(path))
    assert facts.duration_s == pytest.approx(2.0)
    assert facts.levels is not None
    assert facts.levels.peak_dbfs == pytest.approx(-6.02, abs=0.02)
    assert facts.levels.rms_dbfs == pytest.approx(-9.03, abs=0.02)
    stream = facts.stream
    assert (stream.codec, stream.sample_rate_hz, stream.channels) == ("pcm_s16le", 16_000, 1)
    assert stream.layout == "mono"


def test_silence_reads_the_floor(make_wav):
    path = make_wav(np.zeros(16_000, np.float32))
    levels = heard_audio(Source.of(path)).levels
    assert levels is not None
    assert levels.peak_dbfs == levels.rms_dbfs == FLOOR_DBFS


def test_without_levels_nothing_is_decoded(make_wav):
    path = make_wav(sine(1.5))
    facts = probe_audio(Source.of(path))
    assert facts.levels is None
    assert facts.duration_s == pytest.approx(1.5)


def test_levels_count_all_channels(make_wav):
    path = make_wav(np.stack([sine(1.0), np.zeros(16_000, np.float32)]))
    facts = heard_audio(Source.of(path))
    assert facts.stream.channels == 2
    assert facts.levels is not None
    assert facts.levels.rms_dbfs == pytest.approx(-9.03 - 3.01, abs=0.02)


@pytest.mark.parametrize(
    ("name", "codec", "canonical"),
    [("a.mp3", "libmp3lame", "mp3"), ("a.m4a", "aac", "aac"), ("a.ogg", "libopus", "opus"),
     ("a.flac", "flac", "flac"), ("a.webm", "libopus", "opus")],
)  # fmt: skip
def test_codecs_by_their_own_name_and_length(make_sound, name, codec, canonical):
    path = make_sound(name, sine(2.0, 48_000), codec=codec)
    facts = heard_audio(Source.of(path))
    assert facts.stream.codec == canonical
    assert facts.duration_s == pytest.approx(2.0, abs=0.05)
    assert facts.levels is not None
    assert facts.levels.rms_dbfs == pytest.approx(-9.03, abs=0.6)


def test_blocks_are_streamed_resampled_and_mixed(make_wav):
    path = make_wav(np.stack([sine(3.5, 48_000), sine(3.5, 48_000)]), rate=48_000)
    blocks = list(stream_samples(Source.of(path), rate_hz=16_000))
    assert all(block.ndim == 1 and block.dtype == np.float32 for block in blocks)
    assert max(block.size for block in blocks) < 2.2 * 16_000
    joined = np.concatenate(blocks)
    assert joined.size == pytest.approx(3.5 * 16_000, abs=32)
    assert np.sqrt((joined**2).mean()) == pytest.approx(0.5 / np.sqrt(2), abs=0.005)
    stereo = list(stream_samples(Source.of(path), rate_hz=48_000, channels=2))
    assert {block.shape[0] for block in stereo} == {2}
    assert sum(block.shape[1] for block in stereo) == pytest.approx(3.5 * 48_000)


def test_eight_channels_stay_apart(make_sound):
    channels = np.stack([sine(1.0, 48_000, hz=200.0 * (n + 1), peak=0.3) for n in range(8)])
    path = make_sound("a.flac", channels, codec="flac")
    blocks = list(stream_samples(Source.of(path), rate_hz=48_000, channels=8))
    joined = np.concatenate(blocks, axis=1)
    assert joined.shape[0] == 8
    peaks = np.abs(np.fft.rfft(joined, axis=1)).argmax(axis=1) * 48_000 / joined.shape[1]
    assert peaks == pytest.approx([200.0 * (n + 1) for n in range(8)], abs=2)


def test_stream_by_index_and_video_without_sound(make_video):
    path = make_video("a.mp4", sound=sine(1.0), seconds=1.0)
    facts = heard_audio(Source.of(path))
    assert facts.stream.index == 1
    joined = np.concatenate(list(stream_samples(Source.of(path), rate_hz=16_000, stream=1)))
    assert joined.size / 16_000 == pytest.approx(1.0, abs=0.1)
    with pytest.raises(UnsupportedMedia, match="audio streams: 1"):
        next(stream_samples(Source.of(path), rate_hz=16_000, stream=0))
    silent = make_video("b.mp4")
    with pytest.raises(UnsupportedMedia, match="has no audio"):
        heard_audio(Source.of(silent))


def test_damage_has_clear_words(make_wav, make_sound):
    path = make_wav(sine(1.0))
    data = bytearray(path.read_bytes())
    data[24:28] = bytes(4)  # sample rate 0
    path.write_bytes(data)
    with pytest.raises(DamagedMedia, match="export or record it again"):
        heard_audio(Source.of(path))
    path = make_sound("a.flac", sine(1.0, 48_000), codec="flac")
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DamagedMedia):
        heard_audio(Source.of(path))


def test_damaged_packets_are_passed_over(make_sound):
    path = make_sound("a.mp3", sine(4.0, 48_000), codec="libmp3lame")
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 200] = b"\xff" * 200
    path.write_bytes(data)
    facts = heard_audio(Source.of(path))
    assert 3.5 < facts.duration_s < 4.2


def test_a_packet_that_states_no_sample_rate_is_passed_over(make_sound):
    """The decoder of AC-3, as of camcorders, has a number of its own for it."""
    path = make_sound("a.mov", sine(4.0, 48_000), codec="ac3")
    data = bytearray(path.read_bytes())
    data[data.index(b"\x0b\x77", len(data) // 2) + 4] |= 0xC0
    path.write_bytes(data)
    facts = heard_audio(Source.of(path))
    assert 3.9 < facts.duration_s < 4.1


def test_a_recording_that_states_no_length_lasts_as_long_as_its_packets(tmp_path):
    path = tmp_path / "recorded.webm"
    with av.open(str(path), "w", container_options={"live": "1"}) as out:
        stream = out.add_stream("libopus", rate=48_000, layout="mono")
        mux_sound(out, stream, sine(2.0, 48_000), 48_000)
    facts = probe_audio(Source.of(path))
    assert facts.stream.duration_s is None
    assert facts.duration_s == pytest.approx(2.0, abs=0.03)


@pytest.mark.parametrize(
    ("name", "codec", "told"),
    [("a.wav", "pcm_s16le", True), ("a.flac", "flac", True), ("a.webm", "libopus", True),
     ("a.mp3", "libmp3lame", True), ("a.ogg", "libopus", True)],
)  # fmt: skip
def test_half_of_a_recording_is_cut_off_where_it_states_its_length(make_sound, name, codec, told):
    path = make_sound(name, sine(6.0, 48_000), codec=codec)
    assert not heard_audio(Source.of(path)).truncated
    content = path.read_bytes()
    half = path.with_name(f"half-{name}")
    half.write_bytes(content[: len(content) // 2])
    facts = heard_audio(Source.of(half))
    assert (facts.truncated, facts.duration_s < 4.0) == (told, True)


@pytest.mark.parametrize(
    ("name", "codec"), [("a.mp3", "libmp3lame"), ("a.aac", "aac"), ("a.caf", "pcm_s16le")]
)
def test_a_recording_that_ends_within_a_frame_is_cut_off(make_sound, name, codec):
    path = make_sound(name, sine(3.0, 44_100), codec=codec, rate=44_100)
    content = path.read_bytes().replace(b"Info", b"none").replace(b"Xing", b"none")
    for lacking in (0, 20, len(content) // 2 + 1):
        path.write_bytes(content[: len(content) - lacking])
        assert heard_audio(Source.of(path)).truncated == bool(lacking), lacking


@pytest.mark.parametrize(
    ("magic", "speech", "silence"),
    [(b"#!AMR\n", b"\x3c" + bytes(31), b"\x7c"), (b"#!AMR-WB\n", b"\x44" + bytes(60), b"\x7c")],
)
def test_an_amr_that_ends_within_a_frame_is_cut_off(tmp_path, magic, speech, silence):
    path = tmp_path / "note.amr"
    for end, told in ((speech, False), (silence, False), (speech[:9], True)):
        path.write_bytes(magic + 50 * speech + end)
        assert heard_audio(Source.of(path)).truncated == told, end


def test_a_core_audio_file_whose_index_is_lost_is_told_as_cut_off(make_sound):
    path = make_sound("a.caf", sine(3.0, 48_000), codec="alac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DamagedMedia, match="it is cut off"):
        heard_audio(Source.of(path))


@pytest.mark.parametrize("length", [0, 0x7FFF_FFFF, 0xFFFF_FFFF])
def test_a_wav_that_was_written_into_a_pipe_states_no_length(make_wav, length):
    path = make_wav(sine(3.0))
    content = bytearray(path.read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 4] = length.to_bytes(4, "little")
    path.write_bytes(content)
    facts = heard_audio(Source.of(path))
    assert (facts.truncated, round(facts.duration_s)) == (False, 3)
