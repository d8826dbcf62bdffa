"""Small models, made to be told apart by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE_PX = 16
CLASSES = 5
BANDS = ("blue", "green", "red", "nir")


def conv_model(
    size: Any = SIZE_PX,
    batch: Any = 1,
    bands: int = len(BANDS),
    classes: int = CLASSES,
    seed: int = 0,
    outputs: Sequence[str] = ("labels",),
    opset: int = 13,
    stride: int = 1,
    keepdims: int = 0,
    dtype: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A 3 x 3 convolution to `logits` [batch, classes, size, size], and their ArgMax, `labels`.

    `size` and `batch` may be names, for open dimensions.
    """
    weights = np.random.default_rng(seed).standard_normal((classes, bands, 3, 3))
    numpy_dtype = helper.tensor_dtype_to_np_dtype(dtype)
    out = size if isinstance(size, str) else size // stride
    label_shape = [batch, 1, out, out] if keepdims else [batch, out, out]
    infos = {
        "logits": helper.make_tensor_value_info("logits", dtype, [batch, classes, out, out]),
        "labels": helper.make_tensor_value_info("labels", TensorProto.INT64, label_shape),
    }
    nodes = [
        helper.make_node(
            "Conv", ["image", "w"], ["logits"], "conv", pads=[1] * 4, strides=[stride] * 2
        )
    ]
    if "labels" in outputs:
        nodes.append(
            helper.make_node("ArgMax", ["logits"], ["labels"], "argmax", axis=1, keepdims=keepdims)
        )
    graph = helper.make_graph(
        nodes,
        "main/graph",
        [helper.make_tensor_value_info("image", dtype, [batch, bands, size, size])],
        [infos[o] for o in outputs],
        [numpy_helper.from_array(weights.astype(numpy_dtype), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model
