"""Opening rasters, and saying in one line why one can't be opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rasterio

# Private, yet what rasterio lets through where PROJ refuses a coordinate system.
from rasterio._err import CPLE_BaseError
from rasterio.errors import RasterioError

from tiler.errors import SceneError

# What rasterio raises when GDAL cannot do what it is asked.
GDAL_ERRORS = (RasterioError, CPLE_BaseError, OSError)


def told(path: Path) -> str:
    """A path as a message shows it: on one line, bytes that are no UTF-8 as escapes."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return name.replace("\n", "\\n").replace("\r", "\\r")


def reason(error: BaseException) -> str:
    """GDAL's own words on one line: the first error of the chain that rasterio wraps."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


@contextmanager
def open_raster(path: Path) -> Iterator[Any]:
    """A rasterio dataset for reading, not shared with other threads.

    Raises SceneError where GDAL cannot open the file; to be used inside gdal_env.
    """
    _refuse_unfit(path)
    try:
        # Absolute, so that no name is taken for a driver prefix or an option.
        dataset = rasterio.open(path.absolute(), sharing=False)
    except GDAL_ERRORS as error:
        text = reason(error).replace(f"'{path.absolute()}' ", "")
        raise SceneError(f"{told(path)}: GDAL cannot open it as a raster: {text}") from error
    with dataset:
        yield dataset


def _refuse_unfit(path: Path) -> None:
    """Raise SceneError for what GDAL would tell of unclearly, or wait for forever (a pipe)."""
    try:
        os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError:
        raise SceneError(
            f"{told(path)}: its name is not valid UTF-8, without which GDAL cannot open it. "
            "Rename it"
        ) from None
    if path.is_dir():
        return
    if not path.exists():
        link = " (a link to nothing)" if path.is_symlink() else ""
        raise SceneError(f"{told(path)}: does not exist{link}")
    if not path.is_file():
        raise SceneError(f"{told(path)}: is no regular file")
    if not os.access(path, os.R_OK):
        raise SceneError(f"{told(path)}: this user may not read it; see its permissions")
    if path.stat().st_size == 0:
        raise SceneError(f"{told(path)}: is empty (0 bytes)")
