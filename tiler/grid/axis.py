"""Tiles along one axis of a scene: where each starts, and which pixels it owns."""

from __future__ import annotations

from itertools import pairwise

from tiler.errors import OverlapError


def tile_starts(length_px: int, size_px: int, overlap_px: int) -> list[int]:
    """First pixels of the tiles that cover an axis of `length_px` pixels.

    Neighbours share `overlap_px` pixels. The last tile is moved inward so as to end at the
    axis's end; where the axis is no longer than a tile, one tile starts at 0.

    Raises OverlapError if `overlap_px` leaves no stride.
    """
    if not 0 <= overlap_px < size_px:
        raise OverlapError(f"overlap {overlap_px} is not within 0 to {size_px - 1} (tile size - 1)")
    stride_px = size_px - overlap_px
    last = max(length_px - size_px, 0)
    count = -(-last // stride_px) + 1
    return [min(i * stride_px, last) for i in range(count)]


def core_bounds(starts: list[int], length_px: int, size_px: int) -> list[int]:
    """Edges of the cores of tiles that start at `starts`: core i is [edges[i], edges[i + 1]).

    A pixel belongs to the tile whose centre is nearest; at equal distance, to the later one.
    The edge between two tiles is the middle between their centres, rounded down.
    """
    inner = [(a + b + size_px) // 2 for a, b in pairwise(starts)]
    return [0, *inner, length_px]
