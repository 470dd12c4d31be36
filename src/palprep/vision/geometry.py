"""The canonical face mesh, and the turn of a head that is fitted to it.

The mesh comes as a protocol buffer (MediaPipe's GeometryPipelineMetadata). Only three of its
fields are needed, which are read here without a protobuf library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from palprep.vision.arrays import Floats


@dataclass(frozen=True)
class FaceGeometry:
    """``vertices`` 468x3 in centimetres: x to the subject's left, y up, z towards the camera.

    ``weights`` 468: how much each vertex counts in a fit; most are zero, because only points
    that expressions hardly move carry weight.
    """

    vertices: Floats
    weights: Floats


def read_geometry(data: bytes) -> FaceGeometry:
    """Parse GeometryPipelineMetadata: the mesh is field 1 (vertex floats x, y, z, u, v in its
    field 3), the basis of the fit field 2 (landmark in its field 1, weight in its field 2).
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
