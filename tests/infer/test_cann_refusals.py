"""What keeps a strict session from starting: exit 3, one line with the true cause, never the CPU.

Up to 1.23 the provider leaves nodes to the CPU by a list of its own, which is seen when the
session is made; 1.24 gives the compiler everything, which refuses at the first run.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from tests.ascend_sim.environment import without_switches
from tests.infer.cann_runner import CannRunner, Ended
from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import (
    double_model,
    foreign_model,
    layer_norm_in_pieces_model,
    layer_norm_model,
)
from tiler.job.card import LoadedCard

try:
    VERSION = importlib.metadata.version("onnxruntime-cann")
except importlib.metadata.PackageNotFoundError:
    VERSION = "0.0"
TAKES_ALL = VERSION.startswith("1.24")

UNFIT = 3


@pytest.fixture
def card(make_onnx: MakeOnnx, make_card: MakeCard) -> LoadedCard:
    return make_card(make_onnx())


@pytest.fixture
def card_of(tmp_path: Path, make_card: MakeCard) -> Callable[[onnx.ModelProto], LoadedCard]:
    def make(model: onnx.ModelProto) -> LoadedCard:
        onnx.save(model, tmp_path / "model.onnx")
        return make_card(tmp_path / "model.onnx")

    return make


def refusal(ended: Ended) -> str:
    assert ended.error is not None
    assert ended.exit_code == UNFIT
    assert ended.placement is None
    assert ended.labels is None
    assert "\n" not in ended.error
    # Nothing of the native side's noise reaches the user.
    assert ended.stderr == ""
    assert len(ended.stdout.splitlines()) == 1
    return ended.error


@pytest.mark.parametrize(
    ("model", "operator", "name", "why"),
    [
        (layer_norm_model, "LayerNormalization", "block/norm", "does not list"),
        (foreign_model, "Gelu", "head/gelu", "domain com.microsoft"),
    ],
)
def test_an_operator_that_the_device_lacks(
    run_cann: CannRunner,
    card_of: Callable[[onnx.ModelProto], LoadedCard],
    model: Callable[[], onnx.ModelProto],
    operator: str,
    name: str,
    why: str,
) -> None:
    ended = run_cann(card_of(model()), tiles=1, switches={"build_reject": operator})
    told = refusal(ended)
    assert f"1 {operator}" in told
    assert name in told
    assert why in told
    if TAKES_ALL:
        assert "aclgrphBuildModel failed" in told
    else:
        assert "on CPUExecutionProvider" in told
        assert ended.calls("aclgrphBuildModel") == []
    assert ended.calls("task.exec") == []


def test_a_mod_of_constants_that_is_not_folded(
    run_cann: CannRunner, card_of: Callable[[onnx.ModelProto], LoadedCard]
) -> None:
    card = card_of(layer_norm_in_pieces_model())
    unfolded = {"graph_optimization_level": "disable"}
    told = refusal(run_cann(card, options=unfolded, switches={"build_reject": "Mod"}))
    assert "1 Mod" in told
    assert "all its inputs are constants" in told
    assert run_cann(card, switches={"build_reject": "Mod"}).error is None


def test_a_data_type_that_the_compiler_refuses(
    run_cann: CannRunner, card_of: Callable[[onnx.ModelProto], LoadedCard]
) -> None:
    told = refusal(run_cann(card_of(double_model()), switches={"build_reject": "Sin"}))
    assert "1 Sin (works with double): head/sin" in told


def test_a_data_type_that_cannot_be(
    run_cann: CannRunner, card_of: Callable[[onnx.ModelProto], LoadedCard]
) -> None:
    model = double_model()
    model.graph.node[2].op_type = "BitShift"
    told = refusal(run_cann(card_of(model)))
    assert "head/sin" in told
    assert "BitShift" in told


def test_missing_libraries_are_told_in_the_loaders_words(
    run_cann: CannRunner, card: LoadedCard
) -> None:
    bare = without_switches(os.environ)
    bare.pop("LD_LIBRARY_PATH", None)
    told = refusal(run_cann(card, env=bare))
    assert "libascendcl.so: cannot open shared object file" in told
    assert "set_env.sh" in told


def test_a_library_that_lacks_another_one(
    run_cann: CannRunner, card: LoadedCard, ascend_lib: Path, tmp_path: Path
) -> None:
    partial = tmp_path / "partial"
    partial.mkdir()
    (partial / "libascendcl.so").symlink_to(ascend_lib / "libascendcl.so")
    env = {**without_switches(os.environ), "LD_LIBRARY_PATH": str(partial)}
    assert "libacl_op_compiler.so: cannot open" in refusal(run_cann(card, env=env))


def test_a_device_id_that_does_not_exist(run_cann: CannRunner, card: LoadedCard) -> None:
    told = refusal(run_cann(card, id=5, switches={"devices": 2}))
    assert "device.ids: 5 does not exist; there are 2, 0 to 1" in told


def test_no_device_at_all(run_cann: CannRunner, card: LoadedCard) -> None:
    told = refusal(run_cann(card, switches={"devices": 0}))
    assert "no Ascend device was found" in told


def test_an_option_that_no_version_has(run_cann: CannRunner, card: LoadedCard) -> None:
    told = refusal(run_cann(card, options={"precision_mod": "force_fp16"}))
    assert f"onnxruntime-cann {VERSION} has no such option; nearest: precision_mode" in told


def test_torch_npu_in_the_same_process(run_cann: CannRunner, card: LoadedCard) -> None:
    assert "torch_npu is loaded" in refusal(run_cann(card, imported=("torch_npu",)))


def test_the_runtime_initialised_by_another(run_cann: CannRunner, card: LoadedCard) -> None:
    ended = run_cann(card, tiles=1, switches={"preinit": True})
    if TAKES_ALL:  # 1.24 goes on
        assert ended.error is None
    else:
        assert "aclInit failed with 100002 ACL_ERROR_REPEAT_INITIALIZE" in refusal(ended)


@pytest.mark.parametrize(
    ("fault", "call", "code", "meaning"),
    [
        ("aclInit=507008", "aclInit", "507008", "driver and CANN do not fit"),
        ("aclrtSetDevice=507033", "aclrtSetDevice", "507033", "could not be set up"),
        ("aclgrphParseONNXFromMem=-1", "aclgrphParseONNXFromMem", "-1 GRAPH_FAILED", "own log, in"),
        ("aclgrphBuildModel=-1", "aclgrphBuildModel", "-1 GRAPH_FAILED", "own log, in"),
        ("aclgrphSaveModel=-1", "aclgrphSaveModel", "-1 GRAPH_FAILED", ""),
        ("aclmdlLoadFromMem=100013", "aclmdlLoadFromMem", "100013", "cannot be read"),
        ("aclmdlExecuteAsync=507011", "aclmdlExecuteAsync", "507011", "failed while it ran"),
        ("task.exec=507015", "aclrtSynchronizeStream", "507015", "a kernel crashed"),
        ("aclrtMalloc=207001", "aclrtMalloc", "207001", "out of memory"),
        ("aclrtMemcpy=507013", "aclrtMemcpy", "507013", "copy between host and device"),
    ],
)
def test_a_failing_call_is_named_with_its_code_and_meaning(
    run_cann: CannRunner, card: LoadedCard, fault: str, call: str, code: str, meaning: str
) -> None:
    told = refusal(run_cann(card, switches={"fault": fault}))
    assert f"{call} failed with {code}" in told
    assert meaning in told
    assert str(card.onnx_file) in told


def test_cpu_nodes_are_let_through_where_the_job_says_so_and_told_loudly(
    run_cann: CannRunner, card_of: Callable[[onnx.ModelProto], LoadedCard]
) -> None:
    options = {"enable_cann_subgraph": True} if TAKES_ALL else {}
    ended = run_cann(card_of(layer_norm_model()), tiles=1, strict=False, options=options)
    assert ended.error is None
    assert ended.placement is not None
    assert ended.placement["strict"] is False
    assert ended.placement["nodes"] == {
        "CANNExecutionProvider": 2,
        "copies between devices": 2,
        "CPUExecutionProvider": 1,
    }
    told = "; ".join(ended.placement["elsewhere"])
    assert "1 LayerNormalization on CPUExecutionProvider (the provider does not list" in told
    assert "NOT STRICT" in ended.summary
    assert "1 on CPUExecutionProvider" in ended.summary
