"""The face mesh out of MediaPipe's protocol buffer."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

from research.conversion.face_mesh import convert_mesh


def test_vertices_and_weights_become_rows() -> None:
    numbers = [1.0, 2.0, 3.0, 0.5, 0.5, 4.0, 5.0, 6.0, 0.5, 0.5]
    mesh = b"".join(b"\x1d" + struct.pack("<f", number) for number in numbers)
    basis = b"\x08\x01\x15" + struct.pack("<f", 0.25)
    data = b"\x0a" + bytes([len(mesh)]) + mesh + b"\x12" + bytes([len(basis)]) + basis
    rows = np.load(io.BytesIO(convert_mesh(data)))
    assert rows.tolist() == [[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 0.25]]


def test_an_unknown_wire_type_is_refused() -> None:
    with pytest.raises(ValueError, match="wire type 1"):
        convert_mesh(b"\x09" + bytes(8))
