"""The vision networks: loaded when first needed, checked before use, safe to share.

A :class:`Models` object is passed to whoever looks at pictures; nothing is kept in modules.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from palprep.media.weights import read_manifest
from palprep.vision.arrays import Floats
from palprep.vision.geometry import FaceGeometry, read_geometry
from palprep.vision.linear_model import LinearModel, read_linear_model, read_linear_models

HOME = "palprep.vision"
"""Whose manifest names the files."""


class Network:
    """One network. A net keeps its input as state, so that one thread runs it at a time."""

    def __init__(self, net: Any, outputs: tuple[str, ...]) -> None:
        self._net = net
        self._outputs = outputs
        self._lock = threading.Lock()

    def run(self, blob: Floats, input_name: str = "") -> tuple[Floats, ...]:
        """The outputs for one input, in the order that was asked for at construction."""
        with self._lock:
            self._net.setInput(blob, input_name)
            return tuple(np.asarray(out) for out in self._net.forward(self._outputs))


class Models:
    """The networks that :func:`palprep.vision.analysis.analyse_portrait` needs.

    ``folder`` holds the files of the manifest; None takes those that are installed. Every
    file's sha256 is compared before it is parsed. Raises ToolMissing when a file is missing or
    is not the one that the manifest names.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._manifest = read_manifest(HOME)
        self._lock = threading.RLock()

    def read(self, name: str) -> bytes:
        """The bytes of one model file, verified. Raises ToolMissing."""
        return self._manifest[name].read(self._folder)

    def _locate(self, name: str) -> Traversable:
        return self._manifest[name].locate(self._folder)

    @cached_property
    def detector(self) -> Network:
        """YuNet: ``cls``, ``obj``, ``bbox`` and ``kps``, each for the strides 8, 16 and 32."""
        parts = ("cls", "obj", "bbox", "kps")
        return self._onnx("detector", tuple(f"{part}_{step}" for part in parts for step in STEPS))

    @cached_property
    def landmarks(self) -> Network:
        """478 points in crop pixels (1x1x1x1434) and the logit that a face is there."""
        return self._tflite("landmarks", ("Identity", "Identity_1"))

    @cached_property
    def blendshapes(self) -> Network:
        """52 expression coefficients, 0 to 1."""
        return self._tflite("blendshapes", ("StatefulPartitionedCall:0",))

    @cached_property
    def mask(self) -> Network:
        """Probability of a person, 256 x 256."""
        return self._tflite("mask", ("activation_10",))

    @cached_property
    def adult(self) -> LinearModel:
        """Weights of the linear model that tells faces of adults from those of minors."""
        return read_linear_model(self.read("adult"))

    @cached_property
    def age(self) -> Network:
        """81 probabilities of apparent age."""
        return self._onnx("age", ("probabilities",))

    @cached_property
    def geometry(self) -> FaceGeometry:
        """The canonical face mesh: no network, but it comes with them."""
        return read_geometry(self.read("geometry"))

    @cached_property
    def human(self) -> LinearModel:
        """Weights of the linear model that tells photographed people from depicted ones."""
        return read_linear_model(self.read("human"))

    @cached_property
    def covering(self) -> Mapping[str, LinearModel]:
        """Weights of the linear models that tell a bare face from a covered one: of the face as
        a whole and of its parts."""
        return read_linear_models(self.read("covering"))

    @cached_property
    def others(self) -> LinearModel:
        """Weights of the linear model that tells whether somebody else is seen around a face."""
        return read_linear_model(self.read("others"))

    @cached_property
    def identity(self) -> Network:
        """SFace: 128 numbers whose direction names a person. Its input is called ``data``."""
        return self._onnx("identity", ("fc1",))

    @cached_property
    def scene(self) -> Network:
        """192 maps of 7 x 7 of a picture of 224 x 224: what it shows, and in which texture."""
        return self._onnx("scene", ("maps",))

    @cached_property
    def nudity(self) -> Network | None:
        """open_nsfw: probabilities of harmless and pornographic. None without its extra."""
        return self._onnx("nudity", ("outputs",)) if self._locate("nudity").is_file() else None

    def _onnx(self, name: str, outputs: tuple[str, ...]) -> Network:
        with self._verified(name) as path:
            return Network(cv2.dnn.readNetFromONNX(str(path)), outputs)

    def _tflite(self, name: str, outputs: tuple[str, ...]) -> Network:
        # OpenCV 5's new engine returns the tensors of nets with several outputs in the wrong
        # places; the classic one is right. Only the reader that takes a path heeds the choice:
        # the one that takes a buffer builds the new engine whatever it is told (5.0.0).
        with self._verified(name) as path:
            net = cv2.dnn.readNetFromTFLite(str(path), engine=cv2.dnn.ENGINE_CLASSIC)
            return Network(net, outputs)

    @contextmanager
    def _verified(self, name: str) -> Iterator[Path]:
        """One file at a time for OpenCV to read by its path. From a buffer it copies the whole
        file before it parses it: up to twice the file more at the moment of loading.
        """
        with self._lock, resources.as_file(self._locate(name)) as path:
            self.read(name)
            yield path


STEPS = (8, 16, 32)
"""YuNet's strides in pixels."""
