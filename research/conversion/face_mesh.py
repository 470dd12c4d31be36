"""MediaPipe's canonical face mesh as an array, for palprep to load without a protobuf library."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

import numpy as np


def convert_mesh(data: bytes) -> bytes:
    """A .npy file of 468 rows, x, y, z and weight, from a GeometryPipelineMetadata.

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
    mesh = np.zeros((len(numbers) // 5, 4), np.float32)
    mesh[:, :3] = np.array(numbers, np.float32).reshape(-1, 5)[:, :3]
    for index, weight in weights.items():
        mesh[index, 3] = weight
    file = io.BytesIO()
    np.save(file, mesh)
    return file.getvalue()


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
