"""Samples count presentation time, whatever packets are missing."""

from __future__ import annotations

import av
import numpy as np
import pytest

from palprep.media.audio import probe_audio
from palprep.media.samples import stream_samples
from palprep.media.source import Source

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
    assert probe_audio(Source.of(path)).duration_s == pytest.approx(3.0, abs=0.05)


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
    assert probe_audio(Source.of(path)).duration_s < 605
