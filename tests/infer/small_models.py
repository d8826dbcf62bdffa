"""Small models, made to be told apart by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
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


def random_tiles(count: int, size_px: int = SIZE_PX) -> NDArray[np.float32]:
    """Tiles [count, band, size, size], the same each time."""
    shape = (count, len(BANDS), size_px, size_px)
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def with_nodes_before_argmax(
    model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto]
) -> onnx.ModelProto:
    """`conv_model` with more between its convolution and ArgMax: from `features` to `logits`."""
    conv, *rest = model.graph.node
    conv.output[0] = "features"
    del model.graph.node[:]
    model.graph.node.extend([conv, *nodes, *rest])
    return model


def layer_norm_model() -> onnx.ModelProto:
    """With a LayerNormalization, which came with opset 17."""
    node = helper.make_node(
        "LayerNormalization", ["features", "scale"], ["logits"], "block/norm", axis=-1
    )
    model = with_nodes_before_argmax(conv_model(opset=17), [node])
    scale = np.linspace(0.5, 2, SIZE_PX, dtype=np.float32)
    model.graph.initializer.append(numpy_helper.from_array(scale, "scale"))
    return model


def layer_norm_in_pieces_model() -> onnx.ModelProto:
    """With a layer normalisation as it is exported at opset 13, and a Mod of constants, as
    attention layers bring along."""
    node = helper.make_node
    nodes = [
        node("ReduceMean", ["features"], ["mean"], "mean", axes=[-1]),
        node("Sub", ["features", "mean"], ["centred"], "sub"),
        node("Pow", ["centred", "two"], ["squares"], "pow"),
        node("ReduceMean", ["squares"], ["variance"], "variance", axes=[-1]),
        node("Add", ["variance", "epsilon"], ["safe"], "add"),
        node("Sqrt", ["safe"], ["deviation"], "sqrt"),
        node("Div", ["centred", "deviation"], ["normal"], "div"),
        node("Mod", ["seven", "five"], ["rest"], "mod"),
        node("Cast", ["rest"], ["shift"], "cast", to=TensorProto.FLOAT),
        node("Add", ["normal", "shift"], ["logits"], "shifted"),
    ]
    model = with_nodes_before_argmax(conv_model(), nodes)
    constants: dict[str, Any] = {
        "two": np.float32(2),
        "epsilon": np.float32(1e-5),
        "seven": np.array([7], np.int64),
        "five": np.array([5], np.int64),
    }
    for name, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return model


def foreign_model() -> onnx.ModelProto:
    """With an operator of another domain."""
    gelu = helper.make_node("Gelu", ["features"], ["logits"], "head/gelu", domain="com.microsoft")
    model = with_nodes_before_argmax(conv_model(), [gelu])
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def double_model() -> onnx.ModelProto:
    """With a part in double precision."""
    node = helper.make_node
    nodes = [
        node("Cast", ["features"], ["doubles"], "to_double", to=TensorProto.DOUBLE),
        node("Sin", ["doubles"], ["sines"], "head/sin"),
        node("Cast", ["sines"], ["logits"], "to_float", to=TensorProto.FLOAT),
    ]
    return with_nodes_before_argmax(conv_model(), nodes)
