"""Write examples/scenes/quickstart.tif: a small synthetic scene that looks like the real thing.

    python examples/scenes/make_quickstart_scene.py [FILE]

Four bands (blue, green, red, near infrared), uint16 reflectance * 10000, UTM, 10 m pixels, and a
footprint that lies askew in its frame, with nodata around it, as satellites leave it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.crs import CRS
from rasterio.enums import ColorInterp
from rasterio.transform import from_origin

sys.path.insert(0, str(Path(__file__).parent))
from landscape import landscape

HEIGHT, WIDTH = 1700, 2000
SEED = 7
TILT_DEGREES = 9.0
BANDS = ("blue", "green", "red", "nir")
# Digital numbers that the sensor tells apart in each band; it keeps the file small.
STEPS = (25, 25, 25, 75)
DEFAULT_FILE = Path(__file__).parent / "quickstart.tif"


def footprint(height: int, width: int) -> NDArray[np.bool_]:
    """The largest rectangle, tilted clockwise, whose bounding box is the frame."""
    sine, cosine = np.sin(np.radians(TILT_DEGREES)), np.cos(np.radians(TILT_DEGREES))
    long = (width * cosine - height * sine) / (cosine**2 - sine**2)
    short = (height * cosine - width * sine) / (cosine**2 - sine**2)
    down = np.arange(height)[:, None] + 0.5 - height / 2
    across = np.arange(width)[None, :] + 0.5 - width / 2
    inside_long = np.abs(across * cosine + down * sine) <= long / 2
    return inside_long & (np.abs(down * cosine - across * sine) <= short / 2)


def digital_numbers() -> NDArray[np.uint16]:
    """The scene [4, height, width]; 0 outside the footprint and nowhere inside."""
    reflectance = landscape(HEIGHT, WIDTH, SEED)
    step = np.array(STEPS)[:, None, None]
    numbers = np.maximum(np.rint(reflectance * 10000 / step), 1) * step
    return np.where(footprint(HEIGHT, WIDTH), numbers, 0).astype(np.uint16)


def write(file: Path) -> None:
    """Write the scene as a tiled, compressed GeoTIFF."""
    with rasterio.open(
        file,
        "w",
        driver="GTiff",
        height=HEIGHT,
        width=WIDTH,
        count=len(BANDS),
        dtype="uint16",
        nodata=0,
        crs=CRS.from_epsg(32632),
        transform=from_origin(600_000, 5_200_000, 10, 10),
        tiled=True,
        blockxsize=512,
        blockysize=512,
        interleave="band",
        compress="deflate",
        zlevel=9,
        predictor=2,
    ) as scene:
        scene.write(digital_numbers())
        scene.descriptions = BANDS
        scene.colorinterp = [
            ColorInterp.blue,
            ColorInterp.green,
            ColorInterp.red,
            ColorInterp.undefined,
        ]


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FILE
    write(target)
    print(target)
