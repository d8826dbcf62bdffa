"""The interface of sessions is small enough to be doubled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.infer import session_double
from tiler.infer.session import Placement


def test_a_double_takes_less_than_thirty_lines() -> None:
    assert len(Path(session_double.__file__).read_text().splitlines()) < 30
    tiles = np.zeros((2, 3, 4, 4), np.float32)
    tiles[:, 2] = 1
    assert (session_double.DOUBLE.label(tiles) == 2).all()


def test_a_summary_is_one_line_and_the_same_for_devices_of_a_kind() -> None:
    def placement(device: int) -> Placement:
        return Placement(
            provider="cann",
            device=device,
            runtime="onnxruntime-cann 1.24.4",
            strict=True,
            model_sha256="0" * 64,
            batch=1,
            nodes={"CANNExecutionProvider": 1},
            versions={"SoC": "Ascend910B3", "CANN": "8.2.RC1"},
            parity=0.9987,
        )

    assert placement(0).summary() == placement(1).summary()
    assert placement(0).summary() == (
        "cann, onnxruntime-cann 1.24.4, SoC Ascend910B3, CANN 8.2.RC1, "
        "nodes a run: 1 on CANNExecutionProvider, 99.87% of labels as on cpu"
    )
