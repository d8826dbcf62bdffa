"""The form in which a session gets a model: one input of fixed shape, one output, nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import SIZE_PX, conv_model, random_tiles
from tiler.errors import JobError
from tiler.infer.graph import labelling_model
from tiler.infer.model import read_model
from tiler.infer.ort import session_bytes

SHAPE = (1, 4, SIZE_PX, SIZE_PX)


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    onnx.save(model, folder / "given.onnx")
    return folder / "given.onnx"


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def test_open_dimensions_are_fixed(make_onnx: MakeOnnx) -> None:
    file = make_onnx(size="side", batch="batch")
    model = labelling_model(file, "image", (2, 4, 32, 32), "labels", logits=False)
    dims = model.graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_value for d in dims] == [2, 4, 32, 32]
    onnx.checker.check_model(model)


def test_logits_get_an_argmax_and_are_no_output_any_more(make_onnx: MakeOnnx) -> None:
    file = make_onnx(outputs=("logits",))
    model = labelling_model(file, "image", SHAPE, "logits", logits=True)
    assert operators(model) == ["Conv", "ArgMax"]
    (output,) = model.graph.output
    assert output.type.tensor_type.elem_type == TensorProto.INT64
    onnx.checker.check_model(model)


def test_names_that_the_model_uses_itself_are_not_taken(tmp_path: Path) -> None:
    model = conv_model(outputs=("logits",))
    model.graph.node[0].output[0] = "tiler_labels"
    model.graph.node.append(helper.make_node("Relu", ["tiler_labels"], ["logits"]))
    file = saved(model, tmp_path)
    onnx.checker.check_model(labelling_model(file, "image", SHAPE, "logits", logits=True))


def test_what_only_served_other_outputs_is_left_out(tmp_path: Path) -> None:
    model = conv_model(outputs=("logits", "labels"))
    weights = numpy_helper.from_array(np.ones((1, 5, 1, 1), np.float32), "extra_weights")
    model.graph.initializer.append(weights)
    model.graph.node.append(helper.make_node("Conv", ["logits", "extra_weights"], ["extra"]))
    model.graph.output.append(helper.make_tensor_value_info("extra", TensorProto.FLOAT, None))
    kept = labelling_model(saved(model, tmp_path), "image", SHAPE, "labels", logits=False)
    assert operators(kept) == ["Conv", "ArgMax"]
    assert [i.name for i in kept.graph.initializer] == ["w"]
    assert [o.name for o in kept.graph.output] == ["labels"]


def test_what_only_an_inner_graph_reads_is_kept(tmp_path: Path) -> None:
    model = conv_model(outputs=("logits",))
    model.graph.node[0].output[0] = "features"
    branch = helper.make_graph(
        [helper.make_node("Relu", ["features"], ["inner"])],
        "branch",
        [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)],
    )
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "yes"))
    node = helper.make_node("If", ["yes"], ["logits"], then_branch=branch, else_branch=branch)
    model.graph.node.append(node)
    kept = labelling_model(saved(model, tmp_path), "image", SHAPE, "logits", logits=True)
    assert operators(kept) == ["Conv", "If", "ArgMax"]
    onnxruntime.InferenceSession(kept.SerializeToString(), providers=["CPUExecutionProvider"])


def test_weights_listed_among_the_inputs_stay_usable(tmp_path: Path) -> None:
    model = conv_model()
    model.ir_version = 3
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [5, 4, 3, 3]))
    kept = labelling_model(saved(model, tmp_path), "image", SHAPE, "labels", logits=False)
    session = onnxruntime.InferenceSession(
        kept.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    assert session.run(None, {"image": random_tiles(1)})[0].shape == (1, SIZE_PX, SIZE_PX)


def test_the_same_model_always_gives_the_same_bytes(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    model = read_model(make_card(make_onnx(outputs=("logits",)), logits="logits"), SIZE_PX)
    assert session_bytes(model, 1) == session_bytes(model, 1)


@pytest.mark.parametrize("apart", [False, True])
def test_a_model_that_was_replaced_since_it_was_checked_is_refused(
    tmp_path: Path, make_card: MakeCard, apart: bool
) -> None:
    file = tmp_path / "model.onnx"
    options = {"save_as_external_data": apart, "location": "weights.bin", "size_threshold": 0}
    onnx.save(conv_model(seed=0), file, **options)
    model = read_model(make_card(file), SIZE_PX)
    (tmp_path / "weights.bin").unlink(missing_ok=True)
    onnx.save(conv_model(seed=1), file, **options)
    with pytest.raises(JobError, match="has changed since the run began"):
        session_bytes(model, 1)
