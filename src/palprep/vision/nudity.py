"""How pornographic a picture is, by open_nsfw (Yahoo, 2016; BSD-2-Clause).

The network tells pornography from everything else, by the whole picture; it names no part of
the body. Its authors call a score under 0.2 harmless and one above 0.8 pornographic, both with
high probability, and leave what lies between to whoever asks. They published no figures of its
errors. Of 342 portraits of staff pages, conferences and a parliament none scores above 0.43, but
of 31 videos of dressed people two do above 0.8: a hand close up (0.85) and an evening gown (0.93).
None of all these shows nudity, so that how much of it goes unnoticed was not measured.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from palprep.vision.arrays import Pixels
from palprep.vision.models import Network

SIDE = 256
CROP = 224
MEAN_BGR = np.array([104, 117, 123], np.float32)


def nudity_score(rgb: Pixels, network: Network) -> float:
    """0 harmless to 1 pornographic.

    The picture is made as those were that the network learned from: squeezed into 256 x 256
    with bilinear filtering, whatever its shape, coded as JPEG, and its middle 224 x 224 taken.
    Leaving the JPEG out moves scores by up to 0.3.
    """
    coded = io.BytesIO()
    small = Image.fromarray(rgb).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    small.save(coded, format="JPEG")
    with Image.open(coded) as decoded:
        pixels = np.asarray(decoded, np.float32)
    edge = (SIDE - CROP) // 2
    middle = pixels[edge : edge + CROP, edge : edge + CROP, ::-1] - MEAN_BGR
    (probabilities,) = network.run(np.ascontiguousarray(middle[None]))
    return float(probabilities[0, 1])
