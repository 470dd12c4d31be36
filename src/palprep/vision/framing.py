"""Where the head and the body of the subject stand in the picture."""

from __future__ import annotations

import cv2
import numpy as np

from palprep.values import Rect
from palprep.vision.arrays import Floats, Mask, Pixels, resized, tensor
from palprep.vision.detect import Detection
from palprep.vision.facts import Framing
from palprep.vision.landmarks import Landmarks
from palprep.vision.models import Network

MASK_SIDE = 256

BUST = (1.2, 3.0, 2.1)
"""The person mask is taken of the head and shoulders, where it was trained to work: this many
face heights above, below and to each side of the face's top, chin and middle."""

VERTEX = 0.2
"""The top of the skull lies this many face heights above the hairline: head height over
trichion to gnathion, 1.2 on average (Farkas 1994)."""

HAIR = 0.33
"""Where hair usually ends, likewise. Used only where the mask runs into the border."""

TOUCH = 0.02
"""A mask this close to the border, in face heights, touches it."""


def person_mask(rgb: Pixels, network: Network) -> Floats:
    """Probability of a person per pixel, 256 x 256, stretched over the whole picture."""
    small = tensor(resized(rgb, MASK_SIDE, MASK_SIDE), 1 / 255)
    return np.asarray(network.run(small)[0][0, 0])


def face_box(face: Landmarks) -> Rect:
    """Around the points of the face's surface."""
    low, high = face.points[:468, :2].min(0), face.points[:468, :2].max(0)
    width, height = high - low
    return Rect(x=float(low[0]), y=float(low[1]), width=float(width), height=float(height))


def detected_face_box(found: Detection) -> Rect:
    """The same from the detector's box, which starts above the hairline: the median relation."""
    x, y, width, height = found.box
    return Rect(x=x, y=y + 0.11 * height, width=width, height=0.89 * height)


def bust_mask(rgb: Pixels, face: Rect, network: Network) -> tuple[Mask, float]:
    """The person mask around one face in the picture's size, and the share that was looked at."""
    height, width = rgb.shape[:2]
    above, below, aside = (n * face.height for n in BUST)
    middle = face.x + face.width / 2
    left, right = max(0, int(middle - aside)), min(width, int(middle + aside))
    top = max(0, int(face.y - above))
    bottom = min(height, int(face.y + face.height + below))
    whole = np.zeros((height, width), bool)
    if right - left < 8 or bottom - top < 8:
        return whole, 0.0
    part = person_mask(rgb[top:bottom, left:right], network)
    stretched = cv2.resize(part, (right - left, bottom - top), interpolation=cv2.INTER_LINEAR)
    whole[top:bottom, left:right] = stretched > 0.5
    return whole, (right - left) * (bottom - top) / (height * width)


def measure_framing(face: Rect, mask: Mask) -> Framing:
    height, width = mask.shape
    top = _head_top(face, mask)
    above_face = face.y / face.height
    # The skull is behind the hairline whatever the mask says. A mask that runs into the border
    # leaves open whether hair is cut: then the usual height of hair decides, and there is no room.
    seen = top / face.height
    margin_top = min(above_face - VERTEX, seen, *([] if seen > TOUCH else [above_face - HAIR]))
    left, right = _run(mask, face.y + face.height * 0.4, face)
    side_face = min(face.x, width - face.x - face.width) / face.height
    side_head = min(left, width - right) / face.height
    chin = face.y + face.height
    return Framing(
        face=face,
        head=Rect(x=left, y=top, width=right - left, height=max(chin - top, 0.0)),
        centre_x=(face.x + face.width / 2) / width,
        face_height_share=face.height / height,
        margin_top=margin_top,
        margin_side=min(side_face, side_head, *([] if side_head > TOUCH else [side_face - VERTEX])),
        margin_bottom=(height - chin) / face.height,
    )


def _head_top(face: Rect, mask: Mask) -> float:
    """The row at which the mask above the face ends, 0 when it reaches the border."""
    height, width = mask.shape
    start = int(np.clip(face.y + 0.3 * face.height, 1, height))
    middle, aside = face.x + face.width / 2, 0.25 * face.width
    left = int(np.clip(middle - aside, 0, width - 1))
    right = max(left + 1, int(min(width, middle + aside)))
    rows = mask[:start, left:right].any(axis=1)
    gaps = np.flatnonzero(~rows)
    return float(gaps[-1] + 1) if len(gaps) else 0.0


def _run(mask: Mask, y: float, face: Rect) -> tuple[float, float]:
    """The unbroken stretch of person in this row around the face, no narrower than the face."""
    height, width = mask.shape
    row = mask[int(np.clip(y, 0, height - 1))]
    middle = int(np.clip(face.x + face.width / 2, 0, width - 1))
    gaps = np.flatnonzero(~row)
    left = max((int(gap) + 1 for gap in gaps[gaps <= middle][-1:]), default=0)
    right = min((int(gap) for gap in gaps[gaps >= middle][:1]), default=width)
    return min(float(left), face.x), max(float(right), face.x + face.width)
