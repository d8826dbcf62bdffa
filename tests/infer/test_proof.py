"""Which provider ran which node, by ONNX Runtime's profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime

from tests.infer.conftest import MakeOnnx
from tests.infer.small_models import random_tiles
from tiler.infer.proof import NodeRun, count_by_provider, node_runs, not_on, read_profile

CANN, CPU = "CANNExecutionProvider", "CPUExecutionProvider"


def node_event(name: str, operator: str, provider: str | None) -> dict[str, Any]:
    args = {"op_name": operator} | ({"provider": provider} if provider is not None else {})
    return {"cat": "Node", "name": f"{name}_kernel_time", "args": args}


def test_a_real_profile_names_every_node(make_onnx: MakeOnnx, tmp_path: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    session = onnxruntime.InferenceSession(str(make_onnx()), options, providers=[CPU])
    session.run(None, {"image": random_tiles(1)})
    runs = read_profile(Path(session.end_profiling()))
    assert [(r.name, r.operator, r.provider) for r in runs] == [
        ("conv", "Conv", CPU),
        ("argmax", "ArgMax", CPU),
    ]


def test_events_of_the_session_are_no_nodes() -> None:
    events = [
        {"cat": "Session", "name": "model_run", "args": {}},
        {"cat": "Node", "name": "conv_fence_before", "args": {"op_name": "Conv"}},
        node_event("g_0", "g", CANN),
    ]
    assert node_runs(events) == [NodeRun("g_0", "g", CANN)]


def test_a_node_without_a_provider_is_nobodys() -> None:
    (run,) = node_runs([node_event("x", "Add", None)])
    assert not_on(CANN, [run]) == [run]


def test_copies_are_not_the_devices_own_work_though_they_are_its_nodes() -> None:
    runs = [
        NodeRun("g_0", "g", CANN),
        NodeRun("Memcpy", "MemcpyToHost", CANN),
        NodeRun("norm", "LayerNormalization", CPU),
        NodeRun("Memcpy_1", "MemcpyFromHost", CANN),
        NodeRun("g_1", "g", CANN),
    ]
    assert not_on(CANN, runs) == [runs[1], runs[2], runs[3]]
    assert count_by_provider(runs) == {CANN: 2, "copies between devices": 2, CPU: 1}
