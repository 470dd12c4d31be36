"""Whose face it is, as an embedding (SFace, Zhong et al. 2021); and which pictures look alike."""

from __future__ import annotations

import cv2
import numpy as np

from palprep.vision.arrays import Floats, Pixels, resized, similarity_transform, tensor, warp
from palprep.vision.detect import Detection, find_faces
from palprep.vision.facts import SURE_PRESENCE, SURE_SCORE
from palprep.vision.landmarks import find_landmarks
from palprep.vision.models import Models, Network

SIDE = 112
TEMPLATE = np.array(
    [
        (38.2946, 51.6963),
        (73.5318, 51.5014),
        (56.0252, 71.7366),
        (41.5493, 92.3655),
        (70.7299, 92.2041),
    ]
)
"""Where the detector's five points stand in the 112 x 112 crop (the ArcFace template)."""


def embed(rgb: Pixels, face: Detection, network: Network) -> Floats:
    """128 numbers of length 1. They identify a person: keep them no longer than needed."""
    return embed_crop(face_crop(rgb, face), network)


def face_crop(rgb: Pixels, face: Detection) -> Pixels:
    """All that :func:`embed` sees of a picture: a face of 112 x 112, upright."""
    return warp(rgb, similarity_transform(face.points, TEMPLATE), SIDE)


def embed_crop(crop: Pixels, network: Network) -> Floats:
    """As :func:`embed`, of what :func:`face_crop` cut out."""
    found = network.run(tensor(crop))[0].reshape(-1)
    return np.asarray(found / max(float(np.linalg.norm(found)), 1e-12), np.float32)


def cosine(one: Floats, other: Floats) -> float:
    """Similarity of two embeddings, -1 to 1."""
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def identify(rgb: Pixels, models: Models) -> Floats | None:
    """The embedding of the largest certain face of an upright sRGB picture, None without one."""
    for face in find_faces(rgb, models.detector):
        presence = 1.0 if face.score >= SURE_SCORE else find_landmarks(rgb, face, models).presence
        if presence >= SURE_PRESENCE:
            return embed(rgb, face, models.identity)
    return None


def perceptual_hash(rgb: Pixels) -> str:
    """64 bits in hex: signs of the lowest 8 x 8 frequencies of 32 x 32 grays (Zauner 2010)."""
    gray = cv2.cvtColor(resized(rgb, 32, 32), cv2.COLOR_RGB2GRAY)
    low = cv2.dct(gray.astype(np.float32))[:8, :8]
    bits = (low > np.median(low)).reshape(-1)
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"
