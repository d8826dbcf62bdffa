"""How GDAL is set wherever this project uses it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import rasterio
from rasterio.env import set_gdal_config
from rasterio.errors import NodataShadowWarning, NotGeoreferencedWarning

# GDAL's block cache, one for the whole process, so part of a worker's memory bound whatever the
# scene's size. A reader needs one row of the file's blocks, as wide as its part (see
# SceneReader): 8 tiles of 768 pixels over 1024-pixel blocks of 4 float32 bands take 100 MiB.
CACHE_BYTES = 128 * 2**20

_OPTIONS: dict[str, str] = {
    # Sidecars (.msk, .aux.xml, world files) are part of a scene. Cloud set-ups often switch
    # their discovery off, which would drop a mask without a word.
    "GDAL_DISABLE_READDIR_ON_OPEN": "FALSE",
    # A block that can't be decoded is an error, never zeros.
    "GTIFF_IGNORE_READ_ERRORS": "NO",
    # A VRT is data; it runs no code of its own.
    "GDAL_VRT_ENABLE_PYTHON": "NO",
    # An error in a thread of GDAL's own never reaches rasterio, which then knows no reason.
    "GDAL_NUM_THREADS": "1",
    "VRT_NUM_THREADS": "1",
    # Sources of a VRT that GDAL holds open, 0.5 MB each if tiled: 450 unless told.
    "GDAL_MAX_DATASET_POOL_SIZE": "64",
    # Class names live in .aux.xml files.
    "GDAL_PAM_ENABLED": "YES",
}


@contextmanager
def gdal_env(cache_bytes: int = CACHE_BYTES) -> Iterator[None]:
    """A rasterio environment with this project's options and a block cache of `cache_bytes`.

    To be entered in each thread that uses rasterio. The options outlast the block: GDAL keeps
    them per process, and rasterio's own Env(OPTION=…) resets them when the first of several
    threads leaves its block, cache size included, while the others still read.
    """
    # Both are told by the plan, once a scene, where they matter.
    warnings.filterwarnings("ignore", category=NotGeoreferencedWarning)
    warnings.filterwarnings("ignore", category=NodataShadowWarning)
    with rasterio.Env():
        for name, value in _OPTIONS.items():
            set_gdal_config(name, value)
        # Bytes; GDAL's own GDAL_CACHEMAX variable counts megabytes below 100 000.
        set_gdal_config("GDAL_CACHEMAX", cache_bytes)
        yield
