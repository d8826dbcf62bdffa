"""The tiles of a scene and their cores, a pure function of (height, width, size, overlap)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tiler.grid.axis import core_bounds, tile_starts
from tiler.grid.window import Window


@dataclass(frozen=True, slots=True)
class Tile:
    """One input of the model.

    `window` lies inside the scene and is smaller than the model's tile only where the scene
    is; `core` is the part of it that this tile owns.
    """

    row_index: int
    col_index: int
    window: Window
    core: Window


@dataclass(frozen=True)
class Grid:
    """All tiles of a scene of `height` x `width` pixels.

    The cores partition the scene: each pixel belongs to one tile, the one whose centre is
    nearest. Tiles at the edge are moved inward, so that a model never sees padding inside a
    scene.

    Raises OverlapError if `overlap_px` leaves no stride.
    """

    height: int
    width: int
    size_px: int
    overlap_px: int

    def __post_init__(self) -> None:
        tile_starts(1, self.size_px, self.overlap_px)

    @property
    def stride_px(self) -> int:
        """Pixels from one tile's start to the next one's."""
        return self.size_px - self.overlap_px

    @property
    def margin_px(self) -> int:
        """Least context, in pixels, around a core inside the scene."""
        return self.overlap_px // 2

    @property
    def scene(self) -> Window:
        return Window(0, 0, self.height, self.width)

    @cached_property
    def _row_starts(self) -> list[int]:
        return tile_starts(self.height, self.size_px, self.overlap_px)

    @cached_property
    def _col_starts(self) -> list[int]:
        return tile_starts(self.width, self.size_px, self.overlap_px)

    @cached_property
    def _row_edges(self) -> list[int]:
        return core_bounds(self._row_starts, self.height, self.size_px)

    @cached_property
    def _col_edges(self) -> list[int]:
        return core_bounds(self._col_starts, self.width, self.size_px)

    @property
    def rows(self) -> int:
        """Number of rows of tiles."""
        return len(self._row_starts)

    @property
    def cols(self) -> int:
        """Number of columns of tiles."""
        return len(self._col_starts)

    def __len__(self) -> int:
        return self.rows * self.cols

    def tile(self, row_index: int, col_index: int) -> Tile:
        """The tile at a place in the grid; indexes count from 0."""
        row, col = self._row_starts[row_index], self._col_starts[col_index]
        window = Window(
            row, col, min(self.size_px, self.height - row), min(self.size_px, self.width - col)
        )
        return Tile(
            row_index,
            col_index,
            window,
            self.core(row_index, row_index + 1, col_index, col_index + 1),
        )

    def core(self, row_from: int, row_to: int, col_from: int, col_to: int) -> Window:
        """The rectangle that the cores of a block of tiles (half-open ranges) make up."""
        row, col = self._row_edges[row_from], self._col_edges[col_from]
        return Window(row, col, self._row_edges[row_to] - row, self._col_edges[col_to] - col)

    def __iter__(self) -> Iterator[Tile]:
        """Tiles row by row."""
        for i in range(self.rows):
            for j in range(self.cols):
                yield self.tile(i, j)
