"""The sample portrait, seen once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palprep.media.images import open_image
from palprep.media.sources import Source
from palprep.vision import Detections, Models, Pixels, detect_subject
from palprep.vision.analysis import analyse_portrait


@pytest.fixture(scope="session")
def models() -> Models:
    return Models()


@pytest.fixture(scope="session")
def portrait(sample_media: Path) -> Pixels:
    """A public-domain portrait of one adult who smiles into the lens."""
    path = sample_media / "people" / "anna-miller" / "portrait.png"
    return np.asarray(open_image(Source.of(path), max_side=900)[1])


@pytest.fixture(scope="session")
def sight(portrait: Pixels, models: Models) -> Detections:
    return detect_subject(portrait, models)


@pytest.fixture(scope="session")
def picture(portrait: Pixels, models: Models):
    return analyse_portrait(portrait, models)
