"""Parts on their way from the workers to the label map: one small file each."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.io import MemoryFile

from tiler.grid.window import Window
from tiler.raster.durable import write_whole
from tiler.raster.env import gdal_env
from tiler.raster.opening import GDAL_ERRORS

BLOCK_PX = 512


@dataclass(frozen=True)
class PartFile:
    """A part's labels on disk.

    `core` is where they belong in the scene; `crc32` is zlib's over the label array's bytes in
    C order, by which the finished label map is checked; `size_bytes` is the file's size.
    """

    path: Path
    core: Window
    crc32: int
    size_bytes: int


def write_part(
    path: Path, labels: NDArray[np.unsignedinteger[Any]], core: Window, nodata: int
) -> PartFile:
    """Write a part's labels ([core height, core width]) as a GeoTIFF at `path`, atomically.

    The file is made in memory, so that a full disk is met in a plain write and can't be lost in
    GDAL's closing of a file; it has no georeference, which is the scene's.

    Raises SceneError, naming the folder, if the file can't be written.
    """
    labels = np.ascontiguousarray(labels)
    height, width = labels.shape
    with gdal_env(), MemoryFile() as memory:
        with memory.open(
            driver="GTiff",
            height=height,
            width=width,
            count=1,
            dtype=labels.dtype.name,
            nodata=nodata,
            tiled=True,
            blockysize=_block_px(height),
            blockxsize=_block_px(width),
            compress="zstd",
            zstd_level=1,
        ) as file:
            file.write(labels, 1)
        content = memory.getbuffer()
        write_whole(path, content)
        return PartFile(path, core, zlib.crc32(labels.data), len(content))


def is_whole(part: PartFile) -> bool:
    """Whether a part's file is there and holds the labels whose checksum it was recorded with."""
    try:
        with gdal_env(), rasterio.open(part.path) as file:
            labels = file.read(1)
    except GDAL_ERRORS:
        return False
    size = (part.core.height, part.core.width)
    return labels.shape == size and zlib.crc32(labels.data) == part.crc32


def _block_px(length_px: int) -> int:
    """TIFF wants multiples of 16."""
    return min(BLOCK_PX, -(-length_px // 16) * 16)
