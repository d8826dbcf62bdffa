"""Small ONNX models for tests, and the same rules in NumPy over whole scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Dim = int | str
KERNEL_PX = 31


def save(graph: onnx.GraphProto, path: Path) -> Path:
    """Write a graph as an opset 13 model."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def thresholds_model(path: Path, bands: int, size: Dim, thresholds: list[float]) -> Path:
    """Pixelwise: the sum over bands of 2**band where the band is above its threshold."""
    initializers: list[onnx.TensorProto] = []
    weights = np.array([2.0**i for i in range(bands)], np.float32).reshape(1, bands, 1, 1)
    levels = np.array(thresholds, np.float32).reshape(1, bands, 1, 1)
    initializers += [numpy_helper.from_array(weights, "weights")]
    initializers += [numpy_helper.from_array(levels, "levels")]
    initializers += [numpy_helper.from_array(np.array([1], np.int64), "band_axis")]
    nodes = [
        helper.make_node("Greater", ["input", "levels"], ["above"]),
        helper.make_node("Cast", ["above"], ["ones"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["ones", "weights"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "band_axis"], ["sum"], keepdims=1),
        helper.make_node("Cast", ["sum"], ["labels"], to=TensorProto.INT64),
    ]
    return save(_graph(nodes, bands, size, initializers), path)


def thresholds_labels(bands: NDArray[np.generic], thresholds: list[float]) -> NDArray[np.int64]:
    """The rule of `thresholds_model` over a whole scene ([band, height, width])."""
    values = bands.astype(np.float32)
    above = [values[i] > np.float32(level) for i, level in enumerate(thresholds)]
    return np.sum([2**i * a for i, a in enumerate(above)], axis=0)


def context_model(path: Path, size: Dim, logits: bool = False) -> Path:
    """Convolutional, receptive field 31: labels depend on 15 pixels on every side.

    Weights are whole numbers, and so small that float32 sums are exact in any order: labels
    can be compared without a tolerance.
    """
    rng = np.random.default_rng(31)
    down = rng.integers(-1, 2, (4, 1, KERNEL_PX, 1)).astype(np.float32)
    across = rng.integers(-1, 2, (4, 1, 1, KERNEL_PX)).astype(np.float32)
    mix = rng.integers(-2, 3, (8, 4, 1, 1)).astype(np.float32)
    initializers = [
        numpy_helper.from_array(array, name)
        for name, array in (("down", down), ("across", across), ("mix", mix))
    ]
    nodes = [
        helper.make_node("Conv", ["input", "down"], ["a"], group=4, pads=[15, 0, 15, 0]),
        helper.make_node("Conv", ["a", "across"], ["b"], group=4, pads=[0, 15, 0, 15]),
        helper.make_node("Conv", ["b", "mix"], ["logits"]),
    ]
    if logits:
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 8, size, size])
        return save(_graph(nodes, 4, size, initializers, output), path)
    nodes.append(helper.make_node("ArgMax", ["logits"], ["labels"], axis=1, keepdims=1))
    return save(_graph(nodes, 4, size, initializers), path)


def _graph(
    nodes: list[onnx.NodeProto],
    bands: int,
    size: Dim,
    initializers: list[onnx.TensorProto],
    output: Any = None,
) -> onnx.GraphProto:
    height, width = (size, size) if isinstance(size, int) else ("height", "width")
    values = helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, bands, height, width])
    labels = helper.make_tensor_value_info("labels", TensorProto.INT64, [1, 1, height, width])
    return helper.make_graph(nodes, "test", [values], [output or labels], initializers)
