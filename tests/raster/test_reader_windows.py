"""Windows, rows of tiles and errors of a reader."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiler.errors import SceneError
from tiler.grid.parts import split_into_parts
from tiler.grid.tiles import Grid
from tiler.grid.window import Window
from tiler.raster import reader as reader_module
from tiler.raster.reader import SceneReader


def scene_pixels(height: int, width: int) -> np.ndarray:
    pixels = np.random.default_rng(height).integers(0, 4, (2, height, width)).astype("uint16")
    pixels[:, : height // 3, : width // 2] = 0
    return pixels


def test_a_window_holds_its_rows_and_columns_and_no_others(make_raster):
    pixels = scene_pixels(50, 70)
    path = make_raster(pixels, nodata=0, block=16)
    window = Window(5, 33, 20, 30)
    with SceneReader(path, (2,), None, "all") as reader:
        read = reader.read(window)
    assert np.array_equal(read.bands[0], pixels[1][window.slices])
    assert np.array_equal(read.invalid, pixels[1][window.slices] == 0)


@pytest.mark.parametrize("layout", [{"block": 16}, {"blockysize": 7}, {"blockysize": 1}])
@given(
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    size=st.integers(2, 40),
    overlap=st.integers(0, 39),
    strip_rows=st.sampled_from([1, 16, 256]),
)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_rows_of_tiles_hold_the_same_as_each_window_read_alone(
    make_raster, layout, height, width, size, overlap, strip_rows
):
    pixels = scene_pixels(height, width)
    path = make_raster(pixels, nodata=0, **layout)
    grid = Grid(height, width, size, min(overlap, size - 1))
    masked = (pixels == 0).all(axis=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader_module, "STRIP_ROWS", strip_rows)
        for part in split_into_parts(grid, "squares", 9):
            windows = [across(row) for row in part.tile_rows]
            with SceneReader(path, (1, 2), None, "all") as reader:
                for window, read in zip(windows, reader.rows(windows), strict=True):
                    assert np.array_equal(read.bands, pixels[(slice(None), *window.slices)])
                    here = masked[window.slices]
                    assert (read.invalid is None) == (not here.any())
                    assert read.invalid is None or np.array_equal(read.invalid, here)


def across(row) -> Window:
    first, last = row[0].window, row[-1].window
    return Window(first.row, first.col, first.height, last.col_stop - first.col)


@pytest.mark.parametrize("layout", [{"block": 16}, {"blockysize": 8}, {"block": 32, "nodata": 0.5}])
def test_each_row_of_the_file_is_asked_for_once(make_raster, layout, monkeypatch):
    path = make_raster(scene_pixels(200, 40).astype("float32"), **layout)
    asked: list[Window] = []
    read_strip = SceneReader._read_strip

    def spy(self, strip, bands):
        asked.append(strip)
        return read_strip(self, strip, bands)

    monkeypatch.setattr(SceneReader, "_read_strip", spy)
    monkeypatch.setattr(reader_module, "STRIP_ROWS", 16)
    windows = [Window(row, 0, 60, 40) for row in (0, 45, 90, 140)]
    with SceneReader(path, (1, 2), None, "all") as reader:
        list(reader.rows(windows))
    assert asked[0].row == 0
    assert asked[-1].row_stop == 200
    assert all(above.row_stop == below.row for above, below in pairwise(asked))


@pytest.mark.parametrize("block", [32, None])
def test_each_block_is_decoded_once_in_a_cache_of_one_row_of_blocks(make_raster, block):
    height, width, rows = 480, 640, 32
    pixels = np.random.default_rng(0).random((2, height, width)).astype("float32")
    layout = {"block": block} if block else {"blockysize": rows}
    path = make_raster(pixels, nodata=-1, compress="deflate", **layout)
    windows = [Window(row, 0, 80, width) for row in range(0, 401, 50)]
    strip = max(rows, reader_module.STRIP_ROWS) * width * 2 * 4
    with SceneReader(path, (1, 2), None, "any", cache_bytes=strip + strip // 4) as reader:
        before = bytes_read()
        list(reader.rows(windows))
        assert bytes_read() - before < 1.05 * path.stat().st_size


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text(encoding="ascii").split()[1])


def test_bands_come_in_the_order_asked_for(make_raster):
    pixels = scene_pixels(20, 30)
    with SceneReader(make_raster(pixels), (2, 1, 2), None, "all") as reader:
        assert np.array_equal(reader.read(Window(0, 0, 20, 30)).bands, pixels[[1, 0, 1]])


def test_a_band_that_is_not_there_is_told(make_raster):
    path = make_raster(scene_pixels(20, 30))
    with (
        pytest.raises(SceneError, match=rf"^{path}: has 2 bands, not band 3$"),
        SceneReader(path, (1, 3), None, "all"),
    ):
        pass


def test_a_damaged_block_fails_with_its_place_and_gdals_reason(make_raster):
    pixels = np.random.default_rng(0).integers(0, 9000, (2, 128, 128)).astype("uint16")
    path = make_raster(pixels, block=64, compress="deflate")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 500] = b"\xff" * 500
    path.write_bytes(data)
    with SceneReader(path, (1, 2), None, "all") as reader:
        for _ in range(2):
            with pytest.raises(SceneError) as told:
                reader.read(Window(10, 20, 110, 100))
            message = str(told.value)
            assert message.startswith(
                f"{path}: cannot be read at rows 10 to 119, columns 20 to 119: "
            )
            assert "ZIPDecode" in message
            assert "\n" not in message


def test_a_truncated_file_fails_where_its_pixels_end(make_raster):
    path = make_raster(scene_pixels(512, 64), blockysize=16)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with SceneReader(path, (1,), None, "all") as reader:
        assert reader.read(Window(0, 0, 16, 64)).bands.shape == (1, 16, 64)
        with pytest.raises(
            SceneError, match=r"cannot be read at rows 496 to 511, columns 0 to 63: "
        ):
            reader.read(Window(496, 0, 16, 64))


def test_a_hole_in_a_vrt_stays_an_error_however_often_it_is_read(make_raster, make_vrt):
    make_raster(scene_pixels(20, 30), "left.tif")
    path = make_vrt([[("left.tif", 1, 0, 30), ("gone.tif", 1, 30, 30)]], 20, 60)
    with SceneReader(path, (1,), None, "all") as reader:
        for _ in range(3):
            with pytest.raises(SceneError, match=r"scene\.vrt: cannot be read at .*gone\.tif"):
                reader.read(Window(0, 10, 20, 50))
