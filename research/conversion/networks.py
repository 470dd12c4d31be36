# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "onnx", "tflite"]
# ///
"""What palprep changes of published networks, so that ONNX Runtime runs them, and fast.

TensorFlow Lite becomes ONNX (convert_tflite.py). Of OpenCV Zoo's networks, whose weights are
8-bit numbers with a factor for each block of them, those become numbers of 32 bits that are one
block, since ONNX Runtime refuses them. Weights are no longer declared as inputs, which it would
take for numbers that change with every run. Weights too small to change any result become zero.
The expression network chooses its points itself. Kernels of the text detector are rounded to 8
bits, each filter with a scale of its own; no other network's weights are rounded anew.
fetch_weights.py calls this for each file that the manifest marks as converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from research.conversion.face_mesh import convert_mesh
from research.conversion.tflite import Array, convert_tflite, leaky

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "landmarks": ("Identity", "Identity_1"),
    "blendshapes": ("StatefulPartitionedCall:0",),
    "mask": ("activation_10",),
}
"""What is kept of the networks in TensorFlow Lite."""

# fmt: off
SHAPE_POINTS = (
    0, 1, 4, 5, 6, 7, 8, 10, 13, 14, 17, 21, 33, 37, 39, 40, 46, 52, 53, 54, 55, 58, 61, 63, 65,
    66, 67, 70, 78, 80, 81, 82, 84, 87, 88, 91, 93, 95, 103, 105, 107, 109, 127, 132, 133, 136,
    144, 145, 146, 148, 149, 150, 152, 153, 154, 155, 157, 158, 159, 160, 161, 162, 163, 168,
    172, 173, 176, 178, 181, 185, 191, 195, 197, 234, 246, 249, 251, 263, 267, 269, 270, 276,
    282, 283, 284, 285, 288, 291, 293, 295, 296, 297, 300, 308, 310, 311, 312, 314, 317, 318,
    321, 323, 324, 332, 334, 336, 338, 356, 361, 362, 365, 373, 374, 375, 377, 378, 379, 380,
    381, 382, 384, 385, 386, 387, 388, 389, 390, 397, 398, 400, 402, 405, 409, 415, 454, 466,
    468, 469, 470, 471, 472, 473, 474, 475, 476, 477,
)
"""The points that the blendshape net reads (MediaPipe, face_blendshapes_graph)."""

# fmt: on

TRACE = 1e-20
"""Next to the other weights of a network, at least 1e-4, that is nothing in single precision."""


def convert(name: str, data: bytes) -> bytes:
    """The network that the manifest calls ``name``, or the face mesh, from the published file."""
    if name == "geometry":
        return convert_mesh(data)
    if name == "text":
        model = convert_text(data)
    else:
        model = convert_tflite(data, OUTPUTS[name]) if name in OUTPUTS else convert_onnx(data)
    if name == "blendshapes":
        choose_points(model.graph)
    drop_traces(model)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def drop_traces(model: onnx.ModelProto) -> None:
    """Make zero of weights below :data:`TRACE`. Training leaves them in filters that see nothing;
    they and their products are numbers that processors need a hundred times longer for.
    """
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            value = numpy_helper.to_array(tensor)
            kept = np.where(np.abs(value) < TRACE, np.float32(0), value)
            tensor.CopyFrom(numpy_helper.from_array(kept, tensor.name))


def choose_points(graph: onnx.GraphProto) -> None:
    """Let the network take all points of a face, 478 x 3, instead of 1 x 146 x 2 of them."""
    (taken,) = graph.input
    chosen = {"rows": SHAPE_POINTS, "columns": (0, 1), "outer": (0,)}
    graph.initializer.extend(
        numpy_helper.from_array(np.array(value, np.int64), name) for name, value in chosen.items()
    )
    steps = (
        helper.make_node("Gather", ["points", "rows"], ["chosen"], axis=0),
        helper.make_node("Gather", ["chosen", "columns"], ["flat"], axis=1),
        helper.make_node("Unsqueeze", ["flat", "outer"], [taken.name]),
    )
    for at, node in enumerate(steps):
        graph.node.insert(at, node)
    del graph.input[:]
    graph.input.append(helper.make_tensor_value_info("points", TensorProto.FLOAT, (478, 3)))


def convert_onnx(data: bytes) -> onnx.ModelProto:
    """A network in ONNX, for pictures of any size that it can take."""
    model = onnx.load_from_string(data)
    graph = model.graph
    stored = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    nodes: list[onnx.NodeProto] = []

    def constant(name: str, value: Array) -> str:
        stored[name] = value
        return name

    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            nodes += dequantised(node, stored)
        elif node.op_type == "PRelu":
            slope = stored[node.input[1]].reshape(-1)
            nodes += leaky(node.input[0], slope, node.output[0], constant)
        else:
            nodes.append(node)
    taken = {name for node in nodes for name in node.input}
    inputs = [each for each in graph.input if each.name in taken - stored.keys()]
    if any(node.op_type == "Resize" for node in nodes):
        free_sides(inputs, graph.output)
    del graph.node[:], graph.initializer[:], graph.input[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.input.extend(inputs)
    graph.initializer.extend(
        numpy_helper.from_array(value, name) for name, value in stored.items() if name in taken
    )
    return model


def convert_text(data: bytes) -> onnx.ModelProto:
    """PaddleOCR's text detector: constants are stored as such, and kernels as 8-bit numbers."""
    model = onnx.load_from_string(data)
    graph = model.graph
    nodes = []
    for node in graph.node:
        if node.op_type == "Constant":
            (value,) = (part.t for part in node.attribute)
            kernel = numpy_helper.to_array(value)
            if kernel.ndim == 4:
                nodes.append(round_filters(node.output[0], kernel, graph))
            else:
                graph.initializer.append(numpy_helper.from_array(kernel, node.output[0]))
        else:
            nodes.append(node)
    del graph.node[:], graph.value_info[:], model.opset_import[:]
    graph.node.extend(nodes)
    # The first whose DequantizeLinear takes a scale for each filter.
    model.opset_import.append(helper.make_opsetid("", 13))
    return model


def round_filters(name: str, kernel: Array, graph: onnx.GraphProto) -> onnx.NodeProto:
    """The node that gives ``kernel`` again, but for its rounding to 127 steps for each filter."""
    scales = np.maximum(np.abs(kernel).reshape(len(kernel), -1).max(axis=1), 1e-12) / 127
    whole = np.round(kernel / scales[:, None, None, None]).astype(np.int8)
    stored = {f"{name}.bytes": whole, f"{name}.scales": scales.astype(np.float32)}
    graph.initializer.extend(numpy_helper.from_array(value, key) for key, value in stored.items())
    return helper.make_node("DequantizeLinear", [*stored], [name], axis=0)


def dequantised(node: onnx.NodeProto, stored: dict[str, Array]) -> list[onnx.NodeProto]:
    """The node that multiplies 8-bit weights by the factor of their block; none for weights of
    one factor or one dimension, which become what they stand for.
    """
    weights, factors, zeros = (stored[name] for name in node.input)
    if weights.ndim > 1 and factors.size > 1:
        return [node]
    (block,) = (part.i for part in node.attribute if part.name == "block_size")
    zero, factor = (
        np.repeat(part.astype(np.float32), block, -1)[..., : weights.shape[-1]]
        for part in (zeros, factors)
    )
    stored[node.output[0]] = (weights.astype(np.float32) - zero) * factor
    return []


def free_sides(
    inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[onnx.ValueInfoProto]
) -> None:
    """Let a picture have any height and width."""
    for entry in inputs:
        for axis, name in ((2, "height"), (3, "width")):
            entry.type.tensor_type.shape.dim[axis].dim_param = name
    for output in outputs:
        output.type.tensor_type.shape.dim[1].dim_param = f"{output.name}_cells"
