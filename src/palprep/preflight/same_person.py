"""Same person: the faces of several files compared pair by pair."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from palprep.errors import UnsupportedMedia, UsageError
from palprep.media.frames import sample_frames
from palprep.media.image import open_image
from palprep.media.source import Source
from palprep.rules.report import Check
from palprep.rules.same_person import judge_likeness
from palprep.values import Kind
from palprep.vision.analysis import MAX_SIDE
from palprep.vision.arrays import Floats
from palprep.vision.identity import cosine, identify
from palprep.vision.models import Models

FRAMES = 8
"""Frames of a video whose embeddings are averaged, at most, one a second."""


def same_person(
    paths: Sequence[str | Path | Source], *, models: Models | None = None
) -> tuple[Check, ...]:
    """One check per pair of stills or videos, in the order of ``itertools.combinations``.

    Embeddings identify a person; they are dropped when the cosines are known. Raises UsageError
    for fewer than two files, MediaError for a file that cannot be read.
    """
    if len(paths) < 2:
        raise UsageError("Comparing faces takes two files at the least")
    loaded = models or Models()
    sources = [Source.of(path) for path in paths]
    faces = [(source.name, face_of(source, loaded)) for source in sources]
    return tuple(
        judge_likeness(first, second, None if one is None or other is None else cosine(one, other))
        for (first, one), (second, other) in itertools.combinations(faces, 2)
    )


def face_of(source: Source, models: Models) -> Floats | None:
    """The embedding of the largest face of a still, or the mean over a video's frames; None
    without a face. Raises UnsupportedMedia for sound, MediaError for what cannot be read.
    """
    if source.type.kind is Kind.IMAGE:
        return identify(open_image(source, max_side=MAX_SIDE), models)
    if source.type.kind is not Kind.VIDEO:
        raise UnsupportedMedia(f"{source.name} is {source.type.description}; it shows no face")
    frames = sample_frames(source, per_second=1.0, max_side=MAX_SIDE)
    seen = (identify(frame.rgb, models) for frame in itertools.islice(frames, FRAMES))
    found = [each for each in seen if each is not None]
    return np.asarray(np.mean(found, axis=0)) if found else None
