"""Cores partition the scene, and each pixel belongs to a nearest tile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiler.errors import OverlapError
from tiler.grid.tiles import Grid

sizes = st.integers(1, 30)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    size_px = draw(st.integers(1, 16))
    overlap_px = draw(st.integers(0, size_px - 1))
    return Grid(draw(sizes), draw(sizes), size_px, overlap_px)


def owners(grid: Grid) -> np.ndarray:
    """Times each pixel is in a core, and the tile that owns it last."""
    count = np.zeros((grid.height, grid.width), int)
    for tile in grid:
        count[tile.core.slices] += 1
    return count


@given(grids())
def test_each_pixel_is_in_one_core(grid: Grid) -> None:
    assert (owners(grid) == 1).all()


@given(grids())
def test_tiles_lie_inside_the_scene_and_have_full_size_where_it_is_large_enough(grid: Grid) -> None:
    for tile in grid:
        assert grid.scene.contains(tile.window)
        assert tile.window.height == min(grid.size_px, grid.height)
        assert tile.window.width == min(grid.size_px, grid.width)


@given(grids())
def test_a_core_lies_inside_its_tile(grid: Grid) -> None:
    assert all(tile.window.contains(tile.core) for tile in grid)


@given(grids())
def test_the_owner_of_a_pixel_is_a_nearest_tile(grid: Grid) -> None:
    rows = {t.window.row + t.window.height / 2 for t in grid}
    cols = {t.window.col + t.window.width / 2 for t in grid}
    for tile in grid:
        window, core = tile.window, tile.core
        for row in range(core.row, core.row_stop):
            own = abs(window.row + window.height / 2 - row - 0.5)
            assert own == min(abs(centre - row - 0.5) for centre in rows)
        for col in range(core.col, core.col_stop):
            own = abs(window.col + window.width / 2 - col - 0.5)
            assert own == min(abs(centre - col - 0.5) for centre in cols)


@given(grids())
def test_a_core_inside_the_scene_has_the_margin_around_it(grid: Grid) -> None:
    for tile in grid:
        window, core = tile.window, tile.core
        if window.row > 0:
            assert core.row - window.row >= grid.margin_px
        if window.row_stop < grid.height:
            assert window.row_stop - core.row_stop >= grid.margin_px


@given(grids())
def test_no_fewer_tiles_would_cover_the_scene(grid: Grid) -> None:
    if grid.height > grid.size_px:
        assert (grid.rows - 2) * grid.stride_px + grid.size_px < grid.height
        assert (grid.rows - 1) * grid.stride_px + grid.size_px >= grid.height


def test_the_last_tile_is_moved_inward_to_the_edge() -> None:
    grid = Grid(1000, 768, 768, 128)
    assert [t.window.row for t in grid] == [0, 232]
    assert [t.core.row_stop for t in grid] == [500, 1000]


def test_a_scene_smaller_than_a_tile_has_one_tile() -> None:
    grid = Grid(5, 9, 768, 128)
    (tile,) = grid
    assert tile.window == tile.core == grid.scene


@pytest.mark.parametrize("overlap_px", [-1, 768, 800])
def test_an_overlap_that_leaves_no_stride_is_refused(overlap_px: int) -> None:
    with pytest.raises(OverlapError, match=f"overlap {overlap_px} is not within 0 to 767"):
        Grid(1000, 1000, 768, overlap_px)
