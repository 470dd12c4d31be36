"""Samples count presentation time, whatever packets are missing."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import av
import numpy as np
import pytest
from heard import heard_audio

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.sound.decoding import AudioDecode, Sink, stream_samples
from palprep.media.sources.source import Source

from .conftest import sine

RATE = 48_000


@pytest.fixture
def with_gap(make_sound, tmp_path):
    """Three seconds with a click at 2.5 s, of which the packets from 1 s to 2 s are missing."""

    def make(suffix: str, codec: str):
        samples = np.zeros(3 * RATE, np.float32)
        samples[round(2.5 * RATE) : round(2.51 * RATE)] = 0.9
        whole = make_sound(f"whole{suffix}", samples, codec=codec)
        path = tmp_path / f"gap{suffix}"
        with av.open(str(whole)) as source, av.open(str(path), "w") as target:
            stream = target.add_stream_from_template(source.streams.audio[0])
            for packet in source.demux(audio=0):
                if packet.pts is not None and not 1.0 <= float(packet.pts * packet.time_base) < 2:
                    packet.stream = stream
                    target.mux(packet)
        return path

    return make


@pytest.mark.parametrize(("suffix", "codec"), [(".webm", "libopus"), (".m4a", "aac")])
@pytest.mark.parametrize("rate", [RATE, 16_000])
def test_silence_stands_where_packets_are_missing(with_gap, suffix, codec, rate):
    path = with_gap(suffix, codec)
    heard = np.concatenate(list(stream_samples(Source.of(path), rate_hz=rate)))
    assert np.argmax(np.abs(heard) > 0.4) / rate == pytest.approx(2.5, abs=0.03)
    assert not heard[round(1.1 * rate) : round(1.9 * rate)].any()
    assert heard_audio(Source.of(path)).duration_s == pytest.approx(3.0, abs=0.05)


def test_absurd_time_stamps_do_not_become_hours_of_silence(make_sound, tmp_path):
    whole = make_sound("whole.webm", np.zeros(RATE, np.float32), codec="libopus")
    path = tmp_path / "jump.webm"
    with av.open(str(whole)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.audio[0])
        for number, packet in enumerate(source.demux(audio=0)):
            if packet.pts is not None:
                packet.stream = stream
                packet.pts += (number // 10) * 3_600_000
                packet.dts = packet.pts
                target.mux(packet)
    facts = heard_audio(Source.of(path))
    assert facts.duration_s < 605
    assert facts.has_long_gaps
    assert not heard_audio(Source.of(whole)).has_long_gaps


@pytest.fixture
def make_float_wav(tmp_path):
    """A WAV of 32-bit floats, which the module wave does not write."""

    def make(samples: np.ndarray, rate: int = RATE):
        channels = np.atleast_2d(samples)
        count = len(channels)
        data = channels.T.astype("<f4").tobytes()
        form = struct.pack("<HHIIHH", 3, count, rate, rate * 4 * count, 4 * count, 32)
        size = struct.pack("<I", 20 + len(form) + len(data))
        path = tmp_path / "float.wav"
        path.write_bytes(
            b"RIFF" + size + b"WAVEfmt " + struct.pack("<I", len(form)) + form
            + b"data" + struct.pack("<I", len(data)) + data
        )  # fmt: skip
        return path

    return make


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, 1e20, -1e4])
@pytest.mark.parametrize("channels", [1, 2])
def test_samples_that_are_no_sound_are_damage_with_its_place(make_float_wav, value, channels):
    samples = np.tile(sine(3.0, RATE), (channels, 1))
    samples[-1, round(2.5 * RATE)] = value
    source = Source.of(make_float_wav(samples))
    with pytest.raises(DamagedMedia, match=r"damaged at 2\.50 s"):
        heard_audio(source)
    with pytest.raises(DamagedMedia, match=r"damaged at 2\.(49|50) s"):
        list(stream_samples(source, rate_hz=16_000))


def test_what_a_float_recorder_overshoots_is_sound(make_float_wav):
    samples = sine(1.0, RATE)
    samples[1000] = 30.0
    levels = heard_audio(Source.of(make_float_wav(samples))).levels
    assert levels is not None
    assert levels.peak_dbfs == pytest.approx(29.5, abs=0.1)


@pytest.mark.parametrize("rate", [1, 100, 500, 999, 768_001, 2_000_000_000])
def test_rates_that_no_recorder_has_are_refused(make_wav, rate):
    path = make_wav(np.zeros(2000, np.float32), rate)
    with pytest.raises(UnsupportedMedia, match=rf"{rate:,} Hz; palprep reads 1,000 to 768,000 Hz"):
        heard_audio(Source.of(path))


@pytest.mark.parametrize("rate", [1_000, 768_000])
def test_the_lowest_and_the_highest_rate_are_read(make_wav, rate):
    path = make_wav(sine(0.5, rate, hz=100), rate)
    assert heard_audio(Source.of(path)).duration_s == pytest.approx(0.5)


@pytest.mark.parametrize("first", [2, 6, 9])
@pytest.mark.parametrize("then", [1, 2, 9])
def test_channels_that_change_midway_keep_their_level(make_wav, first, then):
    source = Source.of(make_wav(np.zeros(16, np.float32)))
    blocks: list[np.ndarray] = []
    decode = AudioDecode([Sink(blocks.append, RATE, first)], source)
    for count in (first, then):
        data = np.full((1, RATE * count), 0.25, np.float32)
        frame = av.AudioFrame.from_ndarray(data, "flt", f"{count} channels")
        frame.sample_rate = RATE
        packet = SimpleNamespace(decode=lambda frame=frame: [frame])
        decode.feed(packet)
    decode.finish()
    whole = np.concatenate(blocks, axis=1)
    assert whole.shape == (first, 2 * RATE)
    np.testing.assert_allclose(whole, 0.25, atol=1e-6)
