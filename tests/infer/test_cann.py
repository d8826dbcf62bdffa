"""Strict sessions on Ascend devices, with the real provider on the simulated runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from tests.ascend_sim.trace import DEVICE_TO_HOST, HOST_TO_DEVICE
from tests.infer.cann_runner import CannRunner
from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import SIZE_PX, layer_norm_in_pieces_model, random_tiles
from tiler.infer.model import read_model
from tiler.infer.open import open_session
from tiler.infer.session import DeviceSpec
from tiler.job.card import LoadedCard

CANN = "CANNExecutionProvider"


def on_cpu(card: LoadedCard, tiles: int) -> NDArray[np.integer[Any]]:
    session = open_session(read_model(card, SIZE_PX), DeviceSpec("cpu"))
    return np.concatenate([session.label(tile[None]) for tile in random_tiles(tiles)])


@pytest.mark.parametrize("device", [0, 1])
def test_labels_equal_the_cpus_on_each_device(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard, device: int
) -> None:
    card = make_card(make_onnx())
    ended = run_cann(card, tiles=3, id=device)
    assert ended.error is None
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 3))
    assert {call["device"] for call in ended.calls("task.exec")} == {device}


def test_labels_of_logits_are_made_on_the_device(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    card = make_card(make_onnx(outputs=("logits",)), logits="logits")
    ended = run_cann(card, tiles=2)
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 2))
    labels_bytes = SIZE_PX * SIZE_PX * ended.labels.itemsize
    back = [c["bytes"] for c in ended.calls("aclrtMemcpy") if c["kind"] == DEVICE_TO_HOST]
    assert set(back) == {labels_bytes}


def test_a_layer_norm_in_pieces_and_a_constant_mod_run_whole(
    run_cann: CannRunner, tmp_path: Path, make_card: MakeCard
) -> None:
    onnx.save(layer_norm_in_pieces_model(), tmp_path / "norm.onnx")
    card = make_card(tmp_path / "norm.onnx")
    ended = run_cann(card, tiles=1)
    assert ended.error is None
    assert ended.placement is not None
    assert ended.placement["nodes"] == {CANN: 1}
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 1))


def test_the_placement_says_what_was_proven_and_with_what(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    card = make_card(make_onnx())
    ended = run_cann(card, id=1, switches={"soc": "Ascend310P3"})
    assert ended.placement is not None
    placement = ended.placement
    assert (placement["provider"], placement["device"], placement["strict"]) == ("cann", 1, True)
    assert placement["nodes"] == {CANN: 1}
    assert placement["elsewhere"] == []
    assert placement["parity"] == 1.0
    assert placement["versions"]["SoC"] == "Ascend310P3"
    assert placement["model_sha256"] == read_model(card, SIZE_PX).sha256
    assert list(placement["compiled"]) == [f.name for f in run_cann.compiled_files()]
    assert placement["runtime"].startswith("onnxruntime-cann 1.")
    assert "1 on CANNExecutionProvider" in ended.summary


def test_precision_is_kept_unless_asked_otherwise(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    card = make_card(make_onnx())
    ended = run_cann(card)
    assert ended.options["precision_mode"] == "must_keep_origin_dtype"
    assert ended.options["op_select_impl_mode"] == "high_precision"
    (call,) = ended.calls("aclgrphBuildInitialize")
    assert "precision_mode=must_keep_origin_dtype" in call["options"]
    other = run_cann(card, options={"precision_mode": "force_fp16", "enable_cann_graph": True})
    assert other.options["precision_mode"] == "force_fp16"
    assert other.options["enable_cann_graph"] == "1"


def test_a_tile_costs_one_copy_each_way(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    ended = run_cann(make_card(make_onnx()), tiles=7)
    kinds = [call["kind"] for call in ended.calls("aclrtMemcpy")]
    runs = 7 + 1  # the warm-up
    assert kinds == [HOST_TO_DEVICE, DEVICE_TO_HOST] * runs
    assert len(ended.calls("task.exec")) == runs


def test_device_memory_does_not_grow_over_a_thousand_tiles(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    ended = run_cann(make_card(make_onnx()), tiles=1000, parity=None)
    runs = ended.calls("task.exec")
    assert len(runs) == 1001
    later = [c for c in ended.calls("aclrtMalloc") if c["t"] > runs[0]["t"]]
    assert later == []


def test_the_last_batch_is_filled_up(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    card = make_card(make_onnx(batch="batch"))
    ended = run_cann(card, tiles=5, batch=4)
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 5))
    # The warm-up, four tiles, one tile: all of one shape, so compiled once.
    assert len(ended.calls("task.exec")) == 3
    assert len(ended.calls("aclgrphBuildModel")) == 1


def test_the_working_directory_is_kept_and_left_empty(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    ended = run_cann(make_card(make_onnx()), tiles=1)
    assert ended.error is None
    assert ended.cwd == str(ended.folder)
    assert list(ended.folder.iterdir()) == []


def test_nothing_is_printed(run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    ended = run_cann(make_card(make_onnx()), tiles=1)
    assert len(ended.stdout.splitlines()) == 1
    assert ended.stderr == ""


def test_labels_too_far_from_the_cpus_are_refused(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    file = make_onnx(outputs=("logits",))
    card = make_card(file, logits="logits")
    refused = run_cann(card, switches={"nocompute": True})
    assert refused.exit_code == 3
    assert refused.error is not None
    assert "of the warm-up labels equal the CPU's; device.parity asks for 98.00%" in refused.error


def test_parity_can_be_lowered_or_switched_off(
    run_cann: CannRunner, make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    card = make_card(make_onnx())
    low = run_cann(card, switches={"nocompute": True}, parity=0.0)
    assert low.placement is not None
    assert low.placement["parity"] < 0.98
    off = run_cann(card, switches={"nocompute": True}, parity=None)
    assert off.placement is not None
    assert off.placement["parity"] is None
