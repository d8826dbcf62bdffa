"""Failures of the CANN provider are told by their cause, alike ones together."""

from __future__ import annotations

import pytest

from tests.infer.small_models import layer_norm_model
from tiler.infer.cann_failure import creation_failure, described
from tiler.infer.cann_operators import placements
from tiler.infer.proof import NodeRun

CPU = "CPUExecutionProvider"


class NoRuntime:
    """Stands in for the Ascend runtime where it has nothing to say."""

    def why_not_initialised(self) -> None:
        return None


def test_alike_nodes_are_told_together() -> None:
    nodes = [NodeRun(f"norm {i}", "LayerNormalization", CPU) for i in range(19)]
    (told,) = described(nodes, layer_norm_model())
    assert told.startswith(f"19 LayerNormalization on {CPU} (the provider does not list")
    assert all(node.name in told for node in nodes)


def test_of_very_many_nodes_the_first_ones_are_named() -> None:
    nodes = [NodeRun(f"norm {i}", "LayerNormalization", CPU) for i in range(161)]
    (told,) = described(nodes, layer_norm_model())
    assert told.startswith("161 LayerNormalization")
    assert told.endswith("norm 19 and 141 more")


def test_copies_are_told_as_such() -> None:
    (told,) = described([NodeRun("Memcpy", "MemcpyToHost", "CANN")], layer_norm_model())
    assert told == "1 MemcpyToHost on CANN (a copy between devices): Memcpy"


def test_placements_are_read_from_the_verbose_log() -> None:
    log = "\n".join(
        [
            "[I:onnxruntime:, session.cc:1 Initialize] Conv (not a placement)",
            "[V:onnxruntime:, s.cc:1 VerifyEachNodeIsAssignedToAnEp] Node placements",
            "[V:onnxruntime:, s.cc:2 VerifyEachNodeIsAssignedToAnEp]  Node(s) placed on "
            "[CANNExecutionProvider]. Number of nodes: 1",
            "[V:onnxruntime:, s.cc:3 VerifyEachNodeIsAssignedToAnEp]   g_1_0 (CANN_g_1_0_0)\x1b[m",
            "[V:onnxruntime:, s.cc:2 VerifyEachNodeIsAssignedToAnEp]  Node(s) placed on "
            f"[{CPU}]. Number of nodes: 1",
            "[V:onnxruntime:, s.cc:3 VerifyEachNodeIsAssignedToAnEp]   Gelu (a (b) c)",
        ]
    )
    assert placements(log) == [
        NodeRun("CANN_g_1_0_0", "g_1_0", "CANNExecutionProvider"),
        NodeRun("a (b) c", "Gelu", CPU),
    ]


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "no Ascend device was found"),
        (1, "device.ids: 5 does not exist; only 0 is there"),
        (4, "device.ids: 5 does not exist; there are 4, 0 to 3"),
    ],
)
def test_a_bad_device_id_says_which_there_are(count: int, told: str) -> None:
    error = RuntimeError(
        f"x.cc:5 operator() Invalid device ID: 5, must be between 0 (inclusive) and {count} (ex…)."
    )
    assert creation_failure(error, "", NoRuntime()).startswith(told)  # type: ignore[arg-type]


def test_places_in_foreign_sources_are_left_out() -> None:
    error = RuntimeError(
        "/build/ort/core/info.cc:40 static Info Info::FromOptions(const Options&) "
        "[ONNXRuntimeError] : 1 : FAIL : options.h:146 Parse Something is wrong.\n"
    )
    told = creation_failure(error, "", NoRuntime())  # type: ignore[arg-type]
    assert told.endswith("Something is wrong.")
    assert "/build" not in told
