"""Whole runs on simulated Ascend devices, with the real provider."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ascend_sim.fixtures import AscendEnv
from tests.ascend_sim.trace import DEVICE_TO_HOST, HOST_TO_DEVICE, calls_of, read_trace
from tests.conftest import write_raster
from tests.models import context_model, thresholds_labels, thresholds_model
from tests.run.conftest import Ended, JobFolder, read_labels, run_program, run_tiler

RULE = [100.0] * 4


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def pixels(height: int = 900, width: int = 700) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (4, height, width), np.uint8)


def job_on(folder: JobFolder, provider: str, ids: object, card: Path, **keys: Any) -> Path:
    return folder.job(
        ["scene.tif"],
        card,
        device={"provider": provider, "ids": ids, **keys},
        output={"dir": str(folder.path / provider)},
        run__tiles_per_part=4,
    )


def run_cann(job: Path, env: dict[str, str]) -> Ended:
    return run_tiler("run", job, "--json", env=env)


def manifest(folder: JobFolder) -> dict[str, Any]:
    content = json.loads((folder.path / "cann/scene_labels.tif.json").read_text())
    assert isinstance(content, dict)
    return content


def labels(folder: JobFolder, provider: str) -> NDArray[np.generic]:
    return read_labels(folder.path / provider / "scene_labels.tif")


def test_two_devices_label_as_the_cpu_does_and_the_manifest_proves_both(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    write_raster(pixels(), folder=folder.path)
    card = folder.card(context_model(folder.path / "context.onnx", 256), 4, 8)
    env = ascend_env(devices=2)
    on_cann = run_cann(job_on(folder, "cann", "all", card), env)
    assert on_cann.exit_code == 0, on_cann.stderr
    assert run_tiler("run", job_on(folder, "cpu", [0], card)).exit_code == 0
    assert (labels(folder, "cann") == labels(folder, "cpu")).all()

    proofs = manifest(folder)["placements"]
    assert sorted(proofs) == ["device 0", "device 1"]
    for proof in proofs.values():
        assert proof["nodes"] == {"CANNExecutionProvider": 1}
        assert (proof["strict"], proof["elsewhere"], proof["parity"]) == (True, [], 1.0)
        assert proof["runtime"].startswith("onnxruntime-cann ")
        assert proof["compiled"]
    assert {p["worker"] for p in manifest(folder)["parts"]} == {"device 0", "device 1"}


def test_each_tile_is_copied_once_each_way_and_the_devices_memory_does_not_grow(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    values = pixels(16, 16 * 1000)
    write_raster(values, folder=folder.path)
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 16, RULE), 4, 16)
    env = ascend_env(devices=2)
    job = job_on(folder, "cann", [0, 1], card)
    ended = run_tiler(
        "run", job, "--json", "--set", "tiling={size: 16, overlap: 0}",
        "--set", "run.tiles_per_part=50", env=env,
    )  # fmt: skip
    assert ended.exit_code == 0, ended.stderr
    assert ended.report["scenes"][0]["tiles"] == 1000
    assert (labels(folder, "cann") == thresholds_labels(values, RULE)).all()

    trace = read_trace(Path(env["ACLSIM_TRACE"]))
    copies = Counter(call["kind"] for call in calls_of(trace, "aclrtMemcpy"))
    warm_ups = 2
    assert copies == {HOST_TO_DEVICE: 1000 + warm_ups, DEVICE_TO_HOST: 1000 + warm_ups}
    for pid in {call["pid"] for call in calls_of(trace, "aclrtMemcpy")}:
        in_order = [call for call in trace if call["pid"] == pid]
        first_copy_back = next(
            i for i, c in enumerate(in_order)
            if c["fn"] == "aclrtMemcpy" and c["kind"] == DEVICE_TO_HOST
        )  # fmt: skip
        assert calls_of(in_order[first_copy_back:], "aclrtMalloc") == []


def test_the_second_run_compiles_nothing(folder: JobFolder, ascend_env: AscendEnv) -> None:
    write_raster(pixels(), folder=folder.path)
    card = folder.card(context_model(folder.path / "context.onnx", 256), 4, 8)
    job = job_on(folder, "cann", [0, 1], card)
    builds = []
    for number in range(2):
        env = ascend_env(devices=2, trace=folder.path / f"trace-{number}")
        assert run_cann(job, env).exit_code == 0
        builds.append(len(calls_of(read_trace(folder.path / f"trace-{number}"), BUILD)))
    assert builds == [1, 0]


BUILD = "aclgrphBuildModel"


def test_new_weights_under_the_same_name_give_the_new_labels(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    values = pixels(300, 300)
    write_raster(values, folder=folder.path)
    for level in (100.0, 200.0):
        rule = [level] * 4
        card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, rule), 4, 16)
        ended = run_cann(job_on(folder, "cann", [0], card), ascend_env(devices=1))
        assert ended.exit_code == 0, ended.stderr
        assert (labels(folder, "cann") == thresholds_labels(values, rule)).all()


@pytest.mark.parametrize(
    ("switches", "ids", "told"),
    [
        ({"devices": 0}, "all", "no"),
        ({"devices": 2}, [5], "5"),
        ({"fault": "aclInit=507008"}, [0], "507008"),
        ({"fault": "aclrtSetDevice=507033"}, [0], "507033"),
        ({"build_reject": "ArgMax"}, [0], "aclgrphBuildModel"),
        ({"fault": "task.exec:1=507015"}, [0], "507015"),
        ({"mem_bytes": 1000}, [0], "207001"),
    ],
)
def test_3_with_the_true_cause_and_nothing_written(
    folder: JobFolder,
    ascend_env: AscendEnv,
    switches: dict[str, Any],
    ids: object,
    told: str,
) -> None:
    write_raster(pixels(300, 300), folder=folder.path)
    card = folder.card(context_model(folder.path / "context.onnx", 256), 4, 8)
    ended = run_cann(job_on(folder, "cann", ids, card), ascend_env(**switches))
    assert ended.exit_code == 3, ended.stderr
    assert told in ended.report["error"]
    assert "Traceback" not in ended.stderr
    assert not (folder.path / "cann").exists()


def test_3_without_the_ascend_libraries_naming_the_one_that_is_missing(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    write_raster(pixels(300, 300), folder=folder.path)
    card = folder.card(context_model(folder.path / "context.onnx", 256), 4, 8)
    env = ascend_env()
    env.pop("LD_LIBRARY_PATH")
    ended = run_cann(job_on(folder, "cann", [0], card), env)
    assert ended.exit_code == 3
    assert "libascendcl.so" in ended.report["error"]


def label_on(
    folder: JobFolder, env: dict[str, str], *arguments: str, ids: object = (0,)
) -> tuple[Ended, NDArray[np.int64]]:
    """Run a rule over a scene of 12 tiles in parts of four; and what is right for it."""
    values = pixels(900, 700)
    write_raster(values, folder=folder.path)
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, RULE), 4, 16)
    job = job_on(folder, "cann", list(ids) if isinstance(ids, tuple) else ids, card)
    ended = run_tiler("run", job, "--json", *arguments, env=env)
    return ended, thresholds_labels(values, RULE)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("task.exec:6=507015", "507015"),
        ("aclrtMemcpy:9=507899", "507899"),
        ("aclmdlExecuteAsync:6=exit9", "died"),
        ("aclmdlExecuteAsync:6=segv", "died"),
        ("aclmdlExecuteAsync:6=hang", "device hung"),
        ("aclrtMemcpy:9=hang", "device hung in ortvalue_from_numpy"),
    ],
)
def test_a_fault_at_some_tile_costs_a_worker_and_the_map_is_right(
    folder: JobFolder, ascend_env: AscendEnv, fault: str, told: str
) -> None:
    """The sixth run of each process fails: part after part is tried again, and done."""
    env = ascend_env(devices=1, fault=fault)
    ended, expected = label_on(folder, env, "--set", "run.tile_timeout_s=4")
    assert ended.exit_code == 0, ended.stderr
    assert (labels(folder, "cann") == expected).all()
    assert told in ended.stderr


def test_a_part_that_always_fails_is_given_up_after_its_retries(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    ended, _ = label_on(folder, ascend_env(devices=1, fault="task.exec:2+=507015"))
    assert ended.exit_code == 1
    error = ended.errors["scene.tif"]
    assert "part 0" in error
    assert "failed 3 times" in error
    assert "507015" in error
    assert not (folder.path / "cann").exists()


def test_a_device_that_is_lost_is_set_aside_and_the_other_does_its_work(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    env = ascend_env(devices=2, fault="aclrtMemcpy@1:5+=507010")
    ended, expected = label_on(folder, env, ids=(0, 1))
    assert ended.exit_code == 0, ended.stderr
    assert (labels(folder, "cann") == expected).all()
    assert "device 1: " in ended.stderr
    assert {p["worker"] for p in manifest(folder)["parts"]} >= {"device 0"}


def test_with_no_device_left_the_run_ends_and_what_is_done_is_published(
    folder: JobFolder, ascend_env: AscendEnv
) -> None:
    values = pixels(300, 300)
    names = ["a.tif", "b.tif", "c.tif", "d.tif", "e.tif", "f.tif"]
    for name in names:
        write_raster(values, name, folder=folder.path)
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, RULE), 4, 16)
    # The first scene has four tiles; with the warm-up's, that makes ten copies.
    env = ascend_env(devices=1, lost_file=folder.path / "lost")
    job = folder.job(names, card, device={"provider": "cann", "ids": [0]}, run__retries=0)
    loss = (
        "import sys, pathlib, tiler.run.stream as s\n"
        "before = s.SceneStream._published\n"
        "def lose(self, *args):\n"
        f"    pathlib.Path({str(folder.path / 'lost')!r}).touch()\n"
        "    return before(self, *args)\n"
        "s.SceneStream._published = lose\n"
        "from tiler.cli.main import main\n"
        f"if __name__ == '__main__': sys.exit(main(['run', {str(job)!r}, '--json']))\n"
    )
    program = folder.path / "lose.py"
    program.write_text(loss)
    ended = run_program(program, env)
    assert ended.exit_code == 1, ended.stderr
    done = [s for s in ended.report["scenes"] if s["status"] == "done"]
    failed = [s for s in ended.report["scenes"] if s["status"] == "failed"]
    assert done
    assert "no device is left" in failed[-1]["error"]
    assert "is set aside; 0 left" in ended.stderr
    for scene in done:
        assert (read_labels(Path(scene["output"])) == thresholds_labels(values, RULE)).all()
