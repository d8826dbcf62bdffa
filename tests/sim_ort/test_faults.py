"""What goes wrong on purpose reaches the session as it would from a device."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.ascend_sim.environment import SwitchValue
from tests.ascend_sim.fixtures import AscendEnv
from tests.ascend_sim.trace import calls_of
from tests.sim_ort.sessions import run_session, start_session, trace_of, wait_for_call

# The wheel's Python side tries again with the CPU, which a strict session then refuses.
REFUSED_AT_CREATION = "Conflicting session configuration"


@pytest.mark.parametrize(
    ("switches", "tiles_done", "message"),
    [
        pytest.param({"fault": "aclInit=507008"}, 0, REFUSED_AT_CREATION, id="no runtime"),
        pytest.param({"devices": 0}, 0, REFUSED_AT_CREATION, id="no device"),
        pytest.param({"build_reject": "ArgMax"}, 0, "aclgrphBuildModel", id="compiler refuses"),
        pytest.param({"fault": "aclmdlLoadFromMem=500002"}, 0, "LoadFromMem", id="load fails"),
        pytest.param({"mem_bytes": 1000}, 0, "207001", id="memory full"),
        pytest.param({"fault": "task.exec:2=507015"}, 1, "507015", id="second task fails"),
        pytest.param({"fault": "task.exec:2+=507015"}, 1, "507015", id="all after the first"),
        pytest.param({"fault": "aclrtMemcpy:4=507899"}, 1, "507899", id="copy back fails"),
        pytest.param({"fault": "device.lost@0:1=1"}, 0, "507010", id="device lost"),
    ],
)
def test_failure_reaches_the_session(
    ascend_env: AscendEnv,
    tmp_path: Path,
    switches: dict[str, SwitchValue],
    tiles_done: int,
    message: str,
) -> None:
    ended = run_session(ascend_env(**switches), tmp_path, "tiles")

    assert ended.exit_code == 1
    assert len(ended.facts) == tiles_done
    assert message in ended.errors


@pytest.mark.parametrize(("action", "exit_code"), [("exit17", 17), ("segv", -11), ("abort", -6)])
def test_process_ends_at_a_planned_call(
    ascend_env: AscendEnv, tmp_path: Path, action: str, exit_code: int
) -> None:
    env = ascend_env(fault=f"aclmdlExecuteAsync:2={action}")

    ended = run_session(env, tmp_path, "tiles")

    assert ended.exit_code == exit_code
    assert len(ended.facts) == 1


def test_hang_lasts_until_the_process_is_killed(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env(fault="task.exec:3=hang")
    process = start_session(env, tmp_path, "tiles")
    try:
        wait_for_call(env, "FAULT")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
    finally:
        process.kill()
        process.wait()

    assert [call["rc"] for call in calls_of(trace_of(env), "task.exec")] == [0, 0]


def test_fault_on_one_device_leaves_the_other_alone(ascend_env: AscendEnv, tmp_path: Path) -> None:
    ended = run_session(ascend_env(fault="task.exec@1=507015"), tmp_path, "tiles")

    assert len(ended.facts) == 3


def test_fault_names_the_real_device(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env(fault="task.exec@1=507015") | {"ASCEND_RT_VISIBLE_DEVICES": "1"}

    ended = run_session(env, tmp_path, "tiles")

    assert "507015" in ended.errors


def test_second_session_works_after_a_failed_task(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env(fault="task.exec:1=507015")

    ended = run_session(env, tmp_path, "new_session_after_failure")

    assert "507015" in ended.facts[0]["first_error"]
    assert ended.facts[1] == {"second_session": "worked"}


def test_sticky_failure_spoils_the_device_for_the_process(
    ascend_env: AscendEnv, tmp_path: Path
) -> None:
    env = ascend_env(fault="task.exec:1=507015", sticky=True)

    ended = run_session(env, tmp_path, "new_session_after_failure")

    assert len(ended.facts) == 1
    assert "507899" in ended.errors


def test_device_is_lost_at_run_time(ascend_env: AscendEnv, tmp_path: Path) -> None:
    env = ascend_env(lost_file=tmp_path / "lost")

    ended = run_session(env, tmp_path, "tiles", "--lose-device-before", "2")

    assert len(ended.facts) == 2
    assert "507010" in ended.errors


@pytest.mark.parametrize(("lost", "tiles_done"), [("0", 0), ("1", 3), ("1\n0\n", 0), ("", 0)])
def test_lost_file_names_devices(
    ascend_env: AscendEnv, tmp_path: Path, lost: str, tiles_done: int
) -> None:
    mark = tmp_path / "lost"
    mark.write_text(lost)

    ended = run_session(ascend_env(lost_file=mark), tmp_path, "tiles")

    assert len(ended.facts) == tiles_done


def test_runtime_can_have_been_initialised_by_somebody_else(
    ascend_env: AscendEnv, tmp_path: Path
) -> None:
    env = ascend_env(preinit=True)

    run_session(env, tmp_path, "tiles")

    # What the provider makes of it depends on its release: 1.24 goes on, older ones give up.
    assert calls_of(trace_of(env), "aclInit")[0]["rc"] == 100002


def test_plan_without_action_is_reported(ascend_env: AscendEnv, tmp_path: Path) -> None:
    ended = run_session(ascend_env(fault="task.exec:2"), tmp_path, "tiles")

    assert "'task.exec:2' has no '=action'" in ended.errors
