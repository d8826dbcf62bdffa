"""How a run that is not to be ends: its exit code, one line, and nothing written."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.conftest import write_raster
from tests.models import save, thresholds_model
from tests.run.conftest import Ended, JobFolder, run_tiler
from tiler.run.lock import hold

PIXELS = np.zeros((4, 300, 300), np.uint8)


@pytest.fixture
def card(folder: JobFolder) -> Path:
    write_raster(PIXELS, folder=folder.path)
    return folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, [1.0] * 4), 4, 16)


def refused(folder: JobFolder, ended: Ended, exit_code: int, *told: str) -> None:
    """Nothing was started: one line on stderr, one object on stdout, no file."""
    assert ended.exit_code == exit_code, ended.stderr
    (line,) = ended.stderr.splitlines()
    for text in told:
        assert text in line
    report = ended.report
    assert (report["status"], report["scenes"]) == ("failed", [])
    assert f"tiler: {report['error']}" == line
    assert not folder.out.exists()


def test_0_when_all_is_done_with_one_object_on_stdout(folder: JobFolder, card: Path) -> None:
    ended = folder.run(folder.job(["scene.tif"], card))
    assert ended.exit_code == 0
    (scene,) = ended.report["scenes"]
    assert scene == {
        "scene": str(folder.path / "scene.tif"),
        "status": "done",
        "output": str(folder.out / "scene_labels.tif"),
        "tiles": 4,
        "tiles_skipped": 0,
        "error": None,
    }
    assert ended.report["status"] == "done"
    assert ended.report["run"].startswith("job-")


def test_without_json_a_person_is_told_where_the_map_is(folder: JobFolder, card: Path) -> None:
    ended = run_tiler("run", folder.job(["scene.tif"], card))
    assert str(folder.out / "scene_labels.tif") in ended.stdout
    assert "done: 1 done, 0 skipped, 0 failed; 4 tiles" in ended.stdout


def test_closed_standard_streams_do_no_harm(folder: JobFolder, card: Path) -> None:
    job = folder.job(["scene.tif"], card)
    command = f"exec {sys.executable} -m tiler run {job} <&- >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0
    assert (folder.labels("scene") == 0).all()


def test_quiet_says_nothing_when_all_is_well(folder: JobFolder, card: Path) -> None:
    ended = run_tiler("run", folder.job(["scene.tif"], card), "--quiet")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "")


def test_2_for_a_job_that_is_not_there(folder: JobFolder) -> None:
    refused(folder, folder.run(folder.path / "no.yaml"), 2, "no.yaml: cannot be read")


def test_2_for_a_key_that_is_unknown(folder: JobFolder, card: Path) -> None:
    job = folder.job(["scene.tif"], card, tiling__overlp=3)
    refused(folder, folder.run(job), 2, "job.yaml: tiling: unknown key 'overlp'", "'overlap'")


def test_2_for_an_override_that_is_wrong(folder: JobFolder, card: Path) -> None:
    job = folder.job(["scene.tif"], card)
    refused(folder, folder.run(job, "--set", "tiling.size=big"), 2, "tiling.size: found 'big'")


def test_2_for_bands_that_are_not_as_many_as_the_model_reads(folder: JobFolder, card: Path) -> None:
    job = folder.job(["scene.tif"], card, scenes__bands=[1, 2, 3])
    refused(folder, folder.run(job), 2, "scenes.bands: found 3 bands, expected 4", "b1, b2, b3, b4")


def test_2_when_no_scene_is_found(folder: JobFolder, card: Path) -> None:
    refused(folder, folder.run(folder.job(["*.jp2"], card)), 2, "scenes.include: found no scene")


def test_2_for_a_file_that_is_no_onnx_model(folder: JobFolder, card: Path) -> None:
    (folder.path / "rule.onnx").write_text("hello")
    refused(folder, folder.run(folder.job(["scene.tif"], card)), 2, "rule.onnx is not an ONNX file")


def test_2_for_a_card_that_does_not_fit_its_graph(folder: JobFolder, card: Path) -> None:
    job = folder.job(["scene.tif"], card, size=512)
    refused(folder, folder.run(job), 2, "rule.yaml", "256", "512")


def test_2_for_a_model_that_answers_another_shape_than_it_says(
    folder: JobFolder, card: Path
) -> None:
    """The graph leaves the output's size open; only the first run shows it."""
    nodes = [
        helper.make_node("ArgMax", ["input"], ["all"], axis=1, keepdims=1),
        helper.make_node("NonZero", ["all"], ["found"]),
        helper.make_node("Unsqueeze", ["found", "first"], ["labels"]),
    ]
    first = numpy_helper.from_array(np.array([0], np.int64), "first")
    values = helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 4, 256, 256])
    labels = helper.make_tensor_value_info("labels", TensorProto.INT64, ["n", "height", "width"])
    save(helper.make_graph(nodes, "odd", [values], [labels], [first]), folder.path / "rule.onnx")
    ended = folder.run(folder.job(["scene.tif"], card))
    assert ended.exit_code in (2, 3)
    assert "256" in ended.report["error"]
    assert not folder.out.exists()


def test_2_for_an_output_folder_that_cannot_be_made(folder: JobFolder, card: Path) -> None:
    (folder.path / "file").touch()
    job = folder.job(["scene.tif"], card, output__dir="file/out")
    refused(folder, folder.run(job), 2, "output.dir", "cannot be made: Not a directory")


def test_2_for_a_command_line_that_is_wrong() -> None:
    ended = run_tiler("run", "--no-such-option", "job.yaml")
    assert ended.exit_code == 2
    assert "No such option" in ended.stderr


def fake_distribution(folder: Path, name: str, imports: str) -> dict[str, str]:
    """An environment in which another distribution is installed too."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "top_level.txt").write_text(imports)
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_3_for_two_runtimes_in_one_environment(folder: JobFolder, card: Path) -> None:
    env = fake_distribution(folder.path, "onnxruntime-directml", "onnxruntime")
    ended = run_tiler("run", folder.job(["scene.tif"], card), "--json", env=env)
    refused(folder, ended, 3, "onnxruntime-directml 1.0", "pip uninstall")


def test_3_for_the_other_project_called_tiler(folder: JobFolder, card: Path) -> None:
    env = fake_distribution(folder.path, "tiler", "tiler")
    ended = run_tiler("run", folder.job(["scene.tif"], card), "--json", env=env)
    refused(folder, ended, 3, "another project", "pip uninstall")


def test_3_for_a_provider_that_is_not_installed(folder: JobFolder, card: Path) -> None:
    job = folder.job(["scene.tif"], card, device__provider="cuda")
    refused(folder, folder.run(job), 3, "cuda needs onnxruntime-gpu", "scene-tiler[cuda]")


def test_75_while_another_run_holds_the_job(folder: JobFolder, card: Path) -> None:
    hidden = folder.out / ".tiler"
    hidden.mkdir(parents=True)
    with hold(hidden / "job.lock"):
        ended = folder.run(folder.job(["scene.tif"], card))
    assert ended.exit_code == 75
    assert f"another run holds this job: process {os.getpid()} on" in ended.report["error"]
    assert folder.files_in_out() == [".tiler"]


@pytest.fixture
def busy(folder: JobFolder, card: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in the middle of a scene too large to end soon."""
    write_raster(np.ones((4, 9000, 9000), np.uint8), "scene.tif", folder=folder.path)
    job = folder.job(["scene.tif"], card, overlap=192, run__tiles_per_part=4)
    process = subprocess.Popen(
        [sys.executable, "-m", "tiler", "run", str(job), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(folder.out.rglob("part-*.tif")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("whole_group", [False, True])
def test_130_or_143_when_told_to_stop_and_nothing_is_published(
    folder: JobFolder, busy: subprocess.Popen[str], number: signal.Signals, whole_group: bool
) -> None:
    children = psutil.Process(busy.pid).children(recursive=True)
    if whole_group:
        os.killpg(busy.pid, number)
    else:
        os.kill(busy.pid, number)
    stdout, stderr = busy.communicate(timeout=30)
    assert busy.returncode == 128 + number
    (scene,) = json.loads(stdout)["scenes"]
    assert (scene["status"], scene["output"]) == ("failed", None)
    assert "stopped before" in scene["error"]
    assert "Traceback" not in stderr
    assert all(file.startswith(".tiler") for file in folder.files_in_out())
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
