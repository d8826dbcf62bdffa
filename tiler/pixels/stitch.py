"""Tiles' labels into a part's labels: each core written exactly once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.grid.parts import Part
from tiler.grid.tiles import Tile
from tiler.pixels.legend import Legend


class CoverageError(AssertionError):
    """A core was written twice or not at all: a bug of ours, never the user's."""


class Stitcher:
    """Collects the labels of one part's tiles, in any order."""

    def __init__(self, part: Part, legend: Legend) -> None:
        self._core = part.core
        self._missing = {(t.row_index, t.col_index) for row in part.tile_rows for t in row}
        shape = (self._core.height, self._core.width)
        self._labels: NDArray[np.unsignedinteger[Any]] = np.full(shape, legend.nodata, legend.dtype)

    def place(
        self, tile: Tile, labels: NDArray[np.integer[Any]], invalid: NDArray[np.bool_] | None
    ) -> None:
        """Write a tile's core.

        `labels` and `invalid` cover the tile's window ([height, width]) or more, below and on
        the right; invalid pixels keep nodata.
        """
        self._claim(tile)
        here = tile.core.within(tile.window).slices
        target = self._labels[tile.core.within(self._core).slices]
        if invalid is None:
            target[...] = labels[here]
        else:
            np.copyto(target, labels[here], casting="unsafe", where=~invalid[here])

    def skip(self, tile: Tile) -> None:
        """Leave a tile's core nodata: no pixel of it is valid."""
        self._claim(tile)

    def finish(self) -> NDArray[np.unsignedinteger[Any]]:
        """The part's labels ([core height, core width]).

        Raises CoverageError if a core was not written.
        """
        if self._missing:
            raise CoverageError(
                f"{len(self._missing)} tiles were not written: {min(self._missing)} …"
            )
        return self._labels

    def _claim(self, tile: Tile) -> None:
        key = (tile.row_index, tile.col_index)
        if key not in self._missing:
            raise CoverageError(f"tile {key} was written twice or belongs to another part")
        self._missing.remove(key)
