"""A part's way through a device worker: read → prepare → infer → stitch."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.errors import DeviceError, SceneError
from tiler.grid.parts import Part
from tiler.grid.tiles import Tile
from tiler.grid.window import Window
from tiler.infer.session import Session
from tiler.pixels.legend import Legend
from tiler.pixels.prepare import Normalisation, model_tile
from tiler.pixels.stitch import Stitcher
from tiler.pixels.validity import InvalidRule
from tiler.raster.reader import SceneReader
from tiler.run.read_ahead import read_ahead

# Prepared tiles that wait for the device: 4 x 768 x 768 x 4 bytes = 9 MB each.
TILES_AHEAD = 4
PROGRESS_INTERVAL_S = 0.5


@dataclass(frozen=True)
class SceneWork:
    """What a worker must know of a scene."""

    path: Path
    indexes: tuple[int, ...]
    nodata: float | None
    rule: InvalidRule
    normalisation: Normalisation
    legend: Legend


@dataclass(frozen=True)
class PartLabels:
    """A part's labels ([core height, core width]), and how many tiles were run and skipped."""

    labels: NDArray[np.unsignedinteger[Any]]
    tiles: int
    tiles_skipped: int


@dataclass(frozen=True)
class PreparedTile:
    """A tile ready for the model; `values` is None where its core has no valid pixel."""

    tile: Tile
    invalid: NDArray[np.bool_] | None
    values: NDArray[np.float32] | None


def label_part(
    scene: SceneWork, part: Part, session: Session, progress: Callable[[int], None]
) -> PartLabels:
    """Label one part; `progress` is told how many tiles were done.

    Raises SceneError if pixels can't be read or the model answers a class that its card lacks,
    DeviceError if the device fails; both name the pixels.
    """
    stitcher = Stitcher(part, scene.legend)
    done = _Progress(progress)
    skipped = 0
    waiting: list[PreparedTile] = []

    def label_waiting() -> None:
        if waiting:
            _label(scene, waiting, session, stitcher)
            done.add(len(waiting))
            waiting.clear()

    with read_ahead(prepare_tiles(scene, part), TILES_AHEAD) as tiles:
        for prepared in tiles:
            if prepared.values is None:
                stitcher.skip(prepared.tile)
                skipped += 1
                done.add(1)
                continue
            waiting.append(prepared)
            if len(waiting) == session.batch:
                label_waiting()
        label_waiting()
    done.flush()
    return PartLabels(stitcher.finish(), len(part) - skipped, skipped)


def prepare_tiles(scene: SceneWork, part: Part) -> Generator[PreparedTile, None, None]:
    """The part's tiles, row by row, read from the file and ready for the model."""
    size_px = part.grid.size_px
    for tile, bands, invalid in _read_tiles(scene, part):
        if _is_empty(tile, invalid):
            yield PreparedTile(tile, invalid, None)
        else:
            values = model_tile(bands, invalid, scene.normalisation, size_px)
            yield PreparedTile(tile, invalid, values)


def count_empty_tiles(scene: SceneWork, part: Part) -> int:
    """How many of the part's tiles have no valid pixel in their cores, and would not be run."""
    return sum(_is_empty(tile, invalid) for tile, _, invalid in _read_tiles(scene, part))


def _read_tiles(
    scene: SceneWork, part: Part
) -> Iterator[tuple[Tile, NDArray[np.generic], NDArray[np.bool_] | None]]:
    rows = part.tile_rows
    windows = [_across(row) for row in rows]
    with SceneReader(scene.path, scene.indexes, scene.nodata, scene.rule) as reader:
        for row, window, pixels in zip(rows, windows, reader.rows(windows), strict=True):
            for tile in row:
                here = tile.window.within(window).slices
                invalid = None if pixels.invalid is None else pixels.invalid[here]
                yield tile, pixels.bands[:, here[0], here[1]], invalid


def _is_empty(tile: Tile, invalid: NDArray[np.bool_] | None) -> bool:
    return invalid is not None and bool(invalid[tile.core.within(tile.window).slices].all())


def _label(
    scene: SceneWork, tiles: list[PreparedTile], session: Session, stitcher: Stitcher
) -> None:
    values = [t.values for t in tiles if t.values is not None]
    try:
        labels = session.label(values[0][None] if len(values) == 1 else np.stack(values))
    except DeviceError as error:
        raise DeviceError(f"{tiles[0].tile.window}: {error}") from error
    for tile, tile_labels in zip(tiles, labels, strict=True):
        unknown = scene.legend.unknown(tile_labels)
        if unknown:
            raise SceneError(
                f"{scene.path}: the model answered label {unknown[0]} at {tile.tile.window}, "
                "which its card does not list among its classes"
            )
        stitcher.place(tile.tile, tile_labels, tile.invalid)


def _across(row: list[Tile]) -> Window:
    """The pixels that a row of tiles reads."""
    first, last = row[0].window, row[-1].window
    return Window(first.row, first.col, first.height, last.col_stop - first.col)


class _Progress:
    """Tells of tiles done, at most twice a second: each message costs the scheduler a little."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._count = 0
        self._told_at = time.monotonic()

    def add(self, count: int) -> None:
        self._count += count
        if time.monotonic() - self._told_at >= PROGRESS_INTERVAL_S:
            self.flush()

    def flush(self) -> None:
        if self._count:
            self._tell(self._count)
        self._count, self._told_at = 0, time.monotonic()
