"""What networks see of a picture beyond the face's points.

The scene network learned to name the things of photographs. Linear models read its maps: whether a
person was photographed, whether something covers the face, and whether somebody else is in view.
Others tell age and, open_nsfw, nudity.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping

import numpy as np
from PIL import Image

from palprep.vision.arrays import Floats, Pixels, similarity_transform, tensor, warp
from palprep.vision.detect import Detection
from palprep.vision.facts import Visibility
from palprep.vision.identity import SIDE, TEMPLATE
from palprep.vision.models import LinearModel, Network

SCENE_SIDE = 224
SCENE_TEMPLATE = (TEMPLATE - SIDE / 2) * 0.8 + (SCENE_SIDE / 2, SCENE_SIDE * 0.45)
"""Where the detector's five points stand in the picture of the scene: the face takes up a third
of its height, so that hair, shoulders and background show."""

FACE = slice(2, 5)
"""Rows and columns, of the 7 x 7 cells of a map, that the face stands in."""

BANDS = (2, 3, 4)
"""Each row of the face: forehead and brows, eyes and nose, mouth and chin."""

NSFW_SIDE, NSFW_CROP = 256, 224
NSFW_MEAN_BGR = np.array([104, 117, 123], np.float32)

AGE_SIDE, AROUND = 224, 1.1
"""Side of the square that the network sees, and its ratio to the longer side of the face's box."""
YEARS = np.arange(1, 101)
"""The ages that the network gives probabilities of."""

BIRTHDAYS = (13, 18, 25)
"""Ages at which the model is told the network's odds that the face is younger."""

LEAST_ODDS = 1e-3
"""Added to each chance: the network is often certain, and the logarithm of 0 is infinite."""


def scene_crop(rgb: Pixels, face: Detection) -> Pixels:
    """The face and its surroundings, upright, 224 x 224."""
    return warp(rgb, similarity_transform(face.points, SCENE_TEMPLATE), SCENE_SIDE)


def scene_maps(crop: Pixels, network: Network) -> Floats:
    """The 192 maps of 7 x 7 of a crop; a cell stands for 32 x 32 of its pixels."""
    return np.asarray(network.run(tensor(crop))[0][0])


def summarise(maps: Floats) -> Floats:
    """384 features: the mean of each map over the picture, then the standard deviation of each."""
    return np.concatenate([maps.mean((1, 2)), maps.std((1, 2))])


def describe_human(embedding: Floats, scene: Floats) -> dict[str, Floats]:
    """The features that tell whether a person was photographed, by block: the embedding, mean and
    spread over the picture of each of the maps of :func:`scene_maps`, and their mean and maximum on
    the face.

    The detector finds faces in most paintings, cartoons and statues. The embedding that tells
    people apart puts these elsewhere, and the scene network sees the texture of the face and what
    is around the head (research/training/human.py, docs/accuracy.md).
    """
    face = scene[:, FACE, FACE]
    on_face = np.concatenate([face.mean((1, 2)), face.max((1, 2))])
    return {"identity": embedding, "scene": summarise(scene), "face": on_face}


def measure_visibility(scene: Floats, models: Mapping[str, LinearModel]) -> Visibility:
    """How sure it is that the face and its parts are bare; ``scene`` are the maps of
    :func:`scene_maps`, ``models`` has one for each field of Visibility.

    Covers are masks, dark glasses, hands, cups, hair. The models were fitted on bare faces onto
    which those were painted, and beards, spectacles, headscarves and hard shadows as well, which
    cover nothing (research/training/covering.py).
    """
    features = describe_covering(scene)
    return Visibility(**{name: model.likelihood(features) for name, model in models.items()})


def describe_covering(scene: Floats) -> dict[str, Floats]:
    """The mean of each map in each band of the face, and its mean and spread over the picture."""
    bands = [scene[:, row, FACE].mean(1) for row in BANDS]
    return {"scene": np.concatenate([*bands, summarise(scene)])}


def nudity_score(rgb: Pixels, network: Network | None) -> float | None:
    """How pornographic a picture is, 0 harmless to 1, by open_nsfw (Yahoo, 2016; BSD-2-Clause).
    None without the network.

    The network tells pornography from everything else, by the whole picture; it names no part of
    the body. Its authors call a score under 0.2 harmless and one above 0.8 pornographic, both with
    high probability; they published no figures of its errors. Dressed people have reached 0.93. How
    much nudity goes unnoticed was not measured.

    The picture is made as those were that the network learned from: squeezed into 256 x 256
    with bilinear filtering, whatever its shape, coded as JPEG, and its middle 224 x 224 taken.
    Leaving the JPEG out moves scores by up to 0.3.
    """
    if network is None:
        return None
    coded = io.BytesIO()
    small = Image.fromarray(rgb).resize((NSFW_SIDE, NSFW_SIDE), Image.Resampling.BILINEAR)
    small.save(coded, format="JPEG")
    with Image.open(coded) as decoded:
        pixels = np.asarray(decoded, np.float32)
    edge = (NSFW_SIDE - NSFW_CROP) // 2
    middle = pixels[edge : edge + NSFW_CROP, edge : edge + NSFW_CROP, ::-1] - NSFW_MEAN_BGR
    (probabilities,) = network.run(np.ascontiguousarray(middle[None]))
    return float(probabilities[0, 1])


def age_classes(rgb: Pixels, face: Detection, network: Network) -> Floats:
    """The probability of each of :data:`YEARS` (Savchenko 2019, on IMDB-Wiki and Adience)."""
    scale, middle = AGE_SIDE / (AROUND * max(face.box[2:])), np.array(face.middle)
    square = np.column_stack([scale * np.eye(2), AGE_SIDE / 2 - scale * middle])
    crop = warp(rgb, square.astype(np.float32), AGE_SIDE)
    return np.asarray(network.run(tensor(crop))[0][0])


def describe_age(classes: Floats, embedding: Floats) -> dict[str, Floats]:
    """The features that tell adults from minors, by block, from :func:`age_classes` and the
    identity embedding of the same face: the mean of years, its root, which spreads children further
    than adults, the log odds of being younger than :data:`BIRTHDAYS`, and the embedding.

    The network still reads some teenagers like young adults. The embedding knows children too, and
    its errors have little in common with the network's (research/training/age.py).
    """
    found = np.asarray(classes, np.float64)
    years = float(found @ YEARS)
    younger = np.array([found[birthday > YEARS].sum() for birthday in BIRTHDAYS])
    odds = np.log((younger + LEAST_ODDS) / (1 - younger + LEAST_ODDS))
    return {
        "age": np.array([years, math.sqrt(years), *odds]),
        "identity": np.asarray(embedding, np.float64),
    }
