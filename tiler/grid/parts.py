"""Parts: groups of tiles whose cores form one rectangle, each the work of one task."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Literal

from tiler.grid.tiles import Grid, Tile
from tiler.grid.window import Window

PartShape = Literal["rows", "squares"]


@dataclass(frozen=True)
class Part:
    """A block of tiles of one grid (half-open ranges of tile rows and tile columns)."""

    index: int
    grid: Grid
    row_from: int
    row_to: int
    col_from: int
    col_to: int

    @property
    def core(self) -> Window:
        """The pixels that this part labels."""
        return self.grid.core(self.row_from, self.row_to, self.col_from, self.col_to)

    @property
    def window(self) -> Window:
        """The pixels that this part reads: its core and the context around it."""
        first = self.grid.tile(self.row_from, self.col_from).window
        last = self.grid.tile(self.row_to - 1, self.col_to - 1).window
        return Window(first.row, first.col, last.row_stop - first.row, last.col_stop - first.col)

    def __len__(self) -> int:
        return (self.row_to - self.row_from) * (self.col_to - self.col_from)

    @property
    def tile_rows(self) -> list[list[Tile]]:
        """The part's tiles, row by row."""
        return [
            [self.grid.tile(i, j) for j in range(self.col_from, self.col_to)]
            for i in range(self.row_from, self.row_to)
        ]


def split_into_parts(grid: Grid, shape: PartShape, tiles_per_part: int = 64) -> list[Part]:
    """Parts of at most `tiles_per_part` tiles that cover the grid, numbered row by row.

    `rows` makes parts as wide as the scene where that fits, for striped files, whose blocks
    are whole rows of pixels; `squares` makes square ones, for tiled files, so that the context
    that two parts both read is least. No part is ever wider than `tiles_per_part` tiles, which
    bounds what a worker holds in memory whatever the scene's size.
    """
    if shape == "rows":
        cols = min(grid.cols, tiles_per_part)
        rows = max(tiles_per_part // cols, 1)
    else:
        rows = cols = isqrt(tiles_per_part)
    row_edges = _even_edges(grid.rows, rows)
    col_edges = _even_edges(grid.cols, cols)
    blocks = [(r0, r1, c0, c1) for r0, r1 in pairwise(row_edges) for c0, c1 in pairwise(col_edges)]
    return [Part(index, grid, *block) for index, block in enumerate(blocks)]


def _even_edges(count: int, most: int) -> list[int]:
    """Edges that cut `count` into the fewest runs of at most `most`, as even as can be."""
    runs = -(-count // most)
    return [count * i // runs for i in range(runs + 1)]
