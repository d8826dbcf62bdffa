"""The same command, run again: what is done is left alone, what is not is taken up."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray

from tests.conftest import write_raster
from tests.models import thresholds_labels, thresholds_model
from tests.run.conftest import Ended, JobFolder

RULE = [100.0] * 4


def pixels(height: int = 500, width: int = 400) -> NDArray[np.uint8]:
    return np.random.default_rng(9).integers(0, 256, (4, height, width), np.uint8)


def card(folder: JobFolder, rule: list[float] = RULE) -> Path:
    return folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, rule), 4, 16)


def statuses(ended: Ended) -> list[str]:
    return [s["status"] for s in ended.report["scenes"]]


@pytest.fixture
def job(folder: JobFolder) -> Path:
    """Two scenes, both labelled."""
    for name in ("a.tif", "b.tif"):
        write_raster(pixels(), name, folder=folder.path)
    job = folder.job(["*.tif"], card(folder))
    assert folder.run(job).exit_code == 0
    return job


def test_done_scenes_are_skipped_and_not_touched(folder: JobFolder, job: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in folder.out.iterdir()}
    ended = folder.run(job)
    assert (ended.exit_code, ended.report["status"]) == (0, "done")
    assert statuses(ended) == ["skipped", "skipped"]
    assert ended.report["scenes"][0]["tiles"] == 6
    assert {p: p.stat().st_mtime_ns for p in folder.out.iterdir()} == before


def test_a_run_that_has_nothing_to_do_loads_neither_dask_nor_onnx_runtime(job: Path) -> None:
    program = (
        f"import sys; from tiler.cli.main import main; main(['run', {str(job)!r}]);"
        "print([m for m in ('distributed', 'onnxruntime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_force_does_them_all(folder: JobFolder, job: Path) -> None:
    assert statuses(folder.run(job, "--force")) == ["done", "done"]


def test_a_changed_scene_is_done_again_and_only_that(folder: JobFolder, job: Path) -> None:
    changed = 255 - pixels()
    write_raster(changed, "b.tif", folder=folder.path)
    ended = folder.run(job)
    assert statuses(ended) == ["skipped", "done"]
    assert "b.tif: made again; changed: scene" in ended.stderr
    assert (folder.labels("b") == thresholds_labels(changed, RULE)).all()


def test_new_weights_do_all_scenes_again(folder: JobFolder, job: Path) -> None:
    rule = [50.0] * 4
    card(folder, rule)
    assert statuses(folder.run(job)) == ["done", "done"]
    assert (folder.labels("a") == thresholds_labels(pixels(), rule)).all()


def test_another_tiling_does_them_again(folder: JobFolder, job: Path) -> None:
    assert statuses(folder.run(job, "--set", "tiling.overlap=64")) == ["done", "done"]


def test_changed_scenes_fail_where_the_job_says_so(folder: JobFolder, job: Path) -> None:
    write_raster(255 - pixels(), "b.tif", folder=folder.path)
    before = folder.labels("b")
    ended = folder.run(job, "--set", "run.on_change=fail")
    assert (ended.exit_code, statuses(ended)) == (1, ["skipped", "failed"])
    assert "was made otherwise; changed: scene" in ended.errors["b.tif"]
    assert (folder.labels("b") == before).all()


@pytest.mark.parametrize("damage", ["truncated", "removed", "overwritten", "without manifest"])
def test_a_label_map_that_is_not_whole_is_made_again(
    folder: JobFolder, job: Path, damage: str
) -> None:
    path = folder.out / "b_labels.tif"
    content = path.read_bytes()
    if damage == "removed":
        path.unlink()
    elif damage == "without manifest":
        path.with_name("b_labels.tif.json").unlink()
    else:
        path.write_bytes(content[:-100] if damage == "truncated" else b"\0" * len(content))
    assert statuses(folder.run(job)) == ["skipped", "done"]
    assert (folder.labels("b") == thresholds_labels(pixels(), RULE)).all()


def test_a_label_map_that_was_copied_is_still_done(folder: JobFolder, job: Path) -> None:
    os.utime(folder.out / "b_labels.tif", (1, 1))
    assert statuses(folder.run(job)) == ["skipped", "skipped"]


def start(job: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tiler", "run", str(job), "--quiet"]
    return subprocess.Popen(command, start_new_session=True)


def wait_for_parts(folder: JobFolder, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while len(list(folder.out.rglob("part-*.json"))) < count:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def killed(folder: JobFolder) -> tuple[Path, NDArray[np.uint8]]:
    """A job that was killed, all its processes at once, when it had done a few of its parts."""
    values = pixels(3000, 3000)
    write_raster(values, folder=folder.path)
    job = folder.job(["scene.tif"], card(folder), overlap=192, run__tiles_per_part=64)
    process = start(job)
    wait_for_parts(folder, 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return job, values


def tags_and_labels(path: Path) -> tuple[Any, NDArray[np.generic]]:
    with rasterio.open(path) as file:
        return file.tags(), file.read(1)


def test_a_killed_run_is_taken_up_and_ends_as_if_it_had_not_been(
    folder: JobFolder, killed: tuple[Path, NDArray[np.uint8]]
) -> None:
    job, values = killed
    assert all(file.startswith(".tiler") for file in folder.files_in_out())
    parts = len(list(folder.out.rglob("part-*.json")))
    ended = folder.run(job)
    assert ended.exit_code == 0
    assert f"{parts} of 44 parts are done already" in ended.stderr
    assert (folder.labels("scene") == thresholds_labels(values, RULE)).all()
    taken_up = (folder.out / "scene_labels.tif").read_bytes()
    assert folder.run(job, "--force").exit_code == 0
    assert (folder.out / "scene_labels.tif").read_bytes() == taken_up
    assert ".tiler" not in folder.files_in_out()


def test_a_part_whose_labels_were_damaged_is_done_again(
    folder: JobFolder, killed: tuple[Path, NDArray[np.uint8]]
) -> None:
    job, values = killed
    first = sorted(folder.out.rglob("part-*.tif"))[0]
    write_raster(
        np.zeros((1, *rasterio.open(first).shape), np.uint8), first.name, folder=first.parent
    )
    assert folder.run(job).exit_code == 0
    assert (folder.labels("scene") == thresholds_labels(values, RULE)).all()


def test_parts_of_another_model_are_not_taken_up(
    folder: JobFolder, killed: tuple[Path, NDArray[np.uint8]]
) -> None:
    job, values = killed
    rule = [50.0] * 4
    card(folder, rule)
    ended = folder.run(job)
    assert ended.exit_code == 0
    assert "done already" not in ended.stderr
    assert (folder.labels("scene") == thresholds_labels(values, rule)).all()


def test_the_manifest_says_what_made_the_label_map(folder: JobFolder, job: Path) -> None:
    made = json.loads((folder.out / "a_labels.tif.json").read_text())
    labels, counts = np.unique(folder.labels("a"), return_counts=True)
    assert made["pixels_by_label"] == {str(k): int(v) for k, v in zip(labels, counts, strict=True)}
    assert made["recipe"]["tiling"] == {"size_px": 256, "overlap_px": 32}
    assert made["model"]["name"] == "rule"
    assert made["label_map"]["bytes"] == (folder.out / "a_labels.tif").stat().st_size
    assert [p["worker"] for p in made["parts"]] == ["device 0"]
