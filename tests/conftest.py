"""Fixtures for all tests."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from hypothesis import settings
from numpy.typing import NDArray
from rasterio.control import GroundControlPoint
from rasterio.enums import ColorInterp
from rasterio.errors import NotGeoreferencedWarning

UTM = "EPSG:32633"
NORTH_UP_10_M = Affine(10, 0, 400_000, 0, -10, 5_500_000)

# A slow machine is no failure.
settings.register_profile("tiler", deadline=None)
settings.load_profile("tiler")

MakeRaster = Callable[..., Path]


def write_raster(
    pixels: NDArray[Any],
    name: str = "scene.tif",
    *,
    block: int | None = None,
    interleave: str = "pixel",
    crs: str | None = UTM,
    transform: Affine | None = NORTH_UP_10_M,
    mask: NDArray[np.bool_] | None = None,
    mask_file: bool = False,
    colors: Sequence[str] | None = None,
    descriptions: Sequence[str | None] | None = None,
    scales: Sequence[float] | None = None,
    offsets: Sequence[float] | None = None,
    tags: Mapping[str, str] | None = None,
    band_tags: Mapping[str, str] | None = None,
    gcps: Sequence[GroundControlPoint] | None = None,
    gcp_crs: str = "EPSG:4326",
    folder: Path,
    **creation: Any,
) -> Path:
    """Write a small real GeoTIFF and return its path.

    `pixels` is [band, height, width] and its dtype the file's. Options, all optional:

    block        side of its square tiles in pixels, a multiple of 16; without it: strips
    interleave   "pixel" (default) or "band"
    compress     any of GDAL's; default none
    nodata       the nodata value, of all bands
    crs          default UTM zone 33 N; None: none
    transform    default 10 m pixels, north up; None: none
    mask         bool [height, width], True where a pixel has data: an internal mask
    mask_file    True: that mask in a .msk file instead
    colors       rasterio's names of colour interpretations, one per band
    descriptions one per band, None where a band has none
    scales, offsets, tags, band_tags (of every band), gcps, gcp_crs
    folder       where it goes; made if it is not there

    All other options are GDAL's creation options. Unless given, `photometric` is MINISBLACK:
    GDAL would tag the fourth of four uint8 bands as alpha otherwise.
    """
    count, height, width = pixels.shape
    profile = {
        "driver": "GTiff",
        "count": count,
        "height": height,
        "width": width,
        "dtype": pixels.dtype,
        "crs": crs,
        "transform": transform,
        "interleave": interleave,
        "photometric": "MINISBLACK",
        **creation,
    }
    if block is not None:
        profile |= {"tiled": True, "blockxsize": block, "blockysize": block}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    profile = {key: value for key, value in profile.items() if value is not None}
    with (
        warnings.catch_warnings(),
        rasterio.Env(GDAL_TIFF_INTERNAL_MASK=not mask_file),
    ):
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        with rasterio.open(path, "w", **profile) as file:
            # Colours before the pixels, or GDAL forgets it.
            if colors is not None:
                file.colorinterp = [ColorInterp[c] for c in colors]
            for index, description in enumerate(descriptions or (), 1):
                if description is not None:
                    file.set_band_description(index, description)
            if scales is not None:
                file.scales = scales
            if offsets is not None:
                file.offsets = offsets
            if gcps is not None:
                file.gcps = (list(gcps), rasterio.crs.CRS.from_user_input(gcp_crs))
            file.update_tags(**(tags or {}))
            for index in range(1, count + 1):
                file.update_tags(index, **(band_tags or {}))
            file.write(pixels)
            if mask is not None:
                file.write_mask(mask)
    return path


@pytest.fixture
def make_raster(tmp_path: Path) -> MakeRaster:
    """`write_raster` into the test's own folder."""
    return partial(write_raster, folder=tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A filesystem of its own with 4 MB of space."""
    folder = tmp_path / "small-disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small disk can't be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
