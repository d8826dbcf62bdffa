"""What goes wrong between a scene's parts and its label map, and what reading back finds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.raster.label_maps import (
    cut,
    files_in,
    label_map_of,
    legend_of,
    random_labels,
    write_label_map,
    write_parts,
)
from tiler.errors import SceneError
from tiler.grid.window import Window
from tiler.pixels.stitch import CoverageError
from tiler.raster import cog
from tiler.raster.cog import assemble, verify


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def test_parts_that_leave_a_hole_are_our_own_bug_and_make_no_file(tmp_path: Path) -> None:
    labels = random_labels(60, 70)
    parts = write_parts(labels, cut(60, 70, 30, 70)[:1], tmp_path / "parts")
    with pytest.raises(CoverageError, match=r"rows 30 to 59, columns 0 to 69 were written 0 times"):
        assemble(parts, label_map_of(labels), tmp_path / "labels.tif")
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("fault", [Path.unlink, truncate, empty])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_part_that_cannot_be_read_fails_the_scene_by_its_name(
    tmp_path: Path, fault: Callable[[Path], None], threads: int
) -> None:
    labels = random_labels(600, 700)
    parts = write_parts(labels, cut(600, 700, 300, 350), tmp_path / "parts")
    fault(parts[3].path)
    with pytest.raises(SceneError, match=r"parts/part-3\.tif no longer holds"):
        assemble(parts, label_map_of(labels), tmp_path / "labels.tif", threads)
    assert files_in(tmp_path) == []


def test_a_full_disk_is_told_with_its_folder_and_nothing_is_left(
    tmp_path: Path, small_disk: Path
) -> None:
    labels = random_labels(3000, 3000, 200)
    parts = write_parts(labels, cut(3000, 3000, 1500, 1500), tmp_path / "parts")
    with pytest.raises(SceneError, match="No space left on device") as caught:
        assemble(parts, label_map_of(labels, legend_of(200)), small_disk / "labels.tif")
    assert str(caught.value).startswith(f"{small_disk}: labels.tif cannot be written: ")
    assert files_in(small_disk) == []


@pytest.mark.parametrize("free_kb", [0, 4, 12, 200, 330])
def test_a_disk_that_fills_up_on_the_way_leaves_nothing(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch, free_kb: int
) -> None:
    labels = random_labels(800, 800, 200)
    parts = write_parts(labels, cut(800, 800, 400, 400), tmp_path / "parts")
    (small_disk / "other").write_bytes(bytes((4096 - free_kb) * 1024))
    monkeypatch.setattr(cog, "_refuse_full_disk", lambda *_: None)
    with pytest.raises(SceneError, match="No space left on device"):
        assemble(parts, label_map_of(labels, legend_of(200)), small_disk / "labels.tif")
    assert files_in(small_disk) == ["other"]


@pytest.mark.parametrize("free_kb", [340, 400, 500, 600, 670])
def test_a_full_disk_that_gdal_loses_is_found_by_reading_back(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch, free_kb: int
) -> None:
    labels = random_labels(800, 800, 200)
    parts = write_parts(labels, cut(800, 800, 400, 400), tmp_path / "parts")
    (small_disk / "other").write_bytes(bytes((4096 - free_kb) * 1024))
    monkeypatch.setattr(cog, "_refuse_full_disk", lambda *_: None)
    with pytest.raises(SceneError, match="No space left on device"):  # noqa: PT012
        assemble(parts, label_map_of(labels, legend_of(200)), small_disk / "labels.tif")
        verify(parts, small_disk / "labels.tif")


def test_class_names_that_gdal_cannot_write_fail_the_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cog, "copy", lambda _, target, **options: target.touch())
    with pytest.raises(SceneError, match="could not write its class names"):
        write_label_map(random_labels(30, 40), tmp_path)
    assert files_in(tmp_path) == []


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    labels = random_labels(30, 40)
    parts = write_parts(labels, cut(30, 40, 30, 40), tmp_path / "parts")
    with pytest.raises(SceneError, match=r"gone: labels\.tif cannot be written: No such file"):
        assemble(parts, label_map_of(labels), tmp_path / "gone" / "labels.tif")


def test_an_interrupted_assembly_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object, target: Path, **options: object) -> None:
        for suffix in ("", ".aux.xml", ".ovr.tmp"):
            Path(f"{target}{suffix}").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(cog, "copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_label_map(random_labels(30, 40), tmp_path)
    assert files_in(tmp_path) == []


def test_verify_counts_the_pixels_of_each_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cog, "COUNTED_AT_ONCE", 1000)
    labels = random_labels(700, 530)
    cores = cut(700, 530, 600, 200)
    path = write_label_map(labels, tmp_path, part_size=(600, 200))
    counts = verify(write_parts(labels, cores, tmp_path / "parts"), path)
    values, times = np.unique(labels, return_counts=True)
    assert counts == dict(zip(values.tolist(), times.tolist(), strict=True))


@pytest.mark.parametrize("pixel", [(0, 0), (350, 420), (699, 529)])
def test_verify_finds_one_wrong_pixel_and_its_part(tmp_path: Path, pixel: tuple[int, int]) -> None:
    labels = random_labels(700, 530)
    cores = cut(700, 530, 600, 200)
    wrong = labels.copy()
    wrong[pixel] ^= 1
    path = write_label_map(wrong, tmp_path)
    (core,) = [c for c in cores if c.contains(Window(*pixel, 1, 1))]
    with pytest.raises(SceneError) as caught:
        verify(write_parts(labels, cores, tmp_path / "right"), path)
    assert f"{path} does not hold what was computed: {core} differ" in str(caught.value)


def test_verify_finds_labels_that_changed_places(tmp_path: Path) -> None:
    labels = random_labels(40, 60)
    path = write_label_map(labels[::-1], tmp_path)
    with pytest.raises(SceneError, match="does not hold what was computed"):
        verify(write_parts(labels, cut(40, 60, 40, 60), tmp_path / "right"), path)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_verify_finds_a_truncated_file(tmp_path: Path, kept: float) -> None:
    labels = random_labels(700, 530)
    path = write_label_map(labels, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(SceneError, match="does not hold what was computed"):
        verify(write_parts(labels, cut(700, 530, 600, 200), tmp_path / "parts"), path)


def test_verify_finds_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="does not hold what was computed"):
        verify([], tmp_path / "gone.tif")


def test_a_small_disk_has_its_own_space(small_disk: Path) -> None:
    """Or the tests above would show nothing."""
    done = subprocess.run(["df", "-k", small_disk], capture_output=True, text=True, check=True)
    assert "4096" in done.stdout
