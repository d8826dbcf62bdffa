"""The stitcher puts each core where it belongs, once."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiler.grid.parts import split_into_parts
from tiler.grid.tiles import Grid
from tiler.pixels.legend import LabelClass, Legend
from tiler.pixels.stitch import CoverageError, Stitcher


def legend(classes: int = 8) -> Legend:
    return Legend(tuple(LabelClass(i, f"class {i}", (i % 256, 0, 0)) for i in range(classes)))


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 11), st.randoms())
def test_tiles_cut_from_a_scene_and_stitched_in_any_order_give_the_scene(
    height: int, width: int, overlap_px: int, order: random.Random
) -> None:
    grid = Grid(height, width, 12, overlap_px)
    scene = np.random.default_rng(height * 61 + width).integers(0, 8, (height, width))
    invalid = scene == 3
    result = np.zeros((height, width), np.uint8)
    for part in split_into_parts(grid, "squares", 4):
        stitcher = Stitcher(part, legend())
        tiles = [t for row in part.tile_rows for t in row]
        order.shuffle(tiles)
        for tile in tiles:
            stitcher.place(tile, scene[tile.window.slices], invalid[tile.window.slices])
        result[part.core.slices] = stitcher.finish()
    assert (result == np.where(invalid, 255, scene)).all()


def test_labels_beyond_a_small_scene_are_cut_off() -> None:
    (part,) = split_into_parts(Grid(2, 3, 4, 0), "squares")
    stitcher = Stitcher(part, legend())
    stitcher.place(part.tile_rows[0][0], np.arange(16).reshape(4, 4) % 8, None)
    assert stitcher.finish().tolist() == [[0, 1, 2], [4, 5, 6]]


def test_a_skipped_tile_is_nodata() -> None:
    (part,) = split_into_parts(Grid(2, 2, 4, 0), "squares")
    stitcher = Stitcher(part, legend())
    stitcher.skip(part.tile_rows[0][0])
    assert (stitcher.finish() == 255).all()


def test_a_tile_that_is_missing_is_never_zeros() -> None:
    (part,) = split_into_parts(Grid(8, 4, 4, 0), "squares")
    stitcher = Stitcher(part, legend())
    stitcher.skip(part.tile_rows[0][0])
    with pytest.raises(CoverageError, match="1 tile"):
        stitcher.finish()


def test_a_tile_that_comes_twice_is_refused() -> None:
    (part,) = split_into_parts(Grid(8, 4, 4, 0), "squares")
    stitcher = Stitcher(part, legend())
    stitcher.skip(part.tile_rows[0][0])
    with pytest.raises(CoverageError, match="twice"):
        stitcher.place(part.tile_rows[0][0], np.zeros((4, 4), np.int64), None)


def test_more_than_254_classes_need_uint16() -> None:
    assert (legend(255).dtype, legend(255).nodata) == (np.uint8, 255)
    assert (legend(256).dtype, legend(256).nodata) == (np.uint16, 65535)
    with_255 = Legend((LabelClass(255, "x", (0, 0, 0)),))
    assert (with_255.dtype, with_255.nodata) == (np.uint16, 65535)


@pytest.mark.parametrize("label", [-1, 8, 255, 300])
def test_a_label_that_is_no_class_is_found(label: int) -> None:
    labels = np.zeros((4, 4), np.int64)
    labels[1, 2] = label
    assert legend().unknown(labels) == [label]


def test_labels_of_a_legend_with_gaps_are_known() -> None:
    gaps = Legend((LabelClass(2, "a", (0, 0, 0)), LabelClass(7, "b", (0, 0, 0))))
    assert gaps.unknown(np.array([[2, 7]])) == []
    assert gaps.unknown(np.array([[2, 3]])) == [3]
