"""Decisions of CUDA sessions, on a stand-in for ONNX Runtime that computes on the CPU.

What it cannot show is the device itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import SIZE_PX, random_tiles
from tiler.errors import DeviceError
from tiler.infer.cuda import PROVIDER, CudaSession
from tiler.infer.model import Model, read_model
from tiler.infer.open import open_session
from tiler.infer.session import DeviceSpec

CPU = "CPUExecutionProvider"
CUDA_0 = DeviceSpec("cuda", parity=0.98)


class FakeRuntime:
    """The module `onnxruntime` with a CUDA provider, which leaves some operators to the CPU."""

    def __init__(self, on_cpu: Sequence[str] = (), refuses: str | None = None) -> None:
        runtime = self
        self.copies: list[str] = []
        self.provider_options: dict[str, str] = {}
        self.strict = ""

        class Session(onnxruntime.InferenceSession):  # type: ignore[misc]
            def __init__(self, model: bytes, sess_options: Any, providers: Any) -> None:
                if refuses is not None:
                    raise RuntimeError(refuses)
                ((_, runtime.provider_options),) = providers
                key = "session.disable_cpu_ep_fallback"
                with suppress(RuntimeError):  # no such entry
                    runtime.strict = sess_options.get_session_config_entry(key)
                sess_options.add_session_config_entry(key, "0")
                # Or the CPU provider would put nodes of its own in.
                basic = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
                sess_options.graph_optimization_level = basic
                super().__init__(model, sess_options=sess_options, providers=[CPU])

            def get_providers(self) -> list[str]:
                return [PROVIDER, CPU]

            def get_provider_options(self) -> dict[str, dict[str, str]]:
                return {PROVIDER: runtime.provider_options}

            def io_binding(self) -> Any:
                return runtime._binding(super().io_binding())

            def run_with_iobinding(self, binding: Any) -> None:
                super().run_with_iobinding(binding.real)

            def end_profiling(self) -> str:
                path = Path(super().end_profiling())
                events = json.loads(path.read_text())
                for event in events:
                    if event["cat"] == "Node" and event["args"]["op_name"] not in on_cpu:
                        event["args"]["provider"] = PROVIDER
                path.write_text(json.dumps(events))
                return str(path)

        self.InferenceSession = Session
        self.SessionOptions = onnxruntime.SessionOptions
        self.OrtValue = self

    def ortvalue_from_numpy(self, values: Any, device: str, number: int) -> Any:
        self.copies.append(f"to {device} {number}")
        return onnxruntime.OrtValue.ortvalue_from_numpy(values, "cpu", 0)

    def _binding(self, real: Any) -> Any:
        runtime = self

        class Binding:
            def __init__(self) -> None:
                self.real = real
                self.bind_ortvalue_input = real.bind_ortvalue_input

            def bind_output(self, name: str, device: str, number: int) -> None:
                runtime.copies.append(f"from {device} {number}")
                real.bind_output(name, "cpu", 0)

            def get_outputs(self) -> Any:
                return real.get_outputs()

        return Binding()


@pytest.fixture
def model(make_onnx: MakeOnnx, make_card: MakeCard) -> Model:
    return read_model(make_card(make_onnx(batch="batch")), SIZE_PX)


def test_labels_are_the_cpus_at_one_copy_each_way(model: Model) -> None:
    runtime = FakeRuntime()
    session = CudaSession(model, DeviceSpec("cuda", id=1, batch=4), runtime)
    tiles = random_tiles(3)
    labels = session.label(tiles)
    cpu = open_session(model, DeviceSpec("cpu", batch=4))
    np.testing.assert_array_equal(labels, cpu.label(tiles))
    assert runtime.copies == ["to cuda 1", "from cuda 1"]


def test_a_model_that_runs_whole_is_proven(model: Model) -> None:
    runtime = FakeRuntime()
    placement = CudaSession(model, CUDA_0, runtime).warm_up()
    assert placement.nodes == {PROVIDER: 2}
    assert placement.elsewhere == ()
    assert placement.parity == 1.0
    assert placement.options == {"device_id": "0", "use_tf32": "0"}
    assert runtime.strict == "1"


def test_a_node_on_the_cpu_is_refused_and_named(model: Model) -> None:
    session = CudaSession(model, CUDA_0, FakeRuntime(on_cpu=["ArgMax"]))
    with pytest.raises(DeviceError, match=rf"argmax \(ArgMax\) on {CPU}"):
        session.warm_up()


def test_a_node_on_the_cpu_is_told_where_the_job_lets_it_through(model: Model) -> None:
    runtime = FakeRuntime(on_cpu=["ArgMax"])
    session = CudaSession(model, DeviceSpec("cuda", strict=False), runtime)
    placement = session.warm_up()
    assert placement.nodes == {PROVIDER: 1, CPU: 1}
    assert placement.elsewhere == (f"argmax (ArgMax) on {CPU}",)
    assert "NOT STRICT" in placement.summary()


def test_a_device_that_cannot_be_opened_is_told(model: Model) -> None:
    with pytest.raises(DeviceError, match=r"cuda device 0: .*: cannot be opened: no such device"):
        CudaSession(model, CUDA_0, FakeRuntime(refuses="no such device"))


def test_it_takes_no_options(model: Model) -> None:
    with pytest.raises(DeviceError, match=r"device\.options: device_id"):
        CudaSession(model, DeviceSpec("cuda", options={"device_id": 1}), FakeRuntime())
