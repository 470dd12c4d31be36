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
from palprep.preflight.check_and_prepare import shared_toolkit
from palprep.rules.profile import Profile, load_profile
from palprep.rules.report import Check
from palprep.rules.same_person import SamePerson
from palprep.values import Kind
from palprep.vision.analysis import MAX_SIDE
from palprep.vision.arrays import Floats
from palprep.vision.identity import cosine, identify
from palprep.vision.models import Models
from palprep.vocabulary import DEFAULT_PROFILE, FileInput

FRAMES = 8
"""Most frames of a video whose embeddings are averaged, one a second."""


def same_person(
    paths: Sequence[FileInput | Source],
    *,
    profile: str | Path | Profile = DEFAULT_PROFILE,
    models: Models | None = None,
) -> tuple[Check, ...]:
    """One check per pair of images or videos, in the order of ``itertools.combinations``.

    None at all where the profile disables ``same_person``. Embeddings identify a person; they
    are dropped once the cosines are known. Raises UsageError for fewer than two files, MediaError
    for a file that cannot be read, ProfileError for a profile that cannot be read.
    """
    if len(paths) < 2:
        raise UsageError("Comparing faces takes two files at the least")
    chosen = profile if isinstance(profile, Profile) else load_profile(profile)
    rule, loaded = SamePerson(), models or shared_toolkit().models
    limits = chosen.pairs.get(rule.id)
    if not limits:
        return ()
    sources = [Source.of(path) for path in paths]
    faces = [(source.name, face_of(source, loaded)) for source in sources]
    return tuple(
        rule.judge(
            first, second, None if one is None or other is None else cosine(one, other), limits
        )
        for (first, one), (second, other) in itertools.combinations(faces, 2)
    )


def face_of(source: Source, models: Models) -> Floats | None:
    """The embedding of the largest face of an image, or the mean over a video's frames; None
    without a face. Raises UnsupportedMedia for audio, MediaError for what cannot be read.
    """
    if source.type.kind is Kind.IMAGE:
        return identify(open_image(source, max_side=MAX_SIDE), models)
    if source.type.kind is not Kind.VIDEO:
        raise UnsupportedMedia(f"{source.name} is {source.type.description}; it shows no face")
    frames = sample_frames(source, per_second=1.0, max_side=MAX_SIDE)
    seen = (identify(frame.rgb, models) for frame in itertools.islice(frames, FRAMES))
    found = [each for each in seen if each is not None]
    return np.asarray(np.mean(found, axis=0)) if found else None
