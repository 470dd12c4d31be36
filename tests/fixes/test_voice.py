from __future__ import annotations

import re
import tracemalloc
import wave
from pathlib import Path

import av
import numpy as np
import pytest
from heard import heard_audio

from palprep.errors import FixError
from palprep.fixes.carry_out import apply
from palprep.fixes.graph import read
from palprep.fixes.loudness import Loudness, choose_gain, measure_loudness
from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.rules.plans import VoicePlan
from palprep.speech import measure_voice
from palprep.values import Span

RATE = 48_000


def voice_plan(**steps) -> VoicePlan:
    return VoicePlan(**{"reasons": (), **steps})


def write(path: Path, samples: np.ndarray, rate: int = RATE) -> Path:
    """A 16-bit WAV of samples of shape (n,) or (channels, n)."""
    shaped = np.atleast_2d(samples)
    with wave.open(str(path), "wb") as file:
        file.setparams((shaped.shape[0], 2, rate, 0, "NONE", ""))
        file.writeframes(np.rint(shaped.T * 32767).astype("<i2").tobytes())
    return path


def decoded(path: str) -> np.ndarray:
    with av.open(path) as container:
        resampler = av.AudioResampler(format="fltp")
        frames = [
            each.to_ndarray()
            for frame in container.decode(audio=0)
            for each in resampler.resample(frame)
        ]
    return np.concatenate(frames, axis=1)


def loudness(path: str) -> Loudness:
    return measure_loudness(read(Source.of(Path(path)))["a:0"], duration_s=1.0)


def sine(hz: float, seconds: float, amplitude: float = 0.1) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE)


def speech_like(seconds: float, amplitude: float = 0.02, seed: int = 5) -> np.ndarray:
    """Syllables of noise with a crest factor of about 16 dB, a pause every second."""
    random = np.random.default_rng(seed)
    n = round(seconds * RATE)
    t = np.arange(n) / RATE
    syllables = np.maximum(np.sin(2 * np.pi * 4 * t), 0) ** 2 * ((t % 1.0) < 0.8)
    # A smooth kernel leaves the voice's band; white noise has no likeness to speech.
    noise = np.convolve(random.standard_normal(n), np.hanning(24) / 3, mode="same")
    return np.clip(amplitude * noise * syllables * 1.5, -1, 1)


def level_db(samples: np.ndarray) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(np.square(samples))) + 1e-9))


def at_hz(samples: np.ndarray, hz: float) -> float:
    """Amplitude of a sine of that frequency, by a window of whole periods."""
    t = np.arange(len(samples)) / RATE
    return float(2 * np.abs(np.mean(samples * np.exp(-2j * np.pi * hz * t))))


def test_a_pause_of_which_nothing_was_recorded_stays_a_pause(make, tmp_path):
    recorded = make(
        "recorded.webm",
        *("-f", "lavfi", "-i", f"sine=440:r={RATE}:d=5", "-c:a", "libopus", "-f", "webm"),
        *("-bsf:a", "noise=drop=between(pts\\,48000\\,143999)"),
    )
    source = Source.of(recorded)
    whole = apply(voice_plan(mix="keep"), source, tmp_path / "whole").path
    samples = decoded(whole)[0]
    assert len(samples) / RATE == pytest.approx(heard_audio(source).duration_s, abs=0.02)
    assert np.abs(samples[round(1.1 * RATE) : round(2.9 * RATE)]).max() < 1e-3


def test_spans_are_cut_to_the_sample_and_joined_in_order(tmp_path):
    # Each second has its own pitch.
    source = write(tmp_path / "a.wav", np.concatenate([sine(200 * k, 1.0) for k in range(1, 8)]))
    spans = (Span(start_s=1.0, end_s=2.0), Span(start_s=4.0, end_s=4.5))
    applied = apply(voice_plan(spans=spans), Source.of(source), tmp_path / "out")
    samples = decoded(applied.path)[0]
    assert len(samples) == round((1.5 - 0.02) * RATE)
    assert at_hz(samples[: RATE // 2], 400) == pytest.approx(0.1, rel=0.01)
    assert at_hz(samples[RATE : RATE + RATE // 5], 1000) == pytest.approx(0.1, rel=0.01)
    # What was left out is not there: 600 Hz stood between the two.
    assert at_hz(samples[: RATE // 2], 600) < 0.001
    assert applied.fixes[0].did == (
        "kept 1.5 s of speech from 2 stretches, joined with crossfades of 20 ms"
    )


def test_a_join_is_smooth(tmp_path):
    # A constant would step from +0.4 to -0.4 at the join.
    source = write(
        tmp_path / "a.wav", np.concatenate([np.full(RATE * 2, 0.4), np.full(RATE * 2, -0.4)])
    )
    spans = (Span(start_s=0.5, end_s=1.0), Span(start_s=3.0, end_s=3.5))
    joined = decoded(apply(voice_plan(spans=spans), Source.of(source), tmp_path / "out").path)[0]
    assert np.abs(np.diff(joined)).max() < 0.01
    assert len(joined) == round((1.0 - 0.02) * RATE)


@pytest.mark.parametrize(
    ("mix", "left", "right", "expected"),
    [
        ("average", sine(440, 1.0), sine(440, 1.0), 0.1),
        ("average", sine(440, 1.0), -sine(440, 1.0), 0.0),
        ("difference", sine(440, 1.0), -sine(440, 1.0), 0.1),
        ("first", sine(440, 1.0), np.zeros(RATE), 0.1),
        ("second", np.zeros(RATE), sine(440, 1.0), 0.1),
    ],
)
def test_mixdowns_do_as_the_plan_says(tmp_path, *, mix, left, right, expected):
    source = write(tmp_path / "a.wav", np.stack([left, right]))
    for spans in ((), (Span(start_s=0.0, end_s=0.9),)):
        applied = apply(
            voice_plan(mix=mix, spans=spans), Source.of(source), tmp_path / f"out{len(spans)}"
        )
        samples = decoded(applied.path)
        assert samples.shape[0] == 1
        assert at_hz(samples[0][: RATE // 2], 440) == pytest.approx(expected, abs=0.001)


def test_stereo_stays_stereo_when_kept_and_mono_stays_mono(tmp_path):
    stereo = write(tmp_path / "a.wav", np.stack([sine(440, 1.0), sine(660, 1.0)]))
    kept = decoded(apply(voice_plan(mix="keep"), Source.of(stereo), tmp_path / "kept").path)
    assert kept.shape[0] == 2
    assert at_hz(kept[1][: RATE // 2], 660) == pytest.approx(0.1, rel=0.01)
    mono = write(tmp_path / "m.wav", sine(440, 1.0))
    applied = apply(voice_plan(mix="difference"), Source.of(mono), tmp_path / "mono")
    assert at_hz(decoded(applied.path)[0][: RATE // 2], 440) == pytest.approx(0.1, rel=0.01)
    assert "mix" not in [each.id for each in applied.fixes]


@pytest.mark.parametrize("channels", [6, 9, 32])
@pytest.mark.parametrize("mix", ["keep", "average"])
def test_many_channels_become_as_loud_as_they_were_measured(tmp_path, channels, mix):
    tones = [sine(300 + 40 * each, 1.0, 0.05) for each in range(channels)]
    source = Source.of(write(tmp_path / "many.wav", np.array(tones)))
    stereo = stream_samples(source, rate_hz=RATE, channels=2)
    measured = np.concatenate([*stereo], axis=1)
    wanted = measured if mix == "keep" else measured.mean(axis=0)
    for name, spans in (("whole", ()), ("part", (Span(start_s=0.2, end_s=0.8),))):
        plan = voice_plan(mix=mix, spans=spans)
        made = decoded(apply(plan, source, tmp_path / name).path)
        assert made.shape[0] == (2 if mix == "keep" else 1)
        assert made.std() == pytest.approx(wanted.std(), rel=0.02)


@pytest.mark.parametrize("channels", [3, 6, 8])
def test_loud_channels_are_mixed_without_clipping(tmp_path, channels):
    source = Source.of(write(tmp_path / "loud.wav", np.tile(sine(300, 2.0, 0.9), (channels, 1))))
    assert measure_voice(source)[1].clipped_runs == 0
    for name, spans in (("whole", ()), ("part", (Span(start_s=0.2, end_s=1.8),))):
        plan = voice_plan(mix="average", spans=spans, loudness_lufs=-20.0, true_peak_dbtp=-3.0)
        applied = apply(plan, source, tmp_path / name)
        assert not applied.clipped_runs
        samples = decoded(applied.path)[0][RATE // 2 : RATE]
        assert at_hz(samples, 900) < 0.002 * at_hz(samples, 300)


@pytest.mark.parametrize("peak", [3.0, 30.0])
def test_floats_beyond_full_scale_are_turned_down_and_not_clipped(make, tmp_path, peak):
    def floats(name, samples):
        quiet = write(tmp_path / "quiet.wav", samples / peak)
        louder = ("-c:a", "pcm_f32le", "-af", f"volume={peak}:precision=float")
        return Source.of(make(f"{name}-{peak}.wav", "-i", str(quiet), *louder))

    loud = sine(300, 2.0, peak)
    clipped = floats("clipped", np.clip(loud, -peak / 2, peak / 2))
    assert measure_voice(clipped)[1].clipped_runs > 1000
    source = floats("loud", loud)
    assert measure_voice(source)[1].clipped_runs == 0
    for name, spans in (("whole", ()), ("part", (Span(start_s=0.2, end_s=1.8),))):
        plan = voice_plan(spans=spans, loudness_lufs=-20.0, true_peak_dbtp=-3.0)
        applied = apply(plan, source, tmp_path / name)
        assert not applied.clipped_runs
        samples = decoded(applied.path)[0][RATE // 2 : RATE]
        assert at_hz(samples, 900) < 0.002 * at_hz(samples, 300)


def test_a_clipped_channel_shows_in_a_mix(tmp_path):
    loud = np.clip(sine(300, 2.0, 3.0), -1, 1)
    source = write(tmp_path / "clipped.wav", np.tile(loud, (6, 1)))
    assert measure_voice(Source.of(source))[1].clipped_runs > 1000


def test_hum_goes_and_speech_stays(tmp_path):
    source = write(tmp_path / "a.wav", sine(50, 3.0) + sine(200, 3.0) + sine(1000, 3.0))
    applied = apply(voice_plan(high_pass_hz=90), Source.of(source), tmp_path / "out")
    samples = decoded(applied.path)[0][RATE : 2 * RATE]
    assert 20 * np.log10(at_hz(samples, 50) / 0.1) < -18
    assert 20 * np.log10(at_hz(samples, 200) / 0.1) > -1
    assert 20 * np.log10(at_hz(samples, 1000) / 0.1) == pytest.approx(0, abs=0.1)


def test_the_multiples_of_hum_go_too_and_what_lies_between_stays(tmp_path):
    tones = (50.1, 100.2, 150.3, 300.6, 225, 1000)
    source = write(tmp_path / "a.wav", sum(sine(hz, 12.0, 0.05) for hz in tones))
    plan = voice_plan(high_pass_hz=75, hum_hz=50)
    samples = decoded(apply(plan, Source.of(source), tmp_path / "out").path)[0][RATE : 11 * RATE]
    left = [20 * np.log10(at_hz(samples, hz) / 0.05) for hz in tones]
    assert max(left[:3]) < -10
    assert left[3] < -4
    assert min(left[4:]) > -1


def test_loudness_is_met_under_the_true_peak_ceiling(tmp_path):
    source = write(tmp_path / "quiet.wav", speech_like(8.0, amplitude=0.02))
    before = loudness(str(source))
    plan = voice_plan(loudness_lufs=-20, true_peak_dbtp=-3)
    applied = apply(plan, Source.of(source), tmp_path / "out")
    after = loudness(applied.path)
    assert before.integrated_lufs < -30
    assert after.integrated_lufs == pytest.approx(-20, abs=0.5)
    assert after.true_peak_dbtp <= -3.0 + 0.02  # of the meter's own steps
    said = next(each.did for each in applied.fixes if each.id == "level")
    assert re.fullmatch(
        rf"loudness from {before.integrated_lufs:.1f} to -20.0 LUFS by a gain of \+\d\d\.\d dB, "
        r"peaks limited to -3 dBTP",
        said,
    )


def test_limiting_keeps_the_highest_frequencies(tmp_path):
    """A narrower band left recordings of 22,050 Hz with a warning that they had not had."""
    rate = 22_050
    high = 0.01 * np.sin(2 * np.pi * 10_600 * np.arange(8 * rate) / rate)
    speech = speech_like(8.0, amplitude=0.05)[: len(high)]
    source = write(tmp_path / "narrow.wav", speech + high, rate)
    plan = voice_plan(loudness_lufs=-20, true_peak_dbtp=-3)
    applied = apply(plan, Source.of(source), tmp_path / "out")
    assert "peaks limited" in next(each.did for each in applied.fixes if each.id == "level")
    levels = [
        [np.abs(np.fft.rfft(samples[rate : 3 * rate]))[2 * hz] for hz in (10_600, 5_000)]
        for samples in (decoded(str(source))[0], decoded(applied.path)[0])
    ]
    (tone, speech_there), (kept, speech_then) = levels
    assert kept / speech_then == pytest.approx(tone / speech_there, rel=0.2)


def test_pauses_are_not_pumped_up(tmp_path):
    """The gain is the same everywhere: an automatic one would raise the quiet half more."""
    loud, quiet = speech_like(6.0, 0.05, seed=1), speech_like(6.0, 0.005, seed=2)
    source = write(tmp_path / "a.wav", np.concatenate([loud, quiet]))
    samples = decoded(
        apply(voice_plan(loudness_lufs=-20), Source.of(source), tmp_path / "out").path
    )[0]
    gap = level_db(samples[: 5 * RATE]) - level_db(samples[7 * RATE : 12 * RATE])
    assert gap == pytest.approx(level_db(loud[: 5 * RATE]) - level_db(quiet[RATE:]), abs=1.0)


def test_noise_is_not_raised_past_its_limit(tmp_path):
    random = np.random.default_rng(2)
    noise = 10 ** (-55 / 20) * random.standard_normal(8 * RATE)
    source = write(tmp_path / "noisy.wav", speech_like(8.0, 0.02) + noise)
    plan = voice_plan(loudness_lufs=-20, noise_dbfs=(-55, -50))
    applied = apply(plan, Source.of(source), tmp_path / "out")
    samples = decoded(applied.path)[0]
    pause = samples[round(2.85 * RATE) : round(2.97 * RATE)]
    assert level_db(pause) == pytest.approx(-50, abs=0.7)
    assert "because of the noise limit of -50 dBFS" in applied.fixes[0].did


def test_a_gain_is_held_back_rather_than_speech_flattened():
    peaky = Loudness(integrated_lufs=-40, true_peak_dbtp=-8)
    gain = choose_gain(peaky, -20, voice_plan(true_peak_dbtp=-3))
    assert gain.gain_db == pytest.approx(11.0)  # 5 dB to the ceiling and 6 of limiting
    assert (gain.limits, gain.held_back_by) == (True, "true-peak ceiling")
    loud = Loudness(integrated_lufs=-12, true_peak_dbtp=0.5)
    down = choose_gain(loud, -20, voice_plan(true_peak_dbtp=-3, noise_dbfs=(-40, -50)))
    assert (down.gain_db, down.limits, down.held_back_by) == (-8, False, None)
    up = choose_gain(peaky, -20, voice_plan(true_peak_dbtp=9, noise_dbfs=(-40, -50)))
    assert (up.gain_db, up.held_back_by) == (0, "noise limit of -50 dBFS")


def test_silence_and_spans_beyond_the_end_are_refused(tmp_path):
    folder = tmp_path / "out"
    source = write(tmp_path / "silent.wav", np.zeros(3 * RATE))
    with pytest.raises(FixError, match="nothing to be heard"):
        apply(voice_plan(loudness_lufs=-20), Source.of(source), folder / "a")
    with pytest.raises(FixError, match=r"silent\.wav ends before 9\.00 s"):
        apply(voice_plan(spans=(Span(start_s=1, end_s=9),)), Source.of(source), folder / "a")
    assert not list(folder.iterdir())


def test_the_track_of_a_video_is_encoded_once(make, picture, tone, tmp_path):
    made = make("a.mp4", *picture, *tone, "-c:v", "libx264", "-c:a", "aac")
    plan = voice_plan(spans=(Span(start_s=0.25, end_s=1.75),))
    applied = apply(plan, Source.of(made), tmp_path / "ada")
    with av.open(applied.path) as container:
        assert container.streams.audio[0].rate == 44_100
    assert decoded(applied.path).shape == (1, 66_150)
    assert {"extract", "mix", "convert"} <= {each.id for each in applied.fixes}


def test_ctrl_c_leaves_nothing_at_any_stage(tmp_path):
    source = write(tmp_path / "a.wav", speech_like(4.0))
    folder = tmp_path / "out"
    spans = (Span(start_s=0.0, end_s=1.0), Span(start_s=2.0, end_s=3.5))
    for stop_at in (0.1, 0.5, 0.8):

        def interrupt(done: float, stop_at: float = stop_at) -> None:
            if done >= stop_at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            apply(
                voice_plan(spans=spans, loudness_lufs=-20),
                Source.of(source),
                folder / "ada",
                progress=interrupt,
            )
        assert not list(folder.iterdir())


def test_progress_never_falls(tmp_path):
    seen: list[float] = []
    plan = voice_plan(spans=(Span(start_s=0, end_s=3),), loudness_lufs=-20)
    source = write(tmp_path / "a.wav", speech_like(4.0))
    apply(plan, Source.of(source), tmp_path / "out", progress=seen.append)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert seen == sorted(seen)


def test_a_long_recording_is_never_in_memory_whole(make, tmp_path):
    source = make("long.flac", "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=16000:d=900")
    spans = tuple(Span(start_s=start, end_s=start + 5) for start in range(0, 900, 90))
    tracemalloc.start()
    try:
        apply(voice_plan(spans=spans), Source.of(source), tmp_path / "out")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000  # the whole would take 58 MB as 32-bit samples
