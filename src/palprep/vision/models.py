"""The vision networks and the linear models on top of them, loaded when first needed, checked
before use, safe to share.

A :class:`Models` object is passed to whoever looks at pictures; nothing is kept in modules.
"""

from __future__ import annotations

import functools
import io
import json
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from palprep.networks import open_network, read_manifest
from palprep.system import trim_heap
from palprep.vision.arrays import Floats


class Network:
    """One network, run by ONNX Runtime. Safe to share by threads."""

    def __init__(self, path: Path, outputs: tuple[str, ...]) -> None:
        self._session = open_network(path)
        (entry,) = self._session.get_inputs()
        self._input = entry.name
        self._outputs = outputs

    def run(self, blob: Floats) -> tuple[Floats, ...]:
        """The outputs for one input, in the order that was asked for at construction."""
        return tuple(self._session.run(self._outputs, {self._input: blob}))


@dataclass(frozen=True)
class LinearModel:
    """``weights`` of all features, block after block; ``sizes`` is how many each block has."""

    weights: Floats
    bias: float
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> LinearModel:
        return cls(np.array(record["weights"]), float(record["bias"]), record["sizes"])

    def likelihood(self, blocks: Mapping[str, Floats]) -> float:
        """The likelihood of what the model tells, 0 to 1, by the features of each block."""
        features = np.concatenate([blocks[name] for name in self.sizes])
        return 1 / (1 + math.exp(-self.bias - float(features @ self.weights)))


@dataclass(frozen=True)
class FaceGeometry:
    """``vertices`` 468x3 in centimetres: x to the subject's left, y up, z towards the camera.

    ``weights`` 468: how much each vertex counts in a fit; most are zero, because only points
    that expressions hardly move carry weight.
    """

    vertices: Floats
    weights: Floats


STRIDES = (8, 16, 32)
"""YuNet's strides in pixels."""
_HEADS = ("cls", "obj", "bbox", "kps")


def _network(name: str, *outputs: str) -> functools.cached_property[Network]:
    return functools.cached_property(lambda models: models.network(name, *outputs))


def _linear_model(name: str) -> functools.cached_property[LinearModel]:
    return functools.cached_property(lambda models: LinearModel.of(json.loads(models.read(name))))


class Models:
    """The networks that :func:`palprep.vision.analysis.analyse_portrait` needs.

    Every file's sha256 is compared before it is parsed. Raises ToolMissing when a file is missing
    or is not the one that the manifest names.
    """

    detector = _network("detector", *(f"{part}_{step}" for part in _HEADS for step in STRIDES))
    """YuNet: ``cls``, ``obj``, ``bbox`` and ``kps``, each for the strides 8, 16 and 32."""
    landmarks = _network("landmarks", "Identity", "Identity_1")
    """478 points in crop pixels (1x1x1x1434) and the logit that a face is there."""
    blendshapes = _network("blendshapes", "StatefulPartitionedCall:0")
    """52 expression coefficients, 0 to 1."""
    mask = _network("mask", "activation_10")
    """Probability of a person, 256 x 256."""
    age = _network("age", "probabilities")
    """Probabilities of 100 years of age."""
    identity = _network("identity", "fc1")
    """SFace: 128 numbers whose direction names a person."""
    scene = _network("scene", "maps")
    """192 maps of 7 x 7 of a picture of 224 x 224: what it shows, and in which texture."""
    text = _network("text", "sigmoid_0.tmp_0")
    """Probability of text at each pixel, for pictures whose sides are multiples of 32."""
    adult = _linear_model("adult")
    """Tells faces of adults from those of minors."""
    human = _linear_model("human")
    """Tells photographed people from depicted ones."""
    others = _linear_model("others")
    """Tells whether somebody else is seen around a face: the detector misses faces that the border
    cuts, backs of heads, shoulders and arms (research/training/others.py)."""

    def __init__(self) -> None:
        self._manifest = read_manifest("palprep.vision")
        # One for each: networks are loaded at once by those who first need different ones.
        self._loading = {name: threading.Lock() for name in self._manifest}
        self._loaded: dict[str, Network] = {}

    @staticmethod
    @functools.cache
    def shared() -> Models:
        """The models of this process, for callers who bring none."""
        return Models()

    def read(self, name: str) -> bytes:
        """The bytes of one model file, verified. Raises ToolMissing."""
        return self._manifest[name].read()

    @functools.cached_property
    def nudity(self) -> Network | None:
        """open_nsfw: probabilities of harmless and pornographic. None without its extra."""
        there = self._manifest["nudity"].locate().is_file()
        return self.network("nudity", "outputs") if there else None

    @functools.cached_property
    def covering(self) -> Mapping[str, LinearModel]:
        """Tell a bare face from a covered one: of the face as a whole and of its parts."""
        records = json.loads(self.read("covering"))
        return {name: LinearModel.of(record) for name, record in records.items()}

    @functools.cached_property
    def geometry(self) -> FaceGeometry:
        """The canonical face mesh: no network, but it comes with them."""
        mesh = np.load(io.BytesIO(self.read("geometry")), allow_pickle=False)
        return FaceGeometry(*map(np.ascontiguousarray, (mesh[:, :3], mesh[:, 3])))

    def network(self, name: str, *outputs: str) -> Network:
        """The network of that name in the manifest, verified and loaded once."""
        with self._loading[name], resources.as_file(self._manifest[name].locate()) as path:
            if name in self._loaded:
                return self._loaded[name]
            self._manifest[name].read()  # For its SHA-256: ONNX Runtime opens the path itself.
            network = self._loaded[name] = Network(path, outputs)
        # Memory that loading took beside the weights: three times as much for the identity network.
        trim_heap()
        return network
