"""Where a head is against what surrounds it: the wall behind it, the chair, the shoulders.

A person who talks moves the head over all of that. In a photograph whose mouth was animated
everything is in one plane, which a camera shifts, turns and slants as a whole. So points of the
surroundings are followed from frame to frame (Shi and Tomasi, "Good features to track", 1994; Lucas
and Kanade in pyramids, Bouguet 2001). The homography that explains most of them (MAGSAC++, Barath
et al. 2020) says where the head would be had the camera not moved.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.values import Rect
from palprep.vision.arrays import Floats, Mask, Pixels, shrunk
from palprep.vision.framing import face_box
from palprep.vision.landmarks import Landmarks

_SIDE = 480
"""Longer side, in pixels, of the pictures in which points are followed."""
_MOST, _FEWEST = 200, 16
"""Points that are followed; with fewer of them a new set is looked for."""
_APART = 7
_QUALITY = 0.01
"""How far corners are apart, in pixels, and how clear each is, of the clearest one."""
_BORDER = 8
"""Pixels at the border of the picture in which no points are looked for."""
_BESIDE, _ABOVE, _BELOW = 0.45, 0.7, 0.35
"""Around the face, in its widths and heights: hair and chin move with the head."""
_PATCH = 11
"""Pixels around a point by which it is known again. 15 and 21 cost more, and lose more points of
photographs that slant."""
_RETURNS = 1.5
"""Pixels. A point counts if it is found again that near when it is followed back."""
_FITS = 3.0
"""Pixels by which a point may miss the homography."""
_MOST_OF_THEM = 0.5
"""Share of the points that a frame must show again, and that must fit the homography: after a cut
some are found by chance."""
_RIGID = (33, 133, 263, 362, 168, 6, 197, 195, 9, 8, 127, 356)
"""Points of the face that no expression moves: corners of the eyes, bridge of the nose, temples."""

_UNKNOWN = (float("nan"), float("nan"))

Gray = NDArray[np.uint8]


class Surroundings:
    """Follows what surrounds one head, through frames that are close to each other."""

    def __init__(self) -> None:
        self._gray: Gray | None = None
        self._points: Floats = np.zeros((0, 2), np.float32)
        self._began = self._points
        """Where the points are now, and where they were when they were first followed."""
        self._home: Floats = np.zeros(2)
        self._face = 1.0
        """Where the head was then, and the width of the face."""
        self._before: Floats = np.zeros(2)
        """How far the head had moved by then."""
        self._place: Floats = np.zeros(2)

    def place_of(self, rgb: Pixels, marks: Landmarks) -> tuple[float, float]:
        """Where the head is, across and down, in widths of the face from where it was first seen.
        Not a number where too little surrounds it that can be followed."""
        scale = min(1.0, _SIDE / max(rgb.shape[:2]))
        small = shrunk(rgb, scale) if scale < 1.0 else rgb
        gray = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)
        head = marks.at(*_RIGID).mean(axis=0) * scale
        place = self._follow(gray, head)
        if place is None:
            self._begin(gray, head, face_box(marks), scale)
            if not len(self._points):
                return _UNKNOWN
            place = self._place
        self._place = place
        return float(place[0]), float(place[1])

    def _begin(self, gray: Gray, head: Floats, face: Rect, scale: float) -> None:
        """Look for points in this frame. What moved before is kept: the course goes on."""
        left, top, wide, high = (each * scale for each in (face.x, face.y, face.width, face.height))
        wanted = np.zeros(gray.shape, np.uint8)
        wanted[_BORDER:-_BORDER, _BORDER:-_BORDER] = 255
        upper = (int(left - _BESIDE * wide), int(top - _ABOVE * high))
        lower = (int(left + (1 + _BESIDE) * wide), int(top + (1 + _BELOW) * high))
        cv2.rectangle(wanted, upper, lower, (0,), cv2.FILLED)
        found = cv2.goodFeaturesToTrack(gray, _MOST, _QUALITY, _APART, mask=wanted)
        points = np.asarray([] if found is None else found, np.float32).reshape(-1, 2)
        self._points = points if len(points) >= _FEWEST else points[:0]
        self._began, self._gray = self._points, gray
        self._home, self._face, self._before = head, max(wide, 1.0), self._place

    def _follow(self, gray: Gray, head: Floats) -> Floats | None:
        """Where the head is; None where too few points are followed to here."""
        if self._gray is None or not len(self._points):
            return None
        there, found = _followed(self._gray, gray, self._points)
        back, again = _followed(gray, self._gray, there)
        sure = found & again & (np.linalg.norm(back - self._points, axis=1) < _RETURNS)
        self._gray, self._points, self._began = gray, there[sure], self._began[sure]
        if len(self._points) < _FEWEST or sure.mean() < _MOST_OF_THEM:
            return None
        moved, fits = cv2.findHomography(self._points, self._began, cv2.USAC_MAGSAC, _FITS)
        if moved is None or fits.mean() < _MOST_OF_THEM:
            return None
        at = cv2.perspectiveTransform(head[None, None].astype(np.float64), moved)[0, 0]
        return np.asarray(self._before + (at - self._home) / self._face)


def _followed(one: Gray, other: Gray, points: Floats) -> tuple[Floats, Mask]:
    """Where points of the one picture are in the other, and which of them were found."""
    there, found, _ = cv2.calcOpticalFlowPyrLK(
        one, other, points, np.empty_like(points), winSize=(_PATCH, _PATCH)
    )
    return np.asarray(there), np.asarray(found)[:, 0] == 1
