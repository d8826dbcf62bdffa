"""A pixelwise rule through tiles equals the same rule in NumPy over the whole scene."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import MakeRaster
from tests.models import thresholds_labels, thresholds_model
from tests.run.conftest import JobFolder

# Odd on purpose: no multiple of a tile, a stride or a block.
HEIGHT, WIDTH = 3001, 2477
THRESHOLDS = {"uint8": 100, "int8": 10, "uint16": 9000, "int16": -20, "float32": 0.5}


def scene_pixels(dtype: str) -> NDArray[np.generic]:
    rng = np.random.default_rng(5)
    if dtype == "float32":
        return rng.random((4, HEIGHT, WIDTH), np.float32)
    info = np.iinfo(dtype)
    return rng.integers(info.min + 1, info.max, (4, HEIGHT, WIDTH), dtype, endpoint=True)


def collar() -> NDArray[np.bool_]:
    """The corners of a scene that lies askew."""
    row, col = np.ogrid[:HEIGHT, :WIDTH]
    return np.asarray((col + row / 3 < 700) | (col + row / 3 > WIDTH + 300))


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("uint16", {"block": 256, "compress": "deflate"}),
        ("uint8", {"block": 256, "interleave": "band"}),
        ("int8", {"interleave": "pixel"}),
        ("uint16", {"interleave": "band", "compress": "deflate"}),
        ("int16", {"block": 512, "compress": "zstd"}),
    ],
)
def test_every_pixel_of_a_scene_with_a_collar(
    folder: JobFolder, make_raster: MakeRaster, dtype: str, options: dict[str, object]
) -> None:
    nodata = 0 if dtype.startswith("u") else int(np.iinfo(dtype).min)
    pixels = scene_pixels(dtype)
    pixels[:, collar()] = nodata
    scene = make_raster(pixels, nodata=nodata, **options)
    labels, expected = label(folder, scene, pixels, dtype)
    assert (labels == np.where(collar(), 255, expected)).all()


def test_every_pixel_of_a_float_scene_with_nan_and_infinities(
    folder: JobFolder, make_raster: MakeRaster
) -> None:
    pixels = scene_pixels("float32")
    pixels[:, collar()] = np.nan
    pixels[2, 1000:1100, 900] = np.nan
    pixels[0, 1500, 1200:1300] = np.inf
    scene = make_raster(pixels, block=256)
    labels, expected = label(folder, scene, pixels, "float32")
    assert (labels == np.where(np.isfinite(pixels).all(axis=0), expected, 255)).all()


def test_labels_do_not_depend_on_the_number_of_workers_or_the_size_of_parts(
    folder: JobFolder, make_raster: MakeRaster
) -> None:
    pixels = scene_pixels("uint8")[:, :1500, :1300]
    scene = make_raster(pixels, block=256)
    card = thresholds_card(folder, "uint8")
    made = []
    for ids, tiles_per_part in (([0], 64), ([0, 1, 2], 4)):
        job = folder.job([scene], card, ids=ids, run__tiles_per_part=tiles_per_part)
        assert folder.run(job).exit_code == 0
        made.append((folder.out / "scene_labels.tif").read_bytes())
    assert made[0] == made[1]


def thresholds_card(folder: JobFolder, dtype: str) -> Path:
    levels = [float(THRESHOLDS[dtype])] * 4
    return folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, levels), 4, 16)


def label(
    folder: JobFolder, scene: Path, pixels: NDArray[np.generic], dtype: str
) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    """A scene's labels as `tiler run` makes them, and by the rule itself."""
    ended = folder.run(folder.job([scene], thresholds_card(folder, dtype)))
    assert ended.exit_code == 0, ended.stderr
    return folder.labels(scene), thresholds_labels(pixels, [float(THRESHOLDS[dtype])] * 4)
