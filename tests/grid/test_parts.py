"""Parts cut a grid into rectangles of tiles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiler.grid.parts import PartShape, split_into_parts
from tiler.grid.tiles import Grid

shapes = st.sampled_from(["rows", "squares"])


@given(st.integers(1, 300), st.integers(1, 300), shapes, st.integers(1, 70))
def test_parts_partition_tiles_and_pixels(
    height: int, width: int, shape: PartShape, tiles_per_part: int
) -> None:
    grid = Grid(height, width, 12, 4)
    parts = split_into_parts(grid, shape, tiles_per_part)
    tiles = [(t.row_index, t.col_index) for p in parts for row in p.tile_rows for t in row]
    assert sorted(tiles) == [(i, j) for i in range(grid.rows) for j in range(grid.cols)]
    covered = np.zeros((height, width), int)
    for part in parts:
        covered[part.core.slices] += 1
        assert len(part) <= tiles_per_part
    assert (covered == 1).all()
    assert [p.index for p in parts] == list(range(len(parts)))


@given(st.integers(1, 300), st.integers(1, 300), shapes)
def test_a_part_reads_the_windows_of_its_tiles_and_nothing_else(
    height: int, width: int, shape: PartShape
) -> None:
    for part in split_into_parts(Grid(height, width, 12, 4), shape, 9):
        tiles = [t.window for row in part.tile_rows for t in row]
        assert all(part.window.contains(w) for w in tiles)
        assert part.window.row == min(w.row for w in tiles)
        assert part.window.row_stop == max(w.row_stop for w in tiles)
        assert part.window.col == min(w.col for w in tiles)
        assert part.window.col_stop == max(w.col_stop for w in tiles)
        assert part.window.contains(part.core)


def test_parts_of_a_striped_scene_are_as_wide_as_the_scene() -> None:
    parts = split_into_parts(Grid(16384, 16384, 768, 128), "rows")
    assert {(p.core.col, p.core.width) for p in parts} == {(0, 16384)}


def test_parts_of_a_very_wide_striped_scene_stay_bounded() -> None:
    parts = split_into_parts(Grid(768, 1_000_000, 768, 128), "rows")
    assert max(len(p) for p in parts) <= 64


def test_parts_of_a_tiled_scene_are_squares_of_about_64_tiles() -> None:
    parts = split_into_parts(Grid(40_000, 40_000, 768, 128), "squares")
    assert {len(p.tile_rows) for p in parts} <= {7, 8}
    assert {len(p.tile_rows[0]) for p in parts} <= {7, 8}
