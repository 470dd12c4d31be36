"""The sample media are what sample_media/README.md says, whoever makes them anew."""

from __future__ import annotations

import io
import re
import tomllib
from pathlib import Path

import av
import numpy as np
import pillow_heif
import pytest
from PIL import Image

from palprep.batch.people.folder import find_people
from palprep.batch.people.person import read_people
from palprep.preflight.values import kinds_of
from palprep.values import Role

MIB = 1024 * 1024

pillow_heif.register_heif_opener()


def test_they_stay_small(sample_media: Path) -> None:
    assert sum(path.stat().st_size for path in sample_media.rglob("*") if path.is_file()) < 8 * MIB


def test_the_readme_names_every_file(sample_media: Path) -> None:
    named = set(
        re.findall(r"`((?:people|broken)/[^`]+)`", (sample_media / "README.md").read_text())
    )
    present = {
        str(path.relative_to(sample_media))
        for folder in ("people", "broken")
        for path in (sample_media / folder).rglob("*")
        if path.is_file() and path.name != "person.toml"
    }
    assert named == present


def test_every_file_finds_its_role(sample_media: Path) -> None:
    anna, jane = read_people(find_people(sample_media / "people").people, kinds_of)
    assert not anna.problems
    assert not jane.problems
    assert {role: path.name for role, path in jane.sources.items()} == {
        Role.FACE_IMAGE: "portrait.heic",
        Role.TRAINING_VIDEO: "training.mp4",
        Role.CONSENT_VIDEO: "consent.mp4",
        Role.VOICE_AUDIO: "recording.m4a",
    }
    assert {role: path.name for role, path in anna.sources.items()} == {
        Role.FACE_IMAGE: "portrait.png",
        Role.VOICE_AUDIO: "recording.mov",
    }


def test_the_consent_names_the_person(sample_media: Path) -> None:
    words = tomllib.loads((sample_media / "words.toml").read_text())
    _, jane = read_people(find_people(sample_media / "people").people, kinds_of)
    assert f"I, {jane.full_name}, am currently speaking" in words["consent"]


def test_the_heic_is_turned_by_its_own_box(sample_media: Path) -> None:
    path = sample_media / "people/jane-carter/portrait.heic"
    assert b"irot" in path.read_bytes()
    with Image.open(path) as upright, Image.open(io.BytesIO(_without_irot(path))) as lying:
        assert upright.size == (768, 768)
        turned = np.asarray(lying.rotate(-90), float) - np.asarray(upright, float)
        assert np.abs(turned).max() == 0


def _without_irot(path: Path) -> bytes:
    """The same file with its rotation box made unknown to decoders."""
    return path.read_bytes().replace(b"irot", b"free", 1)


def test_the_png_is_too_large_and_has_alpha(sample_media: Path) -> None:
    with Image.open(sample_media / "people/anna-miller/portrait.png") as still:
        assert still.size == (4400, 4400)
        assert still.mode == "RGBA"


@pytest.mark.parametrize(
    ("name", "size", "seconds"),
    [
        ("people/jane-carter/training.mp4", (1920, 1080), 91.0),
        ("people/jane-carter/consent.mp4", (1920, 1080), 12.5),
        ("broken/silent-training.mp4", (640, 360), 62.0),
    ],
)
def test_the_videos_are_what_services_take(
    sample_media: Path, name: str, size: tuple[int, int], seconds: float
) -> None:
    data = (sample_media / name).read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(sample_media / name)) as container:
        picture = container.streams.video[0]
        assert (picture.width, picture.height) == size
        assert picture.codec_context.name == "h264"
        assert picture.average_rate == 25
        assert float(picture.duration * picture.time_base) == pytest.approx(seconds, abs=0.2)
        sound = [stream.codec_context.name for stream in container.streams.audio]
        assert sound == ([] if "silent" in name else ["aac"])
