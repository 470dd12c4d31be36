"""A perceptual hash: pictures that look alike have hashes that differ in few bits."""

from __future__ import annotations

import cv2
import numpy as np

from palprep.vision.arrays import Pixels, resized


def perceptual_hash(rgb: Pixels) -> str:
    """64 bits in hexadecimal: signs of the lowest 8 x 8 cosine frequencies of a 32 x 32 gray
    copy against their median (Zauner 2010).
    """
    gray = cv2.cvtColor(resized(rgb, 32, 32), cv2.COLOR_RGB2GRAY)
    low = cv2.dct(gray.astype(np.float32))[:8, :8]
    bits = (low > np.median(low)).reshape(-1)
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"
