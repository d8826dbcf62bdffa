"""Faults in mid-run: told per tile with the code's meaning; what was labelled stays right."""

from __future__ import annotations

import numpy as np
import pytest

from tests.infer.cann_runner import CannRunner
from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.test_cann import on_cpu
from tiler.job.card import LoadedCard

TILES = 5


@pytest.fixture
def card(make_onnx: MakeOnnx, make_card: MakeCard) -> LoadedCard:
    return make_card(make_onnx())


def test_an_execution_error_fails_its_tile_alone(run_cann: CannRunner, card: LoadedCard) -> None:
    ended = run_cann(card, tiles=TILES, switches={"fault": "aclmdlExecuteAsync:4=507011"})
    ((tile, error),) = ended.tile_errors
    assert tile == 2
    assert "aclmdlExecuteAsync failed with 507011 ACL_ERROR_RT_MODEL_EXECUTE" in error
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, np.delete(on_cpu(card, TILES), 2, axis=0))


@pytest.mark.parametrize("sticky", [False, True])
def test_a_task_error_sticks_and_is_told_for_every_later_tile(
    run_cann: CannRunner, card: LoadedCard, sticky: bool
) -> None:
    fault = {"fault": "task.exec:4=507015", "sticky": sticky}
    ended = run_cann(card, tiles=TILES, switches=fault)
    assert [tile for tile, _ in ended.tile_errors] == [2, 3, 4]
    # Where everything after it fails, the stream may answer with that instead.
    assert "507015" in ended.tile_errors[0][1]
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 2))


def test_a_full_device_is_told(run_cann: CannRunner, card: LoadedCard) -> None:
    ended = run_cann(card, tiles=1, switches={"mem_bytes": 1000})
    assert ended.exit_code == 3
    assert ended.error is not None
    assert "aclrtMalloc failed with 207001" in ended.error
    assert "the device is out of memory; use a smaller device.batch" in ended.error


def test_a_memory_limit_that_is_too_small_is_told(run_cann: CannRunner, card: LoadedCard) -> None:
    ended = run_cann(card, tiles=1, options={"npu_mem_limit": 1000})
    assert ended.error is not None
    assert f"{card.onnx_file}: Available memory of 768 is smaller than requested" in ended.error


def test_a_device_lost_in_mid_run_is_told_for_every_later_tile(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    ended = run_cann(card, tiles=TILES, lost_at=3)
    assert [tile for tile, _ in ended.tile_errors] == [3, 4]
    for _, error in ended.tile_errors:
        assert "507010 ACL_ERROR_RT_LOST_HEARTBEAT: the device is lost" in error
    assert ended.labels is not None
    np.testing.assert_array_equal(ended.labels, on_cpu(card, 3))
