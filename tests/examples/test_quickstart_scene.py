"""The scene that the quickstart labels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
SCENE = ROOT / "examples" / "scenes" / "quickstart.tif"
GENERATOR = ROOT / "examples" / "scenes" / "make_quickstart_scene.py"


@pytest.fixture(scope="module")
def pixels() -> NDArray[np.uint16]:
    with rasterio.open(SCENE) as scene:
        return scene.read()


def test_the_scene_names_its_bands_and_lies_in_utm() -> None:
    with rasterio.open(SCENE) as scene:
        assert scene.descriptions == ("blue", "green", "red", "nir")
        assert (scene.crs.to_epsg(), scene.res) == (32632, (10, 10))
        assert (scene.nodata, set(scene.dtypes)) == (0, {"uint16"})
        assert set(scene.block_shapes) == {(512, 512)}


def test_nodata_surrounds_the_scene_and_is_nowhere_inside(pixels: NDArray[np.uint16]) -> None:
    outside = (pixels == 0).all(axis=0)
    assert 0.1 < outside.mean() < 0.4
    assert outside[0, 0]
    assert outside[0, -1]
    assert outside[-1, 0]
    assert outside[-1, -1]
    np.testing.assert_array_equal((pixels == 0).any(axis=0), outside)
    # A straight edge: in no row does nodata return between the first valid pixel and the last.
    for row in ~outside:
        (inside,) = np.nonzero(row)
        assert len(inside) == 0 or inside[-1] - inside[0] + 1 == len(inside)


def test_the_scene_is_small_enough_to_clone() -> None:
    assert SCENE.stat().st_size < 6_000_000


def test_the_generator_makes_the_scene_that_is_checked_in(
    pixels: NDArray[np.uint16], tmp_path: Path
) -> None:
    made = tmp_path / "made.tif"
    subprocess.run([sys.executable, GENERATOR, made], check=True, capture_output=True)
    with rasterio.open(made) as scene:
        again = scene.read()
    # Another machine's arithmetic may round a value the other way.
    assert (again != pixels).mean() < 1e-3
