"""A face that talks: how its mouth is shaped by what is heard, when it blinks, how the head sways,
and the portrait with mouth, eyes and head so.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Samples = NDArray[np.floating[Any]]

# The mouth and the jaw in astronaut.png, in its pixels.
MOUTH_X, HALF_MOUTH, HALF_JAW = 223.5, 19.5, 42.0
LOWER_LIP_X, LOWER_LIP_Y = (204.0, 213.5, 223.0, 233.0, 243.0), (141.0, 147.5, 149.7, 148.2, 141.5)
"""The upper edge of the lower lip, from corner to corner."""
CHIN_Y, NECK_Y = 179.0, 204.0
INSIDE = (58.0, 22.0, 22.0)
"""The colour of the inside of the mouth, below the teeth."""
MOST_OPEN = 13.0
"""How far the lower lip comes down for the loudest sound: three tenths of the mouth's width."""

MOST_SPREAD = 6.0
"""How far each corner of the mouth goes out for "ee", and in for "oo"."""

EYES = ((204.5, 93.0, 97.3, 104.8, 11.5), (246.5, 95.5, 99.8, 107.2, 12.5))
"""Of each eye the middle, from there down the fold above the lid, the edges of the upper and of the
lower lid, and half its width."""
BLINK = (0.5, 1.0, 1.0, 0.6, 0.25)
"""How far the eyes are shut in the frames of a blink: 0.2 s."""

HEAD = (224.0, 92.0, 66.0, 92.0)
"""The middle of the head, and half its width and height with hair and helmet ring left out."""
NEAR = 0.75
"""In sizes of the head beyond its edge: so far the picture is stretched as the head moves."""
NOSE, FACE = (223.0, 129.0), (42.0, 55.0)
"""The tip of the nose, and half the width and height of what stands out around it."""
TURN = 0.9
"""How much further than the head the nose goes, in ways of the head: it turns as it sways."""
SWAYS = ((5.0, 5.3, 0.0, 2.5, 2.1, 1.0), (3.0, 3.9, 2.0, 1.5, 1.7, 0.0))
"""Across and down, two waves each: their height in pixels, their period in seconds, their phase."""


class Face(NamedTuple):
    """The face in every frame. It is as in the portrait where all are 0."""

    opened: Samples
    """How far the mouth is open, 0 to 1."""
    spread: Samples
    """How far the lips are spread, -1 to 1."""
    shut: Samples
    """How far the eyes are shut, 0 to 1."""
    place: Samples
    """Where the head is, frames x 2: pixels across and down from its place in the portrait."""


def sways(frames: int, fps: int) -> Samples:
    """How far the head is from where it is in the portrait in every frame, frames x 2 pixels."""
    times = 2 * math.pi * np.arange(frames) / fps
    return np.column_stack(
        [
            one * np.sin(times / slow + phase) + other * np.sin(times / quick + later)
            for one, slow, phase, other, quick, later in SWAYS
        ]
    )


def swayed(pixels: Samples, across: float, down: float, turn: float = TURN) -> Samples:
    """The portrait with its head moved by so many pixels over what surrounds it, and turned that
    way: the nose goes ``turn`` times as far again. What is next to the head is stretched."""
    height, width = pixels.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    middle_x, middle_y, half_width, half_height = HEAD
    away = np.hypot((x - middle_x) / half_width, (y - middle_y) / half_height)
    beyond = np.hypot((x - NOSE[0]) / FACE[0], (y - NOSE[1]) / FACE[1])
    follows = 1 - eased((away - 1) / NEAR) + turn * eased(1 - beyond)
    column = np.clip(x - across * follows, 0, width - 1.001)
    row = np.clip(y - down * follows, 0, height - 1.001)
    left, above = column.astype(int), row.astype(int)
    aside, below = (column - left)[..., None], (row - above)[..., None]
    upper = pixels[above, left] * (1 - aside) + pixels[above, left + 1] * aside
    lower = pixels[above + 1, left] * (1 - aside) + pixels[above + 1, left + 1] * aside
    moved: Samples = upper * (1 - below) + lower * below
    return moved


def blinks(frames: int, fps: int, *, seed: int) -> Samples:
    """How far the eyes are shut in every frame, 0 to 1: every two to four seconds they blink."""
    rng = np.random.default_rng(seed)
    shut = np.zeros(frames)
    at = rng.uniform(1, 2)
    while (first := int(at * fps)) < frames:
        shut[first : first + len(BLINK)] = BLINK[: frames - first]
        at += rng.uniform(2, 4)
    return shut


def blinking(pixels: Samples, shut: float) -> Samples:
    """The portrait with its upper lids drawn down over the eyes: their skin stretches."""
    face = pixels.copy()
    for middle, fold, upper, lower, half in EYES:
        left, right, top, bottom = (
            *(int(middle - half), int(middle + half) + 2),
            *(int(fold), int(lower) + 2),
        )
        y, x = np.mgrid[top:bottom, left:right].astype(np.float32)
        edge = upper + shut * (lower - upper) * np.sqrt(
            np.clip(1 - ((x - middle) / half) ** 2, 0, 1)
        )
        source = np.where(y < edge, fold + (y - fold) * (upper - fold) / (edge - fold), y)
        row = np.clip(source - top, 0, bottom - top - 1.001)
        above, share = row.astype(int), (row % 1)[..., None]
        part, column = pixels[top:bottom, left:right], np.arange(right - left)[None, :]
        face[top:bottom, left:right] = (
            part[above, column] * (1 - share) + part[above + 1, column] * share
        )
    return face


def shapes(samples: Samples, rate: int, frames: int, fps: int) -> tuple[Samples, Samples]:
    """How a mouth that speaks these samples is shaped in every frame.

    First how far it is open, 0 to 1: with the loudness of the frame after, because lips take
    their shape before it is heard. It opens in vowels, and rests in consonants and pauses. Then
    how far the lips are spread, -1 (round, as in "oo") to 1 (as in "ee"): the second formant says
    so, and with it the balance of what is below and above 2 kHz.
    """
    ahead = np.pad(samples.astype(float), (0, int(2 * rate / fps) + 1))[rate // fps :]
    volume = by_frame(ahead, rate, frames, fps)
    vowels = np.percentile(volume[volume > 10 ** (-50 / 20)], 95)
    opened = np.clip((volume / vowels - 0.2) / 0.6, 0, 1)
    below = by_frame(band(samples, rate, 250, 2000), rate, frames, fps)
    above = by_frame(band(samples, rate, 2000, 3200), rate, frames, fps)
    voiced = np.clip(np.hypot(below, above) / vowels - 0.05, 0, 0.3) / 0.3
    balance = 20 * np.log10((above + 1e-5) / (below + 1e-5))
    balance -= np.median(balance[voiced > 0.5])
    spread = voiced * np.clip(balance / (1.5 * balance[voiced > 0.5].std()), -1, 1)
    return smooth(opened, (1, 2, 1)), smooth(spread, (1, 2, 3, 2, 1))


def by_frame(samples: Samples, rate: int, frames: int, fps: int) -> Samples:
    """RMS of the sound of each frame."""
    step = rate / fps
    padded = np.pad(samples, (0, max(0, math.ceil(frames * step) - len(samples))))
    parts = [padded[int(at * step) : int((at + 1) * step)] for at in range(frames)]
    return np.sqrt([(part.astype(float) ** 2).mean() for part in parts])


def band(samples: Samples, rate: int, low_hz: float, high_hz: float) -> Samples:
    """What of the sound lies between two frequencies."""
    parts = np.fft.rfft(samples)
    at = np.fft.rfftfreq(len(samples), 1 / rate)
    return np.fft.irfft(parts * ((at >= low_hz) & (at < high_hz)), len(samples))


def smooth(course: Samples, weights: tuple[int, ...]) -> Samples:
    """Means over neighbours, by their weights."""
    padded = np.pad(course, len(weights) // 2, mode="edge")
    return np.convolve(padded, np.array(weights) / sum(weights), mode="valid")


def stretched(pixels: Samples, reach: float) -> Samples:
    """The portrait with the corners of its mouth ``reach`` pixels further out."""
    top, bottom = 110, 185
    y, x = np.mgrid[top:bottom, 0 : pixels.shape[1]].astype(np.float32)
    aside = x - MOUTH_X
    beyond = np.maximum(np.abs(aside) - HALF_MOUTH, 0)
    near = np.exp(-((beyond / 14) ** 2) - ((y - 146) / 20) ** 2)
    column = x - reach * np.clip(aside / HALF_MOUTH, -1, 1) * near
    before = np.clip(column, 0, pixels.shape[1] - 2).astype(int)
    row, share = np.arange(top, bottom)[:, None], (column - before)[..., None]
    face = pixels.copy()
    face[top:bottom] = pixels[row, before] * (1 - share) + pixels[row, before + 1] * share
    return face


def speaking(pixels: Samples, drop: float) -> Samples:
    """The portrait with its lower lip and chin ``drop`` pixels further down.

    The lip comes down by a bow that ends in the corners of the mouth, and the inside of the
    mouth shows above it. The chin follows a little less, and the neck takes up the rest.
    """
    left, right, top, bottom = 170, 278, 132, 210
    y, x = np.mgrid[top:bottom, left:right].astype(np.float32)
    lip = np.interp(x, LOWER_LIP_X, LOWER_LIP_Y)
    bow = drop * np.clip(1 - ((x - MOUTH_X) / HALF_MOUTH) ** 2, 0, 1) ** 0.7
    jaw = 0.75 * drop * np.cos(np.clip((x - MOUTH_X) / HALF_JAW, -1, 1) * math.pi / 2) ** 2
    source = y
    for _ in range(12):
        # What is at ``source`` goes down by ``moved``, and has to arrive at ``y``.
        follows = eased((source - lip) / (CHIN_Y - lip))
        moved = (bow + (jaw - bow) * follows) * (1 - eased((source - CHIN_Y) / (NECK_Y - CHIN_Y)))
        source = np.maximum(y - moved, np.minimum(lip, y))
    row = np.clip(source - top, 0, bottom - top - 1.001)
    above = row.astype(int)
    part = pixels[top:bottom, left:right]
    column = np.arange(right - left)[None, :]
    share = (row - above)[..., None]
    warped = part[above, column] * (1 - share) + part[above + 1, column] * share
    inside = np.clip(y - lip + 0.5, 0, 1) * np.clip(lip + bow - y + 0.5, 0, 1) * np.clip(bow, 0, 1)
    shown = warped * (1 - inside[..., None]) + np.array(INSIDE) * inside[..., None]
    face = pixels.copy()
    face[top:bottom, left:right] = shown
    return face


def as_image(pixels: Samples) -> Image.Image:
    """Red, green and blue from 0 to 255, rounded."""
    return Image.fromarray(np.clip(pixels + 0.5, 0, 255).astype(np.uint8))


def eased(share: Samples) -> Samples:
    """From 0 to 1 without a corner at either end."""
    held = np.clip(share, 0, 1)
    return held * held * (3 - 2 * held)
