"""ONNX graphs: what they take and give, and the form in which a session gets them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper, shape_inference
from onnx.external_data_helper import load_external_data_for_model

# What protobuf can hold in one message.
LARGEST_BYTES = 2**31 - 1
# Two names for one: the operators of the ONNX standard.
ONNX_DOMAINS = ("", "ai.onnx")
# Tensors above this hold weights; shapes and axes are smaller.
_SMALL_ELEMENTS = 1024


def model_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The inputs that a caller must give: old files list their weights among them."""
    weights = {i.name for i in model.graph.initializer}
    weights |= {i.values.name for i in model.graph.sparse_initializer}
    return [i for i in model.graph.input if i.name not in weights]


def drop_weights(model: onnx.ModelProto) -> None:
    """Empty the large tensors, which say nothing about names, types and shapes."""
    for tensor in model.graph.initializer:
        if math.prod(tensor.dims) > _SMALL_ELEMENTS:
            for field in ("raw_data", "float_data", "double_data", "int32_data", "int64_data"):
                tensor.ClearField(field)


def external_files(model: onnx.ModelProto, file: Path) -> list[Path]:
    """Files beside `file` that hold its weights, in the order of their names."""
    locations = {
        entry.value
        for tensor in _tensors(model.graph)
        if tensor.data_location == TensorProto.EXTERNAL
        for entry in tensor.external_data
        if entry.key == "location"
    }
    return [file.parent / location for location in sorted(locations)]


def sha256_of(files: Iterable[Path]) -> str:
    """Hex digest of the files' bytes, one after another; raises OSError."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def digest(file: Path) -> str:
    """SHA-256 of a model as deployed: its file, then the files that hold its weights."""
    model = onnx.load(file, format="protobuf", load_external_data=False)
    return sha256_of([file, *external_files(model, file)])


def infer_output_shape(
    model: onnx.ModelProto, input_name: str, input_shape: Sequence[int], output_name: str
) -> tuple[int | None, ...] | None:
    """Shape of an output for a given shape of the input, as far as ONNX can tell."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    _fix_input(fixed, input_name, input_shape)
    for output in fixed.graph.output:
        output.type.tensor_type.ClearField("shape")
    try:
        inferred = shape_inference.infer_shapes(fixed, data_prop=True)
    except Exception:  # a hint for an early message, no more; the runtime judges later
        return None
    for output in inferred.graph.output:
        if output.name == output_name and output.type.tensor_type.HasField("shape"):
            dims = output.type.tensor_type.shape.dim
            return tuple(d.dim_value if d.HasField("dim_value") else None for d in dims)
    return None


def labelling_model(
    file: Path, input_name: str, input_shape: Sequence[int], output_name: str, logits: bool
) -> onnx.ModelProto:
    """The model in `file`, whole and with its input's shape fixed, whose only output is labels.

    Weights in other files are taken in; logits get an ArgMax over the class axis; whatever only
    served other outputs is left out. The graph gets a short name, because compiled models are
    saved under it.
    """
    model = onnx.load(file, format="protobuf", load_external_data=False)
    load_external_data_for_model(model, str(file.parent))
    if logits:
        output_name = _append_argmax(model, output_name)
    kept = [o for o in model.graph.output if o.name == output_name]
    del model.graph.output[:]
    model.graph.output.extend(kept)
    _drop_unused(model.graph)
    _fix_input(model, input_name, input_shape)
    model.graph.name = "tiler"
    return model


def _append_argmax(model: onnx.ModelProto, logits: str) -> str:
    """Add labels, int64 [batch, height, width], to the outputs; returns their name."""
    graph = model.graph
    taken = {name for node in graph.node for name in node.output}
    names = (f"tiler_{what}" for what in ("labels", "logits"))
    labels, as_float = (n if n not in taken else f"{n}_of_{logits}" for n in names)
    (info,) = (o for o in graph.output if o.name == logits)
    source = logits
    if info.type.tensor_type.elem_type != TensorProto.FLOAT:
        # The CPU provider, which the device is compared with, has no ArgMax of float16.
        graph.node.append(helper.make_node("Cast", [logits], [as_float], to=TensorProto.FLOAT))
        source = as_float
    graph.node.append(helper.make_node("ArgMax", [source], [labels], axis=1, keepdims=0))
    shape = ["batch", "height", "width"]
    graph.output.append(helper.make_tensor_value_info(labels, TensorProto.INT64, shape))
    return labels


def _drop_unused(graph: onnx.GraphProto) -> None:
    needed = {o.name for o in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(_read_by(node))
    del graph.node[:]
    graph.node.extend(reversed(kept))
    unused = {i.name for i in graph.initializer} - needed
    for field in (graph.initializer, graph.input):
        for position in reversed(range(len(field))):
            if field[position].name in unused:
                del field[position]


def _read_by(node: onnx.NodeProto) -> Iterator[str]:
    """All names that a node reads, those of the graphs inside it included."""
    yield from node.input
    for graph in _subgraphs(node):
        for inner in graph.node:
            yield from _read_by(inner)
        yield from (o.name for o in graph.output)


def _subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _tensors(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    """All tensors that a graph holds, those in nodes and inner graphs included."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for inner in _subgraphs(node):
            yield from _tensors(inner)


def _fix_input(model: onnx.ModelProto, input_name: str, shape: Sequence[int]) -> None:
    """Give the input its shape, and forget what the exporter wrote down of shapes after it."""
    graph = model.graph
    for info in graph.input:
        if info.name == input_name:
            dtype = info.type.tensor_type.elem_type
            info.CopyFrom(helper.make_tensor_value_info(input_name, dtype, list(shape)))
    # Types after operators of other domains can't be inferred again.
    foreign = {o for node in graph.node if node.domain not in ONNX_DOMAINS for o in node.output}
    kept = [info for info in graph.value_info if info.name in foreign]
    del graph.value_info[:]
    graph.value_info.extend(kept)
