"""From a scene's parts to its label map: a Cloud Optimized GeoTIFF, read back before it counts."""

from __future__ import annotations

import errno
import os
import shutil
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import ParseError, parse

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.io import DatasetReader, MemoryFile
from rasterio.shutil import copy
from rasterio.windows import Window as RasterioWindow

from tiler.errors import SceneError
from tiler.grid.window import Window
from tiler.raster.durable import unwritable
from tiler.raster.env import gdal_env
from tiler.raster.mosaic import LabelMap, check_coverage, mosaic_vrt
from tiler.raster.opening import GDAL_ERRORS, reason
from tiler.raster.spool import PartFile, is_whole

__all__ = ["LabelMap", "assemble", "verify"]

BLOCK_PX = 512
# Measured with 16 to 128 MiB for 4 to 900 Mpx: more makes assembly larger and no faster.
CACHE_BYTES = 32 * 2**20
# np.bincount makes 8 bytes of each label.
COUNTED_AT_ONCE = 2**20
# On labels, zstd's level 9 takes six times level 1's time to save a sixth of its bytes;
# deflate's level 6 saves more, and who asks for deflate has asked for slow and small.
LEVELS = {"zstd": {"level": 1}, "deflate": {"level": 6}, "lzw": {}, "none": {}}


def assemble(
    parts: Sequence[PartFile], label_map: LabelMap, target: Path, threads: int = 2
) -> None:
    """Write the label map as a COG at `target`, and its class names in `target`.aux.xml.

    Overviews are by mode, each level of the one below: an overview pixel is the most frequent
    class of the four pixels that it stands for, and nodata only where all of them are.
    `threads` is how many compress. Memory is bounded by GDAL's block cache and the files that
    it holds open: 0.25 GB for a scene of 60 000 x 60 000 pixels.

    Raises CoverageError unless the parts' cores partition the scene, and SceneError if a part
    can't be read, or, naming the folder, if the file can't be written; then nothing is left.
    """
    check_coverage([part.core for part in parts], label_map.height, label_map.width)
    least_bytes = _least_bytes(parts, label_map)
    _refuse_full_disk(target, least_bytes)
    vrt = mosaic_vrt(parts, label_map)
    try:
        with gdal_env(CACHE_BYTES), MemoryFile(vrt, ext=".vrt") as memory, memory.open() as mosaic:
            copy(
                mosaic,
                target,
                driver="COG",
                compress=label_map.compress,
                blocksize=BLOCK_PX,
                overview_resampling="mode",
                bigtiff="if_safer",
                num_threads=threads,
                **LEVELS[label_map.compress],
            )
        _require_names(target, label_map)
    except BaseException as error:
        for suffix in ("", ".aux.xml", ".ovr.tmp"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        if isinstance(error, GDAL_ERRORS):
            raise _fault(error, parts, target, least_bytes) from error
        raise


def _require_names(target: Path, label_map: LabelMap) -> None:
    """Raise OSError unless GDAL wrote the class names; on a full disk, it only warns."""
    try:
        found = [c.text for c in parse(f"{target}.aux.xml").iter("Category")]
    except (OSError, ParseError):
        found = []
    if len(found) != max(c.id for c in label_map.legend.classes) + 1:
        raise OSError("GDAL could not write its class names")


def _least_bytes(parts: Sequence[PartFile], label_map: LabelMap) -> int:
    """What the label map takes at the very least: overviews, written twice, take two thirds
    more, and no codec beats the parts' own by as much."""
    if label_map.compress == "none":
        return label_map.height * label_map.width * label_map.legend.dtype.itemsize
    return sum(part.size_bytes for part in parts)


def _refuse_full_disk(target: Path, least_bytes: int) -> None:
    try:
        free_bytes = shutil.disk_usage(target.parent).free
    except OSError as error:
        raise unwritable(target, error) from error
    if free_bytes < least_bytes:
        raise unwritable(target, _full(least_bytes))


def _full(least_bytes: int) -> str:
    needed_mb = least_bytes * 5 // 3 // 2**20 + 1
    return f"{os.strerror(errno.ENOSPC)} (about {needed_mb} MB are needed)"


def _fault(
    error: Exception, parts: Sequence[PartFile], target: Path, least_bytes: int
) -> SceneError:
    """What was at fault: a part, the disk, or what GDAL says.

    That the disk is full, GDAL says on stderr only, and has removed the file by the time that
    its error is raised.
    """
    for part in parts:
        if not is_whole(part):
            return SceneError(
                f"{part.path} no longer holds the labels that were written to it. "
                "Run the scene again"
            )
    if shutil.disk_usage(target.parent).free < 2 * least_bytes + 2**16:
        return unwritable(target, _full(least_bytes))
    return unwritable(target, reason(error))


def verify(parts: Sequence[PartFile], target: Path) -> dict[int, int]:
    """Read the whole file at `target` back and compare its labels with each part's checksum.

    GDAL may lose an error in closing a file, that of a full disk too. Reading is the only proof.

    Returns the number of pixels of each label that occurs, nodata included.

    Raises SceneError if a block can't be read or labels differ from those computed.
    """
    try:
        with gdal_env(CACHE_BYTES), rasterio.open(target) as file:
            counts = np.zeros(np.iinfo(file.dtypes[0]).max + 1, np.int64)
            for part in parts:
                if _crc32(file, part.core, counts) != part.crc32:
                    raise _unsound(target, f"{part.core} differ")
    except GDAL_ERRORS as error:
        raise _unsound(target, reason(error)) from error
    return {label: int(counts[label]) for label in np.flatnonzero(counts).tolist()}


def _unsound(target: Path, how: str) -> SceneError:
    # What is left of a full disk is less than the next block.
    if target.exists() and shutil.disk_usage(target).free < 2**20:
        return unwritable(target, os.strerror(errno.ENOSPC))
    return SceneError(f"{target} does not hold what was computed: {how}. Run the scene again")


def _crc32(file: DatasetReader, core: Window, counts: NDArray[np.int64]) -> int:
    """The checksum of a part's labels as they stand in the file, which are added to `counts`."""
    crc = 0
    for strip in _strips(core):
        window = RasterioWindow(strip.col, strip.row, strip.width, strip.height)
        labels = file.read(1, window=window)
        crc = zlib.crc32(labels.data, crc)
        for start in range(0, labels.size, COUNTED_AT_ONCE):
            some = labels.ravel()[start : start + COUNTED_AT_ONCE]
            counts += np.bincount(some, minlength=len(counts))
    return crc


def _strips(core: Window) -> Iterator[Window]:
    """The core, cut where the file's rows of blocks end, so that a block is decoded once."""
    row = core.row
    while row < core.row_stop:
        stop = min((row // BLOCK_PX + 1) * BLOCK_PX, core.row_stop)
        yield Window(row, core.col, stop - row, core.width)
        row = stop
