"""Write a TensorFlow Lite network as ONNX, as far as MediaPipe's networks need it.

Weights stay as they are, float16 mostly. Images have their channels first in ONNX, (1, channels,
height, width), and last in TensorFlow; every other tensor keeps its axes. What leads to none of
the outputs is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import tflite
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[Any]

OPSET = 17
TRANSPOSED_CONVOLUTION = "Convolution2DTransposeBias"
"""MediaPipe's own operation."""

CHANNELS_FIRST = (0, 3, 1, 2)
"""From batch, height, width, channels."""

PLACES = {place: index for index, place in enumerate(CHANNELS_FIRST)}
"""Where each axis of an image goes."""

ELEMENTWISE = {
    "ADD": "Add",
    "SUB": "Sub",
    "MUL": "Mul",
    "DIV": "Div",
    "NEG": "Neg",
    "SQRT": "Sqrt",
    "RELU": "Relu",
    "LOGISTIC": "Sigmoid",
    "HARD_SWISH": "HardSwish",
}
REDUCTIONS = {"MEAN": "ReduceMean", "SUM": "ReduceSum"}
ACTIVATIONS = {0: None, 1: "Relu"}
"""What TensorFlow Lite computes with another operation, by its number."""

NAMES = {number: name for name, number in vars(tflite.BuiltinOperator).items()}


def convert_tflite(data: bytes, outputs: Sequence[str]) -> onnx.ModelProto:
    """The network up to these outputs."""
    return Converter(data).convert(outputs)


class Converter:
    """Collects the nodes of the ONNX graph while it walks over the operations."""

    def __init__(self, data: bytes) -> None:
        self.model = tflite.Model.GetRootAsModel(data, 0)
        self.graph = self.model.Subgraphs(0)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        # A network that takes an image works on images throughout.
        self.images = len(self.shape(self.graph.Inputs(0))) == 4
        self.kinds: Mapping[str, Callable[[Any, str, str], None]] = {
            "CONV_2D": self.convolve,
            "DEPTHWISE_CONV_2D": self.convolve,
            "MAX_POOL_2D": self.pool,
            "AVERAGE_POOL_2D": self.pool,
            "PRELU": self.prelu,
            "PAD": self.pad,
            "RESIZE_BILINEAR": self.resize,
            "RESHAPE": self.reshape,
            "TRANSPOSE": self.transpose,
            "STRIDED_SLICE": self.cut,
            "CONCATENATION": self.join,
            "SQUARED_DIFFERENCE": self.squared_difference,
            "RSQRT": self.inverse_root,
            TRANSPOSED_CONVOLUTION: self.enlarge,
            **dict.fromkeys(ELEMENTWISE, self.elementwise),
            **dict.fromkeys(REDUCTIONS, self.reduce),
        }

    def convert(self, outputs: Sequence[str]) -> onnx.ModelProto:
        """The network up to these outputs."""
        for index in range(self.graph.OperatorsLength()):
            operator = self.graph.Operators(index)
            kind = self.kind(operator)
            if kind == "DEQUANTIZE":
                continue  # of constants, see self.constant
            self.kinds[kind](operator, kind, self.name(operator.Outputs(0)))
        entry = self.graph.Inputs(0)
        wanted = set(outputs)
        nodes: list[onnx.NodeProto] = []
        for node in reversed(self.nodes):
            if wanted & set(node.output):
                wanted |= set(node.input)
                nodes.insert(0, node)
        graph = helper.make_graph(
            nodes,
            "network",
            [self.described(entry)],
            [self.described(self.graph.Outputs(at)) for at in self.output_places(outputs)],
            [constant for name, constant in self.constants.items() if name in wanted],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        return model

    def output_places(self, outputs: Sequence[str]) -> list[int]:
        count = self.graph.OutputsLength()
        named = {self.name(self.graph.Outputs(at)): at for at in range(count)}
        return [named[name] for name in outputs]

    def kind(self, operator: Any) -> str:
        code = self.model.OperatorCodes(operator.OpcodeIndex())
        name = NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
        return str(code.CustomCode().decode()) if name == "CUSTOM" else str(name)

    def name(self, index: int) -> str:
        return str(self.graph.Tensors(index).Name().decode())

    def shape(self, index: int) -> list[int]:
        tensor = self.graph.Tensors(index)
        return [int(tensor.Shape(axis)) for axis in range(tensor.ShapeLength())]

    def described(self, index: int) -> onnx.ValueInfoProto:
        shape = self.shape(index)
        if self.images and len(shape) == 4:
            shape = [shape[axis] for axis in CHANNELS_FIRST]
        return helper.make_tensor_value_info(self.name(index), TensorProto.FLOAT, shape)

    def value(self, index: int) -> Array | None:
        """A constant as stored, None for what is computed."""
        for at in range(self.graph.OperatorsLength()):
            operator = self.graph.Operators(at)
            if operator.Outputs(0) == index and self.kind(operator) == "DEQUANTIZE":
                return self.value(operator.Inputs(0))
        tensor = self.graph.Tensors(index)
        buffer = self.model.Buffers(tensor.Buffer())
        if not buffer.DataLength():
            return None
        kinds = {0: np.float32, 1: np.float16, 2: np.int32}
        stored = np.frombuffer(buffer.DataAsNumpy().tobytes(), kinds[tensor.Type()])
        return stored.reshape(self.shape(index))

    def whole_numbers(self, index: int) -> list[int]:
        """A constant list of whole numbers."""
        value = self.value(index)
        if value is None:
            raise SystemExit(f"{self.name(index)} is no constant")
        return [int(number) for number in value.reshape(-1)]

    def constant(self, name: str, value: Array) -> str:
        if value.dtype != np.float16:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
            return name
        half = f"{name}.half"
        if half not in self.constants:
            self.constants[half] = numpy_helper.from_array(np.ascontiguousarray(value), half)
            self.node("Cast", [half], name, to=TensorProto.FLOAT)
        return name

    def node(self, kind: str, inputs: Sequence[str], out: str, **options: object) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **options))
        return out

    def operand(self, index: int) -> str:
        """The name of what an operation takes, a constant with its axes as in ONNX."""
        value = self.value(index)
        if value is None:
            return self.name(index)
        if self.images and value.ndim == 4:
            value = value.transpose(CHANNELS_FIRST)
        elif self.images and value.ndim == 1 and len(value) > 1:
            value = value[:, None, None]
        return self.constant(self.name(index), value)

    def options(self, operator: Any, kind: type[Any]) -> Any:
        found = kind()
        table = operator.BuiltinOptions()
        found.Init(table.Bytes, table.Pos)
        return found

    def activated(self, out: str, activation: int) -> str:
        """Where to put a result so that ``out`` is it, activated."""
        kind = ACTIVATIONS[activation]
        return out if kind is None else f"{out}.before"

    def activate(self, out: str, activation: int) -> None:
        kind = ACTIVATIONS[activation]
        if kind is not None:
            self.node(kind, [f"{out}.before"], out)

    def elementwise(self, operator: Any, kind: str, out: str) -> None:
        described = {"ADD": tflite.AddOptions, "SUB": tflite.SubOptions, "MUL": tflite.MulOptions}
        options = described.get(kind) or (tflite.DivOptions if kind == "DIV" else None)
        fused = self.options(operator, options).FusedActivationFunction() if options else 0
        inputs = [self.operand(index) for index in operator.InputsAsNumpy()]
        self.node(ELEMENTWISE[kind], inputs, self.activated(out, fused))
        self.activate(out, fused)

    def convolve(self, operator: Any, kind: str, out: str) -> None:
        depthwise = kind == "DEPTHWISE_CONV_2D"
        kind_of_options = tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions
        options = self.options(operator, kind_of_options)
        taken, kernel_at, bias_at = (int(index) for index in operator.InputsAsNumpy())
        kernel, bias = self.value(kernel_at), self.value(bias_at)
        if kernel is None or bias is None:
            raise SystemExit(f"{out}: a convolution without a constant kernel")
        fused = options.FusedActivationFunction()
        place = self.activated(out, fused)
        bias_name = self.constant(self.name(bias_at), bias)
        if not self.images:
            self.multiply(self.name(taken), kernel, bias_name, place)
        else:
            strides = options.StrideH(), options.StrideW()
            turned = kernel.transpose((3, 0, 1, 2) if depthwise else CHANNELS_FIRST)
            self.node(
                "Conv",
                [
                    self.name(taken),
                    self.constant(self.name(kernel_at), turned),
                    bias_name,
                ],
                place,
                group=len(turned) if depthwise else 1,
                strides=strides,
                kernel_shape=turned.shape[2:],
                pads=self.padding(options.Padding(), taken, turned.shape[2:], strides),
            )
        self.activate(out, fused)

    def multiply(self, taken: str, kernel: Array, bias: str, out: str) -> None:
        """A convolution of one pixel over the last axis is a product of matrices."""
        if kernel.shape[1:3] != (1, 1):
            raise SystemExit(f"{out}: only kernels of one pixel are known where no image is taken")
        weights = self.constant(f"{out}.weights", kernel[:, 0, 0].T)
        product = self.node("MatMul", [taken, weights], f"{out}.product")
        self.node("Add", [product, bias], out)

    def padding(
        self, scheme: int, taken: int, kernel: Sequence[int], strides: Sequence[int]
    ) -> list[int]:
        """Rows and columns before, then after: TensorFlow's SAME puts the odd one after."""
        if scheme == tflite.Padding.VALID:
            return [0, 0, 0, 0]
        before, after = [], []
        for side, width, stride in zip(self.shape(taken)[1:3], kernel, strides, strict=True):
            missing = max(0, (-(-side // stride) - 1) * stride + width - side)
            before.append(missing // 2)
            after.append(missing - missing // 2)
        return [*before, *after]

    def pool(self, operator: Any, kind: str, out: str) -> None:
        options = self.options(operator, tflite.Pool2DOptions)
        taken = operator.Inputs(0)
        kernel = options.FilterHeight(), options.FilterWidth()
        strides = options.StrideH(), options.StrideW()
        self.node(
            "MaxPool" if kind == "MAX_POOL_2D" else "AveragePool",
            [self.name(taken)],
            out,
            kernel_shape=kernel,
            strides=strides,
            pads=self.padding(options.Padding(), taken, kernel, strides),
        )

    def prelu(self, operator: Any, _: str, out: str) -> None:
        taken, slope_at = operator.InputsAsNumpy()
        slope = self.value(slope_at)
        if slope is None or slope.shape[:2] != (1, 1):
            raise SystemExit(f"{out}: one slope for each channel was expected")
        self.nodes += leaky(
            self.name(taken), np.asarray(slope, np.float32).reshape(-1), out, self.constant
        )

    def pad(self, operator: Any, _: str, out: str) -> None:
        taken, amounts_at = operator.InputsAsNumpy()
        amounts = np.array(self.whole_numbers(amounts_at), np.int64).reshape(-1, 2)
        turned = amounts[list(CHANNELS_FIRST)].T.reshape(-1)
        self.node("Pad", [self.name(taken), self.constant(f"{out}.amounts", turned)], out)

    def resize(self, operator: Any, _: str, out: str) -> None:
        options = self.options(operator, tflite.ResizeBilinearOptions)
        taken = operator.Inputs(0)
        after = [self.shape(operator.Outputs(0))[axis] for axis in CHANNELS_FIRST]
        mode = "half_pixel" if options.HalfPixelCenters() else "asymmetric"
        self.node(
            "Resize",
            [self.name(taken), "", "", self.constant(f"{out}.size", np.array(after, np.int64))],
            out,
            mode="linear",
            coordinate_transformation_mode="align_corners" if options.AlignCorners() else mode,
        )

    def enlarge(self, operator: Any, _: str, out: str) -> None:
        """A transposed convolution, with padding, width and height of its stride as its options."""
        taken, kernel_at, bias_at = (int(index) for index in operator.InputsAsNumpy())
        kernel, bias = self.value(kernel_at), self.value(bias_at)
        _, across, down = struct.unpack("<3i", operator.CustomOptionsAsNumpy().tobytes()[:12])
        if kernel is None or bias is None or kernel.shape[1:3] != (down, across):
            raise SystemExit(f"{out}: only kernels as large as their stride are known")
        self.node(
            "ConvTranspose",
            [
                self.name(taken),
                self.constant(self.name(kernel_at), kernel.transpose(3, 0, 1, 2)),
                self.constant(self.name(bias_at), bias),
            ],
            out,
            strides=[down, across],
        )

    def reshape(self, operator: Any, _: str, out: str) -> None:
        shape = np.array(self.shape(operator.Outputs(0)), np.int64)
        taken = self.name(operator.Inputs(0))
        self.node("Reshape", [taken, self.constant(f"{out}.shape", shape)], out)

    def transpose(self, operator: Any, _: str, out: str) -> None:
        taken, order = operator.InputsAsNumpy()
        self.node("Transpose", [self.name(taken)], out, perm=self.whole_numbers(order))

    def reduce(self, operator: Any, kind: str, out: str) -> None:
        keep = self.options(operator, tflite.ReducerOptions).KeepDims()
        axes = np.array(self.whole_numbers(operator.Inputs(1)), np.int64)
        taken = self.name(operator.Inputs(0))
        if kind == "SUM":
            name = self.constant(f"{out}.axes", axes)
            self.node(REDUCTIONS[kind], [taken, name], out, keepdims=int(keep))
        else:
            self.node(REDUCTIONS[kind], [taken], out, axes=axes.tolist(), keepdims=int(keep))

    def cut(self, operator: Any, _: str, out: str) -> None:
        taken, *bounds = (int(index) for index in operator.InputsAsNumpy())
        options = self.options(operator, tflite.StridedSliceOptions)
        begin, end, step = (self.whole_numbers(index) for index in bounds)
        for axis in range(len(begin)):
            if options.BeginMask() >> axis & 1:
                begin[axis] = 0
            if options.EndMask() >> axis & 1:
                end[axis] = self.shape(taken)[axis]
        places = [begin, end, list(range(len(begin))), step]
        names = [
            self.constant(f"{out}.{number}", np.array(place, np.int64))
            for number, place in enumerate(places)
        ]
        gone = [axis for axis in range(len(begin)) if options.ShrinkAxisMask() >> axis & 1]
        place = f"{out}.kept" if gone else out
        self.node("Slice", [self.name(taken), *names], place)
        if gone:
            axes = self.constant(f"{out}.gone", np.array(gone, np.int64))
            self.node("Squeeze", [place, axes], out)

    def join(self, operator: Any, _: str, out: str) -> None:
        axis = self.options(operator, tflite.ConcatenationOptions).Axis()
        inputs = [self.operand(index) for index in operator.InputsAsNumpy()]
        self.node("Concat", inputs, out, axis=PLACES[axis] if self.images else axis)

    def squared_difference(self, operator: Any, _: str, out: str) -> None:
        inputs = [self.operand(index) for index in operator.InputsAsNumpy()]
        difference = self.node("Sub", inputs, f"{out}.difference")
        self.node("Mul", [difference, difference], out)

    def inverse_root(self, operator: Any, _: str, out: str) -> None:
        root = self.node("Sqrt", [self.name(operator.Inputs(0))], f"{out}.root")
        self.node("Reciprocal", [root], out)


def leaky(
    taken: str, slope: Array, out: str, constant: Callable[[str, Array], str]
) -> Iterator[onnx.NodeProto]:
    """PRelu as the sum of a line and a ramp: ``slope x + (1 - slope) relu(x)``.

    ONNX Runtime computes both where the convolution left its numbers; its PRelu takes as long as
    all convolutions of the network, and has them brought into another order before and after.
    """
    ramp, line = f"{out}.ramp", f"{out}.line"
    yield helper.make_node("Relu", [taken], [ramp])
    for name, inside, factor in ((line, taken, slope), (f"{ramp}.scaled", ramp, 1 - slope)):
        factors = constant(f"{name}.factors", factor.astype(np.float32).reshape(-1, 1, 1, 1))
        yield helper.make_node(
            "Conv", [inside, factors], [name], group=len(slope), kernel_shape=[1, 1]
        )
    yield helper.make_node("Add", [line, f"{ramp}.scaled"], [out])
