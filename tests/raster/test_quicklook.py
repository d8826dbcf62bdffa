"""A label map as a small picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray
from rasterio.enums import ColorInterp

from tests.raster.label_maps import files_in, legend_of, random_labels, write_label_map
from tiler.errors import SceneError
from tiler.pixels.legend import LabelClass, Legend
from tiler.raster.env import gdal_env
from tiler.raster.quicklook import write_quicklook


def picture_of(label_map: Path, max_px: int = 1024) -> NDArray[np.uint8]:
    """Its pixels, [red green blue alpha, height, width]."""
    target = label_map.with_suffix(".png")
    write_quicklook(label_map, target, max_px)
    with gdal_env(), rasterio.open(target) as file:
        assert file.driver == "PNG"
        assert file.colorinterp[3] == ColorInterp.alpha
        pixels: NDArray[np.uint8] = file.read()
    return pixels


def test_classes_have_their_colours_and_nodata_is_transparent(tmp_path: Path) -> None:
    labels = random_labels(60, 70)
    red, green, blue, alpha = picture_of(write_label_map(labels, tmp_path))
    valid = labels != 255
    assert (alpha == np.where(valid, 255, 0)).all()
    assert (red[valid] == labels[valid]).all()
    assert (green[valid] == 0).all()
    assert (blue[valid] == 255 - labels[valid]).all()


def test_a_class_that_is_black_is_no_nodata(tmp_path: Path) -> None:
    legend = Legend((LabelClass(0, "shadow", (0, 0, 0)),))
    labels = np.array([[0, 255]], np.uint8)
    picture = picture_of(write_label_map(labels, tmp_path, legend=legend))
    assert picture[:, 0].T.tolist() == [[0, 0, 0, 255], [0, 0, 0, 0]]


def test_uint16_labels_have_their_colours_too(tmp_path: Path) -> None:
    labels = random_labels(60, 70, 300, 65_535)
    picture = picture_of(write_label_map(labels, tmp_path, legend=legend_of(300)))
    valid = labels != 65_535
    assert (picture[3] == np.where(valid, 255, 0)).all()
    assert (picture[0][valid] == labels[valid] % 256).all()
    assert (picture[1][valid] == labels[valid] // 256).all()


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((1, 1), (1, 1)),
        ((100, 60), (100, 60)),
        ((101, 50), (100, 50)),
        ((600, 1200), (50, 100)),
        ((1, 5000), (1, 100)),
        ((5000, 1), (100, 1)),
        ((5000, 3), (100, 1)),
    ],
)
def test_a_picture_keeps_the_maps_shape_within_its_bounds(
    tmp_path: Path, size: tuple[int, int], expected: tuple[int, int]
) -> None:
    labels = random_labels(*size)
    assert picture_of(write_label_map(labels, tmp_path), max_px=100).shape == (4, *expected)


def test_a_smaller_picture_mixes_no_colours(tmp_path: Path) -> None:
    picture = picture_of(write_label_map(random_labels(1100, 1300), tmp_path), max_px=100)
    colors = {tuple(c) for c in picture.reshape(4, -1).T.tolist()}
    assert colors <= {(i, 0, 255 - i, 255) for i in range(8)} | {(0, 0, 0, 0)}


def test_it_is_one_file(tmp_path: Path) -> None:
    path = write_label_map(random_labels(60, 70), tmp_path)
    picture_of(path)
    assert files_in(tmp_path) == ["labels.png", "labels.tif", "labels.tif.aux.xml"]


def test_a_label_map_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = write_label_map(random_labels(600, 700), tmp_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(SceneError, match=r"labels\.tif cannot be read for its quicklook: "):
        write_quicklook(path, tmp_path / "labels.png")
    assert not (tmp_path / "labels.png").exists()


def test_a_full_disk_is_told_and_nothing_is_left(tmp_path: Path, small_disk: Path) -> None:
    path = write_label_map(random_labels(60, 70), tmp_path)
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "other").write_bytes(bytes(2**23))
    with pytest.raises(SceneError) as caught:
        write_quicklook(path, small_disk / "labels.png")
    assert str(caught.value).startswith(f"{small_disk}: labels.png cannot be written: No space")
    assert files_in(small_disk) == ["other"]
