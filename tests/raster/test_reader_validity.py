"""Which pixels a reader calls invalid. Truth: NumPy over the whole array."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray

from tiler.grid.window import Window
from tiler.pixels.validity import InvalidRule
from tiler.raster.describe import describe
from tiler.raster.reader import Pixels, SceneReader

DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"]


def read_all(
    path: Path,
    indexes: Sequence[int],
    nodata: float | None = None,
    rule: InvalidRule = "all",
) -> Pixels:
    scene = describe(path)
    whole = Window(0, 0, scene.height, scene.width)
    with SceneReader(path, indexes, nodata, rule) as reader:
        return reader.read(whole)


def invalid(pixels: Pixels) -> NDArray[np.bool_]:
    return np.zeros(pixels.bands.shape[1:], bool) if pixels.invalid is None else pixels.invalid


def numbers(dtype: str, count: int = 3, low: float = 1, high: float = 100) -> NDArray[Any]:
    values = np.random.default_rng(7).integers(int(low), int(high), (count, 37, 53))
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleave", ["pixel", "band"])
@pytest.mark.parametrize("block", [None, 16])
def test_pixels_come_as_they_are_in_the_file(make_raster, dtype, interleave, block):
    pixels = numbers(dtype)
    path = make_raster(pixels, interleave=interleave, block=block, compress="deflate")
    read = read_all(path, (3, 1))
    assert read.bands.dtype == dtype
    assert np.array_equal(read.bands, pixels[[2, 0]])
    assert read.invalid is None


@pytest.mark.parametrize(
    ("dtype", "nodata"),
    [(d, n) for d in DTYPES for n in (0, 100, -100) if n >= 0 or not d.startswith("u")],
)
@pytest.mark.parametrize("rule", ["all", "any"])
def test_a_pixel_is_invalid_where_all_or_any_bands_hold_nodata(make_raster, dtype, nodata, rule):
    pixels = numbers(dtype)
    pixels[0, :20] = nodata
    pixels[1, 10:30] = nodata
    pixels[2, 15:, :40] = nodata
    path = make_raster(pixels, nodata=nodata, block=16)
    every, some = (pixels == nodata).all(axis=0), (pixels == nodata).any(axis=0)
    assert every.any()
    assert not np.array_equal(every, some)
    assert np.array_equal(
        invalid(read_all(path, (1, 2, 3), rule=rule)), {"all": every, "any": some}[rule]
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("rule", ["all", "any"])
def test_a_pixel_with_nan_in_any_band_is_invalid_tagged_or_not(make_raster, dtype, tagged, rule):
    pixels = numbers(dtype)
    pixels[1, 3:9, 4:40] = np.nan
    pixels[0, 5:20, 1] = np.inf
    path = make_raster(pixels, nodata=np.nan if tagged else None)
    truth = ~np.isfinite(pixels).all(axis=0)
    assert np.array_equal(invalid(read_all(path, (1, 2, 3), rule=rule)), truth)


def test_a_nan_in_a_band_that_is_not_read_does_not_matter(make_raster):
    pixels = numbers("float32")
    pixels[1] = np.nan
    assert read_all(make_raster(pixels), (1, 3)).invalid is None


def test_stray_nans_count_beside_a_nodata_value(make_raster):
    pixels = numbers("float32", count=1)
    pixels[0, :5] = 0
    pixels[0, 20, 20] = np.nan
    truth = (pixels[0] == 0) | np.isnan(pixels[0])
    assert np.array_equal(invalid(read_all(make_raster(pixels, nodata=0), (1,))), truth)


@pytest.mark.parametrize("nodata", [0.1, -3.4e38, -9999.0, 1e20, np.finfo("float32").min])
def test_a_float_nodata_is_matched_as_gdal_does_it(make_raster, nodata):
    pixels = numbers("float32", count=1)
    pixels[0, ::2] = np.float32(nodata)
    pixels[0, 1, :10] = np.nextafter(np.float32(nodata), np.float32(0))
    path = make_raster(pixels, nodata=nodata)
    with rasterio.open(path) as file:
        truth = file.read_masks(1) == 0
    assert truth[::2].all()
    assert np.array_equal(invalid(read_all(path, (1,))), truth)


@pytest.mark.parametrize(
    ("dtype", "gdal"), [("uint8", "Byte"), ("uint16", "UInt16"), ("int16", "Int16")]
)
@pytest.mark.parametrize("nodata", ["-70000", "70000", "nan"])
def test_a_nodata_that_the_dtype_cannot_hold_masks_nothing(
    make_raster, make_vrt, dtype, gdal, nodata
):
    pixels = numbers(dtype, count=1, low=0)
    make_raster(pixels, "band.tif")
    path = make_vrt([[("band.tif", 1, 0, 53)]], 37, 53, dtype=gdal, nodata=[nodata])
    assert read_all(path, (1,)).invalid is None


@pytest.mark.parametrize("mask_file", [False, True])
@pytest.mark.parametrize("rule", ["all", "any"])
def test_a_mask_of_the_file_counts_for_all_bands(make_raster, mask_file, rule):
    pixels = numbers("uint16", low=0)
    valid = np.random.default_rng(3).random((37, 53)) > 0.3
    path = make_raster(pixels, mask=valid, mask_file=mask_file, block=16)
    assert path.with_name("scene.tif.msk").exists() == mask_file
    assert np.array_equal(invalid(read_all(path, (2, 3), rule=rule)), ~valid)


def test_a_mask_file_is_found_where_gdal_is_told_not_to_look_for_it(make_raster, monkeypatch):
    monkeypatch.setenv("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR")
    valid = np.zeros((37, 53), bool)
    path = make_raster(numbers("uint8"), mask=valid, mask_file=True)
    assert invalid(read_all(path, (1,))).all()


def test_a_mask_of_the_file_wins_over_its_nodata_value(make_raster):
    pixels = numbers("uint8", low=0, high=5)
    valid = np.random.default_rng(3).random((37, 53)) > 0.3
    path = make_raster(pixels, mask=valid, nodata=0)
    assert np.array_equal(invalid(read_all(path, (1, 2, 3), rule="any")), ~valid)


def rgba(make_raster, dtype: str = "uint8") -> tuple[Path, NDArray[Any]]:
    pixels = numbers(dtype, count=4)
    pixels[3, 5:20, 10:30] = 0
    path = make_raster(
        pixels, photometric="RGB", ALPHA="YES", colors=["red", "green", "blue", "alpha"]
    )
    return path, pixels


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_an_alpha_band_that_is_not_read_is_a_mask(make_raster, dtype):
    path, pixels = rgba(make_raster, dtype)
    assert np.array_equal(invalid(read_all(path, (1, 2, 3))), pixels[3] == 0)


@pytest.mark.parametrize("rule", ["all", "any"])
def test_an_alpha_band_that_is_read_is_data(make_raster, rule):
    path, pixels = rgba(make_raster)
    read = read_all(path, (1, 2, 3, 4), rule=rule)
    assert read.invalid is None
    assert np.array_equal(read.bands, pixels)


def test_bands_of_a_vrt_may_have_nodata_values_of_their_own(make_raster, make_vrt):
    pixels = numbers("uint16", count=2)
    pixels[0, :20] = 7
    pixels[1, 10:] = 9
    make_raster(pixels, "bands.tif")
    path = make_vrt([[("bands.tif", 1, 0, 53)], [("bands.tif", 2, 0, 53)]], 37, 53, nodata=[7, 9])
    first, second = pixels[0] == 7, pixels[1] == 9
    assert np.array_equal(invalid(read_all(path, (1, 2))), first & second)
    assert np.array_equal(invalid(read_all(path, (1, 2), rule="any")), first | second)


def test_nodata_values_given_for_all_bands_together_are_one_mask(make_raster):
    pixels = numbers("uint8", low=0, high=3)
    path = make_raster(pixels, tags={"NODATA_VALUES": "0 1 2"})
    truth = (pixels == np.array([0, 1, 2])[:, None, None]).all(axis=0)
    assert truth.any()
    assert np.array_equal(invalid(read_all(path, (1,))), truth)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tagged", [None, 3])
def test_the_jobs_nodata_replaces_the_files(make_raster, dtype, tagged):
    pixels = numbers(dtype, high=6)
    path = make_raster(pixels, nodata=tagged)
    read = read_all(path, (1, 2), nodata=5)
    assert np.array_equal(invalid(read), (pixels[:2] == 5).all(axis=0))


def test_the_jobs_nodata_replaces_nodata_values_given_for_all_bands_together(make_raster):
    pixels = numbers("uint8", low=0, high=3)
    path = make_raster(pixels, tags={"NODATA_VALUES": "0 1 2"})
    read = read_all(path, (1, 2, 3), nodata=2)
    assert np.array_equal(invalid(read), (pixels == 2).all(axis=0))


def test_the_jobs_nodata_leaves_the_files_mask_in_force(make_raster):
    pixels = numbers("uint8", high=4)
    valid = np.random.default_rng(3).random((37, 53)) > 0.3
    path = make_raster(pixels, mask=valid, nodata=1)
    read = read_all(path, (1, 2), nodata=2)
    assert np.array_equal(invalid(read), (pixels[:2] == 2).all(axis=0) | ~valid)


def test_nan_as_the_jobs_nodata_masks_nothing_of_whole_numbers(make_raster):
    assert read_all(make_raster(numbers("int16")), (1,), nodata=float("nan")).invalid is None


def test_a_float64_beyond_what_the_model_can_hold_is_invalid(make_raster):
    pixels = numbers("float64", count=1)
    pixels[0, 4, 5] = 1e300
    read = read_all(make_raster(pixels), (1,))
    assert np.argwhere(invalid(read)).tolist() == [[4, 5]]


def test_bands_of_different_dtypes_come_in_one_that_holds_both(tmp_path, make_raster):
    make_raster(numbers("uint16", count=1), "counts.tif")
    make_raster(numbers("float32", count=1) + np.float32(0.5), "index.tif")
    bands = "".join(
        f'<VRTRasterBand dataType="{dtype}" band="{i}"><SimpleSource><SourceFilename '
        f'relativeToVRT="1">{name}</SourceFilename></SimpleSource></VRTRasterBand>'
        for i, dtype, name in ((1, "UInt16", "counts.tif"), (2, "Float32", "index.tif"))
    )
    path = tmp_path / "stack.vrt"
    path.write_text(f'<VRTDataset rasterXSize="53" rasterYSize="37">{bands}</VRTDataset>')
    read = read_all(path, (1, 2))
    assert read.bands.dtype == np.float32
    assert np.array_equal(read.bands[1] - read.bands[0], np.full((37, 53), 0.5, "float32"))
