from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.facts import SignalFacts
from palprep.media.images.frames import SampledFrame, sample_frames
from palprep.media.images.signal import SignalMeter
from palprep.media.sources.source import Source

from .conftest import gradient, sine

RATE = 25


def scene(seed: int, brightness: float = 120.0) -> np.ndarray:
    """A textured luma picture: soft blobs, so that corners can be tracked."""
    noise = np.random.default_rng(seed).normal(0, 1, (12, 20))
    soft = np.kron(noise, np.ones((8, 8)))
    return np.clip(brightness + 25 * soft, 0, 255)


def measured(pictures: list[np.ndarray], *, noise: float = 1.5, quick: bool = False) -> SignalFacts:
    """The facts of a list of luma pictures at 25 frames per second, with a sensor's noise."""
    random = np.random.default_rng(0)
    meter = SignalMeter(key_frames_only=quick)
    for index, picture in enumerate(pictures):
        noisy = picture + random.normal(0, noise, picture.shape)
        # A sensor's noise is grainy; a breathing person moves some block by more.
        noisy[20:40, 60:80] += 4 * np.sin(index / 4)
        meter.add(index / RATE, np.clip(noisy, 0, 255).astype(np.uint8))
    return meter.result()


def test_a_steady_shot_has_nothing_to_report():
    facts = measured([scene(1)] * 100)
    assert facts.frames == 100
    assert facts.cuts == facts.freezes == facts.black == facts.exposure_steps == ()
    assert facts.flicker_percent is not None
    assert facts.flicker_percent < 0.1
    assert facts.shake_percent is not None
    assert facts.shake_percent < 0.1
    assert [second.at_s for second in facts.seconds] == [0.0, 1.0, 2.0, 3.0]
    assert facts.seconds[0].luma == pytest.approx(scene(1).mean(), abs=1.0)


def test_cuts_at_their_first_frame():
    facts = measured([scene(1)] * 50 + [scene(2)] * 50 + [scene(3)] * 25)
    assert facts.cuts == (2.0, 4.0)


def test_a_gesture_is_no_cut():
    shifts = [round(12 * np.sin(index / 6)) for index in range(100)]
    pictures = [np.roll(scene(1), shift, axis=1) for shift in shifts]
    assert measured(pictures).cuts == ()


def test_a_freeze_is_the_same_picture_again():
    live = [scene(1)] * 50
    meter = SignalMeter()
    random = np.random.default_rng(0)
    frozen = scene(1).astype(np.uint8)
    for index in range(125):
        picture = frozen if 50 <= index < 90 else scene(1) + random.normal(0, 2, frozen.shape)
        if not 50 <= index < 90:
            picture[20:40, 60:80] += 4 * np.sin(index / 4)
        meter.add(index / RATE, np.clip(picture, 0, 255).astype(np.uint8))
    (freeze,) = meter.result().freezes or ()
    assert freeze.start_s == pytest.approx(2.0)
    assert freeze.end_s == pytest.approx(3.6)
    assert freeze.duration_s == pytest.approx(1.6)
    assert measured(live).freezes == ()


def test_black_has_a_start_and_an_end():
    facts = measured([scene(1)] * 25 + [np.full((96, 160), 16.0)] * 25 + [scene(1)] * 25)
    (black,) = facts.black
    assert (black.start_s, black.end_s) == (1.0, 2.0)


def test_exposure_that_steps_is_a_jump_and_a_fade_is_none():
    stepped = measured([scene(1, 120)] * 50 + [scene(1, 145)] * 50)
    assert stepped.exposure_steps == (2.0,)
    assert stepped.cuts == ()
    fade = [scene(1, 110 + 0.3 * index) for index in range(100)]
    assert measured(fade).exposure_steps == ()
    assert measured([scene(1)] * 50 + [scene(2, 160)] * 50).exposure_steps == ()


def test_a_hand_that_comes_in_is_no_change_of_light():
    hand = scene(1, 120)
    hand[48:, :80] = 210
    assert hand.mean() > 1.1 * scene(1, 120).mean()
    assert measured([scene(1, 120)] * 50 + [hand] * 50).exposure_steps == ()


@pytest.mark.parametrize("percent", [0.5, 2.0])
def test_flicker_reads_its_amplitude(percent):
    swing = scene(1).mean() * percent / 100
    pictures = [scene(1) + swing * (-1) ** index for index in range(100)]
    found = measured(pictures, noise=0.5).flicker_percent
    assert found == pytest.approx(percent * 1.4826 / 1.0, rel=0.5)
    assert found > percent * 0.8


def test_shake_is_unsteady_movement_and_a_pan_is_not():
    def shifted(across: list[int]) -> list[np.ndarray]:
        wide = np.tile(scene(1), (1, 4))
        return [wide[:, 100 + x : 260 + x] for x in across]

    random = np.random.default_rng(2)
    steps = np.repeat(random.integers(-4, 5, 40), 5)
    shaken = measured(shifted(list(steps))).shake_percent
    panned = measured(shifted([index // 5 for index in range(200)])).shake_percent
    assert shaken is not None
    assert panned is not None
    assert shaken > 1.0
    assert panned < 0.3 * shaken


def test_shoulders_that_sway_at_times_before_a_tripod_are_no_shake():
    random = np.random.default_rng(5)
    wide = np.tile(scene(3), (1, 3))
    swaying = random.integers(-4, 5, (40, 2)) * (np.arange(40) // 4 % 2)[:, None]
    pictures = []
    for left, right in np.repeat(swaying, 5, axis=0):
        picture = scene(1).copy()
        picture[20:, :40] = wide[20:, 100 + left : 140 + left]
        picture[20:, -40:] = wide[20:, 200 + right : 240 + right]
        pictures.append(picture)
    shaken = measured(pictures).shake_percent
    assert shaken is not None
    assert shaken < 0.7


def test_a_walk_with_the_camera_is_shake_though_nothing_moves_alike():
    random = np.random.default_rng(2)
    wide = np.tile(scene(1), (1, 4))
    pictures = []
    for steps in np.repeat(random.integers(-4, 5, (40, 4)), 5, axis=0):
        strips = [wide[:, 100 + 40 * at + step :][:, :40] for at, step in enumerate(steps)]
        pictures.append(np.concatenate(strips, axis=1))
    shaken = measured(pictures).shake_percent
    assert shaken is not None
    assert shaken > 1.0


def test_a_plain_wall_tells_nothing_of_shake():
    assert measured([np.full((96, 160), 128.0)] * 50, noise=0.5).shake_percent is None


def test_key_frames_alone_leave_the_rest_unknown():
    facts = measured([scene(1)] * 10 + [scene(2)] * 10, quick=True)
    assert facts.cuts is facts.freezes is facts.exposure_steps is None
    assert facts.flicker_percent is facts.shake_percent is None
    assert facts.frames == 20


def test_between_key_frames_only_what_is_black_at_both_is_black():
    dark = np.full((96, 160), 16.0)
    (black,) = measured([dark, scene(1), dark, dark, scene(1)], quick=True).black
    assert (black.start_s, black.end_s) == (2 / RATE, 3 / RATE)


def test_an_empty_meter_gives_empty_facts():
    facts = SignalMeter().result()
    assert (facts.frames, facts.seconds, facts.cuts) == (0, (), ())


def test_frames_come_on_a_grid_and_the_luma_of_all_is_seen(make_video):
    path = make_video(seconds=4.0)
    seen: list[float] = []
    frames = list(
        sample_frames(Source.of(path), per_second=2.0, on_luma=lambda at, _: seen.append(at))
    )
    assert [frame.at_s for frame in frames] == pytest.approx(
        [0.5 * index for index in range(8)], abs=0.13
    )
    assert all(isinstance(frame, SampledFrame) for frame in frames)
    assert len(seen) > 2 * len(frames)
    assert seen == sorted(seen)
    assert np.abs(frames[0].rgb.astype(int) - gradient()).mean() < 6


@pytest.mark.parametrize(
    ("turn", "corner"), [(0, (2, 2)), (90, (-3, 2)), (180, (-3, -3)), (-90, (2, -3))]
)
def test_frames_are_upright(make_video, turn, corner):
    path = make_video(rotate=turn, seconds=0.2)
    frame = next(sample_frames(Source.of(path)))
    assert frame.rgb.shape[:2] == ((64, 48) if turn in {90, -90} else (48, 64))
    assert frame.rgb[corner][2] > 180


def test_frames_fit_max_side_with_square_pixels(make_video):
    path = make_video(aspect=Fraction(2), size=(64, 64))
    frame = next(sample_frames(Source.of(path), max_side=32))
    assert frame.rgb.shape == (16, 32, 3)
    assert next(sample_frames(Source.of(path), max_side=1000)).rgb.shape == (64, 128, 3)


@pytest.mark.parametrize("size", [(2, 1000), (1000, 2)])
def test_a_very_narrow_video_has_a_brightness(make_video, size):
    path = make_video(codec="mpeg4", size=size, seconds=0.2)
    meter = SignalMeter()
    list(sample_frames(Source.of(path), on_luma=meter.add))
    assert 0 <= meter.result().seconds[0].luma <= 255


def test_key_frames_only(make_video):
    path = make_video(seconds=4.0, options={"movflags": "+faststart"})
    seen: list[float] = []
    list(
        sample_frames(Source.of(path), key_frames_only=True, on_luma=lambda at, _: seen.append(at))
    )
    assert 1 <= len(seen) <= 4


def test_a_stream_without_key_frames_is_decoded_whole(make_video):
    path = make_video(codec="mpeg4", seconds=4.0, skip_packets=1, codec_options={"g": "600"})
    seen: list[float] = []
    frames = list(
        sample_frames(Source.of(path), key_frames_only=True, on_luma=lambda at, _: seen.append(at))
    )
    assert len(frames) == 4
    assert len(seen) > 50


def test_of_many_key_frames_only_those_due_are_decoded(make_video):
    path = make_video(seconds=4.0, codec_options={"g": "1"})
    seen: list[float] = []
    frames = sample_frames(
        Source.of(path), key_frames_only=True, on_luma=lambda at, _: seen.append(at)
    )
    assert [frame.at_s for frame in frames] == seen == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("transfer", [16, 18])
def test_hdr_frames_are_brought_to_srgb(make_video, transfer):
    """A mid grey coded in PQ or HLG stands for light that sRGB codes much higher."""
    grey = [np.full((48, 64, 3), 120, np.uint8)] * 5
    hdr = make_video(frames=grey, codec="libx265", pix_fmt="yuv420p10le", color_trc=transfer)
    plain = make_video("b.mp4", frames=grey, codec="libx265", pix_fmt="yuv420p10le")
    shown = [next(sample_frames(Source.of(each))).rgb.mean() for each in (hdr, plain)]
    assert shown[1] == pytest.approx(120, abs=3)
    assert shown[0] > shown[1] + 6


def test_ten_bit_luma_is_scaled_to_eight(make_video):
    path = make_video(pix_fmt="yuv420p10le", seconds=0.4)
    eight = make_video("b.mp4", seconds=0.4)
    found: list[float] = []
    for each in (path, eight):
        list(sample_frames(Source.of(each), on_luma=lambda _, luma: found.append(luma.mean())))
    assert found[0] == pytest.approx(found[-1], abs=2.0)


def test_nothing_to_decode(make_sound, make_video):
    sound = make_sound("a.m4a", sine(0.5, 48_000), codec="aac")
    with pytest.raises(UnsupportedMedia, match="no video stream"):
        next(sample_frames(Source.of(sound)))
    path = make_video()
    data = bytearray(path.read_bytes())
    start, end = data.index(b"mdat") + 4, data.index(b"moov") - 4
    data[start:end] = bytes(end - start)
    path.write_bytes(data)
    with pytest.raises(DamagedMedia, match="No frame"):
        list(sample_frames(Source.of(path)))


def test_time_that_begins_anew_is_looked_at_once(make_video):
    part = make_video("a.ts", seconds=2.0).read_bytes()
    path = make_video("b.ts", seconds=2.0, size=(96, 64))
    path.write_bytes(part + path.read_bytes())
    meter = SignalMeter()
    frames = list(sample_frames(Source.of(path), per_second=2, on_luma=meter.add))
    assert len(frames) == 4
    assert meter.result().frames <= 50
