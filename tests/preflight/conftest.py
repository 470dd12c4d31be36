"""A sample portrait, a folder of images made of it, and a spoken consent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from seen_portrait import models, picture, portrait, sight
from spoken import coded_consent, other_talk, speech, spoken_consent

__all__ = [
    "coded_consent",
    "folder",
    "models",
    "other_talk",
    "picture",
    "portrait",
    "portrait_path",
    "sight",
    "speech",
    "spoken_consent",
]


@pytest.fixture(scope="session")
def portrait_path(light_people: Path) -> Path:
    return light_people / "anna-miller" / "portrait.png"


@pytest.fixture
def folder(portrait_path: Path, tmp_path: Path) -> Path:
    """The portrait, a near-duplicate, a blurred one, a landscape's worth of grey, a text."""
    with Image.open(portrait_path) as opened:
        image = opened.convert("RGB")
    image.thumbnail((900, 900))
    image.save(tmp_path / "good.jpg", quality=95)
    image.save(tmp_path / "twin.jpg", quality=60)
    image.resize((60, 60)).resize(image.size).save(tmp_path / "blurred.jpg")
    Image.new("RGB", (640, 480), "grey").save(tmp_path / "nobody.png")
    (tmp_path / "notes.txt").write_text("no picture", encoding="utf-8")
    return tmp_path
