"""Sessions on the CPU give the labels that ONNX Runtime gives for the file as it is."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import SIZE_PX, conv_model, random_tiles
from tiler.errors import DeviceError, JobError
from tiler.infer.model import read_model
from tiler.infer.open import count_devices, open_session
from tiler.infer.session import DeviceSpec

CPU = DeviceSpec(provider="cpu", threads=1)


def answers(file: Path, output: str, tiles: NDArray[np.float32]) -> NDArray[np.generic]:
    """What the file gives for each tile alone."""
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    found = [session.run([output], {"image": tile[None]})[0] for tile in tiles]
    return np.concatenate(found)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_labels_equal_the_models_own(
    make_onnx: MakeOnnx, make_card: MakeCard, keepdims: int
) -> None:
    file = make_onnx(keepdims=keepdims)
    session = open_session(read_model(make_card(file), SIZE_PX), CPU)
    tiles = random_tiles(1)
    labels = session.label(tiles)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, answers(file, "labels", tiles).reshape(labels.shape))


def test_of_several_outputs_only_the_labels_are_run(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    file = make_onnx(outputs=("logits", "labels"))
    session = open_session(read_model(make_card(file), SIZE_PX), CPU)
    tiles = random_tiles(1)
    np.testing.assert_array_equal(session.label(tiles), answers(file, "labels", tiles))


@pytest.mark.parametrize("opset", [11, 13, 17])
def test_labels_of_logits_are_their_argmax(
    make_onnx: MakeOnnx, make_card: MakeCard, opset: int
) -> None:
    file = make_onnx(outputs=("logits",), opset=opset)
    session = open_session(read_model(make_card(file, logits="logits"), SIZE_PX), CPU)
    tiles = random_tiles(1)
    expected = answers(file, "logits", tiles).argmax(axis=1)
    np.testing.assert_array_equal(session.label(tiles), expected)


def test_half_precision_logits_are_taken(tmp_path: Path, make_card: MakeCard) -> None:
    model = conv_model(outputs=("logits",))
    model.graph.node[0].output[0] = "full"
    model.graph.node.append(helper.make_node("Cast", ["full"], ["logits"], to=TensorProto.FLOAT16))
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    file = tmp_path / "half.onnx"
    onnx.save(model, file)
    session = open_session(read_model(make_card(file, logits="logits"), SIZE_PX), CPU)
    tiles = random_tiles(1)
    expected = answers(file, "logits", tiles).argmax(axis=1)
    np.testing.assert_array_equal(session.label(tiles), expected)


def test_a_batch_that_is_not_full_gives_as_many_labels_as_tiles(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    file = make_onnx(batch="batch")
    session = open_session(read_model(make_card(file), SIZE_PX), DeviceSpec("cpu", batch=4))
    assert session.batch == 4
    tiles = random_tiles(7)
    labels = np.concatenate([session.label(tiles[:4]), session.label(tiles[4:])])
    np.testing.assert_array_equal(labels, answers(file, "labels", tiles))


def test_the_models_own_batch_is_used(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    session = open_session(read_model(make_card(make_onnx(batch=3)), SIZE_PX), CPU)
    assert session.batch == 3
    assert session.label(random_tiles(2)).shape == (2, SIZE_PX, SIZE_PX)


def test_another_batch_than_the_models_own_is_refused(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    model = read_model(make_card(make_onnx(batch=1)), SIZE_PX)
    with pytest.raises(JobError, match=r"device\.batch: 4, but .* takes 1 at a time"):
        open_session(model, DeviceSpec("cpu", batch=4))


def test_open_sides_are_fixed_to_the_tile_size(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    file = make_onnx(size="side", batch="batch")
    session = open_session(read_model(make_card(file), 24), CPU)
    tiles = random_tiles(1, 24)
    np.testing.assert_array_equal(session.label(tiles), answers(file, "labels", tiles))


def test_weights_beside_the_file_are_used(tmp_path: Path, make_card: MakeCard) -> None:
    file = tmp_path / "apart.onnx"
    onnx.save(
        conv_model(), file, save_as_external_data=True, location="apart.bin", size_threshold=0
    )
    session = open_session(read_model(make_card(file), SIZE_PX), CPU)
    tiles = random_tiles(1)
    np.testing.assert_array_equal(session.label(tiles), answers(file, "labels", tiles))


def test_labels_of_another_shape_are_refused_at_warm_up(
    tmp_path: Path, make_card: MakeCard
) -> None:
    model = conv_model()
    # What Compress leaves depends on values, so that nobody can tell the shape before the run.
    model.graph.node[-1].output[0] = "all"
    model.graph.node.append(helper.make_node("Compress", ["all", "rows"], ["labels"], axis=1))
    rows = np.arange(SIZE_PX) < SIZE_PX - 1
    model.graph.initializer.append(numpy_helper.from_array(rows, "rows"))
    file = tmp_path / "odd.onnx"
    onnx.save(model, file)
    session = open_session(read_model(make_card(file), SIZE_PX), CPU)
    with pytest.raises(
        DeviceError, match=r"shape \[1, 15, 16\] for tiles of shape \[1, 4, 16, 16\]"
    ):
        session.warm_up()


def test_a_warm_up_says_what_runs_the_model(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    model = read_model(make_card(make_onnx()), SIZE_PX)
    placement = open_session(model, CPU).warm_up()
    assert placement.provider == "cpu"
    assert placement.model_sha256 == model.sha256
    assert onnxruntime.__version__ in placement.summary()


def test_an_operator_that_the_runtime_lacks(tmp_path: Path, make_card: MakeCard) -> None:
    model = conv_model()
    model.graph.node[0].op_type = "Convolve"
    onnx.save(model, tmp_path / "odd.onnx")
    with pytest.raises(DeviceError, match="Convolve"):
        open_session(read_model(make_card(tmp_path / "odd.onnx"), SIZE_PX), CPU)


def test_the_cpu_takes_no_options(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    model = read_model(make_card(make_onnx()), SIZE_PX)
    with pytest.raises(DeviceError, match=r"device\.options: precision_mode"):
        open_session(model, DeviceSpec("cpu", options={"precision_mode": "force_fp16"}))


def test_a_session_belongs_to_the_thread_that_opened_it(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    session = open_session(read_model(make_card(make_onnx()), SIZE_PX), CPU)
    caught: list[BaseException] = []

    def use() -> None:
        try:
            session.label(random_tiles(1))
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert "another thread" in str(caught[0])


def test_the_cpu_is_one_device() -> None:
    assert count_devices("cpu") == 1
