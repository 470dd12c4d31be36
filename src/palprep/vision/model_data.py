"""What comes with the networks as data: linear models, and the canonical face mesh."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from palprep.vision.arrays import Floats


@dataclass(frozen=True)
class LinearModel:
    """``weights`` of all features, block after block; ``sizes`` is the features a block."""

    weights: Floats
    bias: float
    sizes: Mapping[str, int]

    def shares(self, blocks: Mapping[str, Floats]) -> dict[str, float]:
        """What each block adds to the logit."""
        ends = np.cumsum(list(self.sizes.values()))[:-1]
        parts = zip(self.sizes, np.split(self.weights, ends), strict=True)
        return {name: float(blocks[name] @ weights) for name, weights in parts}


def read_linear_model(data: bytes) -> LinearModel:
    """Parse the JSON record of one model."""
    return _linear_model(json.loads(data))


def read_linear_models(data: bytes) -> Mapping[str, LinearModel]:
    """Parse the JSON records of several models by name."""
    return {name: _linear_model(record) for name, record in json.loads(data).items()}


def _linear_model(record: Mapping[str, Any]) -> LinearModel:
    return LinearModel(np.array(record["weights"]), float(record["bias"]), record["sizes"])


@dataclass(frozen=True)
class FaceGeometry:
    """``vertices`` 468x3 in centimetres: x to the subject's left, y up, z towards the camera.

    ``weights`` 468: how much each vertex counts in a fit; most are zero, because only points
    that expressions hardly move carry weight.
    """

    vertices: Floats
    weights: Floats


def read_geometry(data: bytes) -> FaceGeometry:
    """Parse MediaPipe's GeometryPipelineMetadata, a protocol buffer, without a protobuf library.

    The mesh is field 1 (vertex floats x, y, z, u, v in its field 3), the basis of the fit field 2
    (landmark in its field 1, weight in its field 2).
    """
    numbers: list[float] = []
    weights: dict[int, float] = {}
    for field, value in _fields(data):
        if field == 1 and isinstance(value, bytes):
            for inner, number in _fields(value):
                if inner == 3 and isinstance(number, float):
                    numbers.append(number)
        elif field == 2 and isinstance(value, bytes):
            entry = dict(_fields(value))
            weights[int(entry.get(1, 0))] = float(entry[2])
    vertices = np.array(numbers, np.float32).reshape(-1, 5)[:, :3]
    full = np.zeros(len(vertices), np.float32)
    for index, weight in weights.items():
        full[index] = weight
    return FaceGeometry(vertices, full)


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        field, wire = key >> 3, key & 7
        if wire == 0:
            number, position = _varint(data, position)
            yield field, number
        elif wire == 5:
            yield field, struct.unpack_from("<f", data, position)[0]
            position += 4
        elif wire == 2:
            length, position = _varint(data, position)
            yield field, data[position : position + length]
            position += length
        else:
            raise ValueError(f"wire type {wire} does not occur in the face geometry")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
