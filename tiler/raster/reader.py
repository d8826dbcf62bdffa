"""A scene's pixels and their validity, window by window, each block decoded once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rasterio.windows import Window as RasterioWindow

from tiler.errors import SceneError
from tiler.grid.window import Window
from tiler.pixels.validity import InvalidRule, invalid_by_rule, not_finite
from tiler.raster.env import CACHE_BYTES, gdal_env
from tiler.raster.masks import SceneMasks
from tiler.raster.opening import GDAL_ERRORS, open_raster, reason, told

# Pixels are read in strips of whole rows of blocks, at least this high: low enough for a
# strip's blocks to stay in GDAL's cache until its masks are read, high enough for the calls
# to cost nothing.
STRIP_ROWS = 256


@dataclass(frozen=True)
class Pixels:
    """Pixels of one window.

    `bands`: [band, height, width] in the file's dtype; `invalid`: bool [height, width], True
    where a pixel has no data, None where all have.
    """

    bands: NDArray[np.generic]
    invalid: NDArray[np.bool_] | None


class SceneReader:
    """Reads the bands `indexes` (1-based) of a scene; a context manager.

    To be entered in the thread that reads. `nodata`, where given, replaces the file's nodata
    values; `rule` says whether a pixel is invalid where all its bands are or where any is.

    Memory: the arrays that are returned, a strip of masks, and GDAL's block cache of
    `cache_bytes`. Blocks are decoded once if the cache holds one row of blocks as wide as the
    windows: block height (at least 256) x width x bytes per pixel of all bands that the file
    interleaves.
    """

    def __init__(
        self,
        path: Path,
        indexes: Sequence[int],
        nodata: float | None,
        rule: InvalidRule,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._path = path
        self._indexes = tuple(indexes)
        self._nodata = nodata
        self._rule = rule
        self._cache_bytes = cache_bytes
        self._stack = ExitStack()
        self._failure: str | None = None

    def __enter__(self) -> SceneReader:
        """Raises SceneError where the scene cannot be opened or has too few bands."""
        with ExitStack() as stack:
            stack.enter_context(gdal_env(self._cache_bytes))
            self._dataset: Any = stack.enter_context(open_raster(self._path))
            count = self._dataset.count
            if max(self._indexes) > count:
                raise SceneError(
                    f"{told(self._path)}: has {count} bands, not band {max(self._indexes)}"
                )
            dtypes = {self._dataset.dtypes[i - 1] for i in self._indexes}
            self._dtype = np.result_type(*dtypes)
            self._one_dtype = len(dtypes) == 1
            self._masks = SceneMasks(self._dataset, self._indexes, self._nodata)
            block_rows = self._dataset.block_shapes[self._indexes[0] - 1][0]
            self._strip_rows = block_rows * max(STRIP_ROWS // block_rows, 1)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def read(self, window: Window) -> Pixels:
        """The pixels of a window that lies inside the scene.

        Raises SceneError that names the window where a block of it cannot be read.
        """
        return next(self.rows([window]))

    def rows(self, windows: Iterable[Window]) -> Iterator[Pixels]:
        """The pixels of each window, from top to bottom, such as a part's rows of tiles.

        Where a window overlaps the one before it and has the same columns, the shared rows are
        copied from memory, so that the file's are read once.

        Raises SceneError that names the rows and columns where a block cannot be read; from
        then on, every read raises it again.
        """
        before: tuple[Window, Pixels] | None = None
        for window in windows:
            bands = np.empty((len(self._indexes), window.height, window.width), self._dtype)
            invalid: NDArray[np.bool_] | None = None
            shared = _shared_rows(before[0], window) if before else 0
            if before and shared:
                bands[:, :shared] = before[1].bands[:, -shared:]
                if before[1].invalid is not None and before[1].invalid[-shared:].any():
                    invalid = np.zeros(bands.shape[1:], bool)
                    invalid[:shared] = before[1].invalid[-shared:]
            for strip in self._strips(window, shared):
                rows = strip.within(window).slices[0]
                found = self._read_strip(strip, bands[:, rows])
                if found is not None:
                    invalid = np.zeros(bands.shape[1:], bool) if invalid is None else invalid
                    invalid[rows] = found
            pixels = Pixels(bands, invalid)
            before = (window, pixels)
            yield pixels

    def _strips(self, window: Window, shared: int) -> Iterator[Window]:
        """Whole rows of blocks, from below the first `shared` rows of the window."""
        row = window.row + shared
        while row < window.row_stop:
            stop = min((row // self._strip_rows + 1) * self._strip_rows, window.row_stop)
            yield Window(row, window.col, stop - row, window.width)
            row = stop

    def _read_strip(self, strip: Window, bands: NDArray[np.generic]) -> NDArray[np.bool_] | None:
        """Fill `bands` ([band, strip's height, width]); returns where pixels are invalid."""
        if self._failure is not None:
            raise SceneError(self._failure)
        window = RasterioWindow(strip.col, strip.row, strip.width, strip.height)
        try:
            if self._one_dtype:
                self._dataset.read(self._indexes, window=window, out=bands)
            else:
                for band, index in zip(bands, self._indexes, strict=True):
                    self._dataset.read(index, window=window, out=band)
            masked = invalid_by_rule(self._masks.bands(bands, window), self._rule)
        except GDAL_ERRORS as error:
            # GDAL tells once: read again, a VRT whose source is gone is zeros without an error.
            self._failure = f"{told(self._path)}: cannot be read at {strip}: {reason(error)}"
            raise SceneError(self._failure) from error
        strange = not_finite(bands)
        if masked is None or strange is None:
            return strange if masked is None else masked
        return masked | strange


def _shared_rows(before: Window, window: Window) -> int:
    """How many of a window's first rows are the last of the window before it."""
    same_columns = (before.col, before.width) == (window.col, window.width)
    if not same_columns or not before.row <= window.row:
        return 0
    return max(min(before.row_stop, window.row_stop) - window.row, 0)
