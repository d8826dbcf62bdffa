"""True CANN sessions of the installed wheel behave on the simulator as they should on devices."""

from __future__ import annotations

import importlib.metadata
import signal
import subprocess
from pathlib import Path

import pytest

from tests.ascend_sim.build import HERE
from tests.ascend_sim.fixtures import AscendEnv, provider_folder
from tests.ascend_sim.trace import DEVICE_TO_HOST, HOST_TO_DEVICE, calls_of
from tests.sim_ort.sessions import run_session, trace_of


def _wheel_version() -> tuple[int, ...]:
    try:
        version = importlib.metadata.version("onnxruntime-cann")
    except importlib.metadata.PackageNotFoundError:
        return (0,)
    return tuple(int(part) for part in version.split(".")[:2])


def test_every_function_that_the_provider_imports_is_there(ascend_lib: Path) -> None:
    check = subprocess.run(
        [
            "make",
            "-s",
            "-C",
            str(HERE),
            "check",
            f"OUT={ascend_lib}",
            f"WHEELS={provider_folder()}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (check.returncode, check.stdout) == (0, ""), check.stderr


# ------------------------------------------------------------------------------- computing
def test_strict_session_labels_as_the_cpu_does(ascend_env: AscendEnv, tmp_path: Path) -> None:
    ended = run_session(ascend_env(), tmp_path, "tiles")

    assert ended.exit_code == 0, ended.errors
    assert [fact["equals_cpu"] for fact in ended.facts] == [True, True, True]


def test_labels_stay_on_the_device(ascend_env: AscendEnv, tmp_path: Path) -> None:
    ended = run_session(ascend_env(), tmp_path, "tiles")

    assert {fact["device"] for fact in ended.facts} == {"cann"}


def test_plumbing_can_run_without_computing(ascend_env: AscendEnv, tmp_path: Path) -> None:
    ended = run_session(ascend_env(nocompute=True), tmp_path, "tiles")

    assert [fact["all_zero"] for fact in ended.facts] == [True, True, True]


def test_single_operator_runs_without_graph_compiler(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env()

    ended = run_session(env, tmp_path, "single_operator")

    assert ended.fact == {"equals_cpu": True}
    assert [call["op"] for call in calls_of(trace_of(env), "aclopCompileAndExecute")] == ["Relu"]


@pytest.mark.skipif(_wheel_version() < (1, 23), reason="older providers cannot do it")
def test_runtime_brings_memory_for_an_output_of_unknown_shape(
    ascend_env: AscendEnv, tmp_path: Path
) -> None:
    ended = run_session(ascend_env(), tmp_path, "late_shape")

    assert ended.fact == {"equals_cpu": True}


# ------------------------------------------------------------------------------- trace
@pytest.mark.parametrize("count", [1, 5])
def test_trace_has_one_copy_each_way_for_a_tile(
    ascend_env: AscendEnv, tmp_path: Path, count: int
) -> None:
    env = ascend_env()

    run_session(env, tmp_path, "tiles", "--count", str(count))

    kinds = [call["kind"] for call in calls_of(trace_of(env), "aclrtMemcpy")]
    assert kinds == [HOST_TO_DEVICE, DEVICE_TO_HOST] * count


def test_trace_names_the_execution_of_each_tile(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env()

    run_session(env, tmp_path, "tiles", "--count", "4")

    executions = calls_of(trace_of(env), "task.exec")
    assert [(call["device"], call["rc"]) for call in executions] == [(0, 0)] * 4


@pytest.mark.parametrize(
    ("switch", "slow_call", "call_before"),
    [
        ("build_ms", "aclgrphBuildModel", "aclgrphParseONNXFromMem"),
        ("save_ms", "aclgrphSaveModel", "aclgrphBuildModel"),
        ("exec_ms", "task.exec", "aclgrphSaveModel"),
    ],
)
def test_a_step_can_be_made_slow(
    ascend_env: AscendEnv, tmp_path: Path, switch: str, slow_call: str, call_before: str
) -> None:
    env = ascend_env(**{switch: 200})

    run_session(env, tmp_path, "tiles", "--count", "1")

    ends = {call["fn"]: call["t"] for call in trace_of(env)}
    assert ends[slow_call] - ends[call_before] >= 0.2


# ------------------------------------------------------------------------------- devices, threads
def test_visible_devices_are_renumbered(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env(devices=3) | {"ASCEND_RT_VISIBLE_DEVICES": "2"}

    run_session(env, tmp_path, "tiles")

    [choice] = calls_of(trace_of(env), "aclrtSetDevice")
    assert (choice["device"], choice["physical"]) == (0, 2)


def test_copy_in_a_thread_without_session_has_no_context(
    ascend_env: AscendEnv, tmp_path: Path
) -> None:
    ended = run_session(ascend_env(), tmp_path, "copy_in_other_thread")

    [error] = ended.fact["errors"]
    assert "107002" in error


def test_labels_of_a_run_not_waited_for_are_not_there(
    ascend_env: AscendEnv, tmp_path: Path
) -> None:
    ended = run_session(ascend_env(exec_ms=1500), tmp_path, "fetch_without_waiting")

    assert ended.fact == {"equals_cpu": False}


# ------------------------------------------------------------------------------- memory
def test_host_access_to_device_memory_is_a_segmentation_fault(
    ascend_env: AscendEnv, tmp_path: Path
) -> None:
    ended = run_session(ascend_env(), tmp_path, "read_device_memory")

    assert ended.exit_code == -signal.SIGSEGV


def test_guard_of_device_memory_can_be_switched_off(ascend_env: AscendEnv, tmp_path: Path) -> None:
    ended = run_session(ascend_env(guard=False), tmp_path, "read_device_memory")

    assert ended.fact == {"value": 7.0}


# ------------------------------------------------------------------------------- compiled models
def _compiled_model(folder: Path) -> Path:
    [path] = folder.glob("*.om")
    return path


def test_compiled_model_is_used_by_the_next_process(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env()

    for _ in range(2):
        run_session(env, tmp_path, "tiles", "--count", "1")

    trace = trace_of(env)
    assert len(calls_of(trace, "aclgrphBuildModel")) == 1
    assert [call["rc"] for call in calls_of(trace, "aclmdlLoadFromFile")] == [0]


def test_compiled_model_for_another_soc_is_refused(ascend_env: AscendEnv, tmp_path: Path) -> None:
    run_session(ascend_env(soc="Ascend310P3"), tmp_path, "tiles")
    env = ascend_env(soc="Ascend910B3")

    ended = run_session(env, tmp_path, "tiles")

    assert "aclmdlLoadFromFile" in ended.errors
    assert [call["rc"] for call in calls_of(trace_of(env), "aclmdlLoadFromFile")] == [500002]


@pytest.mark.parametrize("missing_bytes", [1, 100, None], ids=["1", "100", "all"])
def test_compiled_model_that_is_not_whole_is_refused(
    ascend_env: AscendEnv, tmp_path: Path, missing_bytes: int | None
) -> None:
    env = ascend_env()
    run_session(env, tmp_path, "tiles")
    model = _compiled_model(tmp_path)
    whole = model.read_bytes()
    model.write_bytes(b"" if missing_bytes is None else whole[:-missing_bytes])

    ended = run_session(env, tmp_path, "tiles")

    assert ended.facts == []
    assert [call["rc"] for call in calls_of(trace_of(env), "aclmdlLoadFromFile")] == [100013]
