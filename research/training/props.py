"""What both covers and decoys are made of: glasses, hands, cloth, microphones, hair."""

from __future__ import annotations

import numpy as np

from research.training.painting import (
    Array,
    Face,
    Layer,
    Random,
    any_colour,
    cloth,
    fill,
    line,
    lit,
    noise,
    rounded,
    smooth_curve,
    wrinkled,
)


def pair_of_glasses(
    rng: Random, face: Face, wide: tuple[float, float], high: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """Alpha of the lenses, alpha of the frame, and the lenses' middles in pixels."""
    half, power = (rng.uniform(*wide), rng.uniform(*high)), rng.uniform(2.0, 5.0)
    drop, thick = rng.uniform(-0.02, 0.12), rng.uniform(0.015, 0.09)
    lenses = np.zeros(face.rgb.shape[:2], np.float32)
    frame = np.zeros_like(lenses)
    shape = rounded(rng, half, power)
    shape[:, 1] += rng.normal(0, 0.06) * np.abs(shape[:, 0])
    for side in (-1.0, 1.0):
        outline = face.at(*(shape * (side, 1) + (side * 0.5, drop)))
        lenses = np.maximum(lenses, fill(face, outline))
        frame = np.maximum(frame, line(face, np.concatenate([outline, outline[:1]]), thick))
        ear = face.points[127 if side < 0 else 356][None]
        temple = np.concatenate([face.at((side * (0.5 + half[0]), drop - 0.05)), ear])
        frame = np.maximum(frame, line(face, temple, thick))
    gap = 0.5 - half[0]
    bridge = face.at((-gap, drop - 0.05), (0, drop - 0.1), (gap, drop - 0.05))
    frame = np.maximum(frame, line(face, smooth_curve(bridge), thick))
    return lenses, frame, face.at((-0.5, drop), (0.5, drop))


def hand_at(rng: Random, face: Face, target: tuple[float, float], size: float) -> Layer:
    """Palm, four fingers and a thumb as capsules, each shaded across, in order of depth."""
    skin = face.colour(50, 280, 10) * rng.uniform(0.75, 1.15)
    turn, side = (
        rng.uniform(0, 2 * np.pi) if rng.random() < 0.3 else rng.normal(0, 0.6),
        rng.choice([-1, 1]),
    )
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    spread = rng.uniform(0.0, 0.25)
    bones = [((-0.3, 0.55), (-0.62, 0.1), 0.15)]
    for index, reach in enumerate((0.62, 0.72, 0.66, 0.5)):
        across = -0.3 + 0.2 * index
        lean = (index - 1.5) * spread
        bend = reach * rng.uniform(0.55, 1.0)
        bones.append(((across, 0.1), (across + lean * bend, 0.1 - bend), 0.115))
    layer = Layer(np.zeros(face.rgb.shape[:2], np.float32), face.rgb)

    def pixels(shape: Array) -> Array:
        turned = (shape * (side * size, size)) @ rotation.T + np.array(target)
        return face.at(*(tuple(place) for place in turned))

    arm = np.array([(-0.3, 0.5), (0.35, 0.5), (0.4, 4.0), (-0.35, 4.0)], np.float32)
    palm = rounded(rng, (0.42, 0.45), 3.0) + np.array([0.02, 0.45])
    flesh = np.clip(skin * (1 + 0.05 * noise(rng, face, 0.15)[..., None]), 0, 1)
    flesh = lit(rng, face, flesh.astype(np.float32))
    for shape in (arm, palm):
        layer = layer.under(Layer(fill(face, pixels(shape)), flesh))
    for start, end, radius in bones:
        way = np.array([start, end], np.float32)
        for grow, tone in ((1.25, 0.55), (1.0, 0.85), (0.65, 1.0), (0.3, 1.08)):
            finger = line(face, pixels(way), 2 * radius * size * grow, soft=0.02)
            if grow > 1:
                finger = finger * 0.7
            layer = layer.under(Layer(finger, np.clip(flesh * tone, 0, 1)))
    return layer


def wrapped_cloth(rng: Random, face: Face, level: float) -> Layer:
    """Cloth from ``level`` downwards, wider than the face."""
    wide, slack = rng.uniform(1.0, 1.5), rng.normal(0, 0.12)
    top = [
        (-wide, level - 0.2),
        (-0.6, level + slack),
        (0.0, level),
        (0.6, level - slack),
        (wide, level - 0.2),
    ]
    edge = smooth_curve(face.at(*top))
    base = face.at((wide * 1.2, level + 4), (-wide * 1.2, level + 4))
    curves = [
        smooth_curve(
            face.at(
                (-wide, level + drop),
                (rng.normal(0, 0.3), level + drop + 0.2),
                (wide, level + drop),
            )
        )
        for drop in rng.uniform(0.1, 1.8, int(rng.integers(2, 9)))
    ]
    surface = wrinkled(rng, face, cloth(rng, face), curves)
    return Layer(fill(face, np.concatenate([edge, base])), lit(rng, face, surface))


def microphone_at(rng: Random, face: Face, level: float, radius: tuple[float, float]) -> Layer:
    half, side = rng.uniform(*radius), rng.normal(0, 0.12)
    round_head = rounded(rng, (half, half * rng.uniform(0.9, 1.4)), 2.2)
    ball = fill(face, face.at(*(round_head + np.array([side, level]))))
    end = (side + rng.normal(0, 0.8), level + 3.0)
    stick = line(face, face.at((side, level), end), half * rng.uniform(0.5, 1.2))
    colour = any_colour(rng) * rng.choice([0.25, 0.25, 1.0])
    grid = np.sign(noise(rng, face, 0.02)) * rng.uniform(0, 0.2)
    surface = np.clip(colour * (1 + grid[..., None]) + 0.03 * ball[..., None], 0, 1)
    return Layer(np.maximum(ball, stick), lit(rng, face, surface.astype(np.float32)))


def hair_colour(rng: Random) -> Array:
    colours = [(0.06, 0.05, 0.05), (0.2, 0.13, 0.09), (0.4, 0.26, 0.16), (0.65, 0.5, 0.32)]
    colours += [(0.5, 0.5, 0.5), (0.85, 0.85, 0.83), (0.45, 0.2, 0.1)]
    chosen = np.array(colours[int(rng.integers(len(colours)))])
    return np.asarray(np.clip(chosen * rng.uniform(0.7, 1.3), 0, 1), np.float32)
