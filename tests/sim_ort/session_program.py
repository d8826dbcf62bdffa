"""A process with a strict CANN session, started by the tests as a program of its own.

It prints one JSON line for each thing that a test may ask about. What can go wrong on purpose ends
the process, or is raised and so ends up on standard error.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import ModelProto, TensorProto, helper, numpy_helper

TILE_PX = 16
CHANNELS = 4
CLASSES = 8

Array = npt.NDArray[Any]


def segmentation_model() -> bytes:
    """The smallest model that labels pixels: a convolution and an argmax."""
    weights = np.random.default_rng(0).standard_normal((CLASSES, CHANNELS, 3, 3), np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["logits"], pads=[1] * 4),
        helper.make_node("ArgMax", ["logits"], ["labels"], axis=1, keepdims=0),
    ]
    shape = [1, CHANNELS, TILE_PX, TILE_PX]
    return _model(
        nodes,
        helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("labels", TensorProto.INT64, [1, TILE_PX, TILE_PX]),
        [numpy_helper.from_array(weights, "w")],
    )


def one_node_model(operator: str, output_type: int, output_shape: list[int | str]) -> bytes:
    """A model of one node that takes x, 2 by 3 numbers."""
    return _model(
        [helper.make_node(operator, ["x"], ["y"])],
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("y", output_type, output_shape),
        [],
    )


def _model(nodes: list[Any], source: Any, result: Any, weights: list[Any]) -> bytes:
    graph = helper.make_graph(nodes, "net", [source], [result], weights)
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8  # what 1.22.1 reads at most
    serialized: bytes = model.SerializeToString()
    return serialized


def strict_session(model: bytes, **provider_options: str) -> Any:
    """A session that may put no node on the CPU."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    settings = {"device_id": "0", "enable_cann_graph": "1", **provider_options}
    return ort.InferenceSession(model, options, providers=[("CANNExecutionProvider", settings)])


def on_cpu(model: bytes, values: Array) -> Array:
    """What ONNX Runtime's CPU kernels make of it."""
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    result: Array = session.run(None, {"x": values})[0]
    return result


def tile(number: int) -> Array:
    shape = (1, CHANNELS, TILE_PX, TILE_PX)
    return np.random.default_rng(number).standard_normal(shape, np.float32)


def on_device(values: Array) -> Any:
    return ort.OrtValue.ortvalue_from_numpy(values, "cann", 0)


def run_on_device(session: Any, values: Array) -> Any:
    """One tile through the device; its labels, which are still there."""
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", on_device(values))
    binding.bind_output("labels", "cann", 0)
    session.run_with_iobinding(binding)
    return binding.get_outputs()[0]


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


def tiles(count: int, lose_device_before: int | None = None) -> None:
    """Run tiles; the mark of a lost device is set before one of them when asked."""
    model = segmentation_model()
    session = strict_session(model)
    for number in range(count):
        if number == lose_device_before:
            Path(os.environ["ACLSIM_LOST_FILE"]).touch()
        output = run_on_device(session, tile(number))
        labels = output.numpy()
        say(
            tile=number,
            device=output.device_name(),
            equals_cpu=bool((labels == on_cpu(model, tile(number))).all()),
            all_zero=not labels.any(),
        )


def new_session_after_failure() -> None:
    """Fail in a first session, then run a tile in a second one."""
    model = segmentation_model()
    try:
        run_on_device(strict_session(model), tile(0))
    except RuntimeError as error:
        say(first_error=str(error))
    run_on_device(strict_session(model), tile(0)).numpy()
    say(second_session="worked")


def read_device_memory() -> None:
    """Read a tensor on the device by its address, without a copy."""
    strict_session(segmentation_model())
    address = on_device(np.full((4,), 7.0, np.float32)).data_ptr()
    say(value=ctypes.c_float.from_address(address).value)


def copy_in_other_thread() -> None:
    """Copy to the device in a thread that has made no session."""
    strict_session(segmentation_model())
    errors: list[str] = []

    def copy() -> None:
        try:
            on_device(tile(0))
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=copy)
    thread.start()
    thread.join()
    say(errors=errors)


def fetch_without_waiting() -> None:
    """Fetch the labels of a run that nobody has waited for."""
    model = segmentation_model()
    session = strict_session(model)
    unsynchronised = ort.RunOptions()
    unsynchronised.add_run_config_entry("disable_synchronize_execution_providers", "1")
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", on_device(tile(0)))
    binding.bind_output("labels", "cann", 0)
    session.run_with_iobinding(binding, unsynchronised)
    labels = binding.get_outputs()[0].numpy()
    say(equals_cpu=bool((labels == on_cpu(model, tile(0))).all()))


def single_operator() -> None:
    """Run a graph node by node, without the graph compiler."""
    values = np.array([[-1.0, 2.0, -3.0], [4.0, -5.0, 6.0]], np.float32)
    model = one_node_model("Relu", TensorProto.FLOAT, [2, 3])
    result = strict_session(model, enable_cann_graph="0").run(None, {"x": values})[0]
    say(equals_cpu=bool((result == on_cpu(model, values)).all()))


def late_shape() -> None:
    """Run a model whose output has a shape that depends on its input's values."""
    values = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], np.float32)
    model = one_node_model("NonZero", TensorProto.INT64, [2, "found"])
    result = strict_session(model).run(None, {"x": values})[0]
    say(equals_cpu=bool(np.array_equal(result, on_cpu(model, values))))


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        new_session_after_failure,
        read_device_memory,
        copy_in_other_thread,
        fetch_without_waiting,
        single_operator,
        late_shape,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=["tiles", *SCENARIOS])
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--lose-device-before", type=int)
    options = parser.parse_args()
    ort.set_default_logger_severity(4)
    if options.scenario == "tiles":
        tiles(options.count, options.lose_device_before)
    else:
        SCENARIOS[options.scenario]()


if __name__ == "__main__":
    main()
