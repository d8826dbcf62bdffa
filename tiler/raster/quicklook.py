"""A label map as a small picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rasterio
from rasterio.io import MemoryFile

from tiler.errors import SceneError
from tiler.raster.durable import write_whole
from tiler.raster.env import gdal_env
from tiler.raster.opening import GDAL_ERRORS, reason


def write_quicklook(label_map: Path, target: Path, max_px: int = 1024) -> None:
    """Write a PNG of a label map in its classes' colours, at most `max_px` a side.

    Nodata is transparent. Pixels come from the overviews, so that each is a class that is there.

    Raises SceneError if the label map can't be read or the picture can't be written.
    """
    with gdal_env():
        try:
            with rasterio.open(label_map) as file:
                shrink = max(file.height, file.width, max_px) / max_px
                shape = tuple(max(round(side / shrink), 1) for side in file.shape)
                labels = file.read(1, out_shape=shape)
                colors = file.colormap(1)
        except GDAL_ERRORS as error:
            raise SceneError(
                f"{label_map} cannot be read for its quicklook: {reason(error)}. "
                "Run the scene again"
            ) from error
        palette = np.zeros((max(colors) + 1, 4), np.uint8)
        for label, color in colors.items():
            palette[label] = color
        picture = palette[labels].transpose(2, 0, 1)
        with MemoryFile() as memory:
            with memory.open(
                driver="PNG", height=shape[0], width=shape[1], count=4, dtype="uint8"
            ) as png:
                png.write(picture)
            write_whole(target, memory.getbuffer())
