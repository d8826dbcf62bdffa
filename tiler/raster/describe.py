"""What is to be known of a scene before any pixel of it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tiler.errors import SceneError
from tiler.raster.env import gdal_env
from tiler.raster.opening import GDAL_ERRORS, open_raster, reason, told
from tiler.raster.vrt_sources import check_vrt_sources, local_file
from tiler.raster.vrt_xml import is_vrt, vrt_sources

# A block is decoded as a whole, with all bands where they are interleaved. libtiff's own bound.
MAX_BLOCK_BYTES = 2**31

# Row and column (pixels from the upper left), x, y and z (in the CRS's units), id and info.
Gcp = tuple[float, float, float, float, float, str, str]
# In GDAL's order: x of the upper left corner, pixel width, row rotation, y, column rotation,
# pixel height (negative where north is up).
GeoTransform = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Georeference:
    """Where a scene lies, in all the ways that a file can say it.

    `transform` is None where the file has none; `rpcs` are GDAL's RPC metadata items as they
    stand in the file, empty where it has none.
    """

    crs_wkt: str | None
    transform: GeoTransform | None
    gcps: tuple[Gcp, ...]
    gcp_crs_wkt: str | None
    rpcs: dict[str, str]
    area_or_point: str | None


@dataclass(frozen=True)
class SceneInfo:
    """A scene's shape, bands and layout; plain values that travel between processes.

    `dtype` is the NumPy dtype that holds every band's values; `block_height` x `block_width`
    is the unit of decoding in pixels, for a VRT that of its first source; `colors` are
    rasterio's names of colour interpretations; `scaled` says that some band has a scale other
    than 1 or an offset other than 0.
    """

    path: Path
    height: int
    width: int
    count: int
    dtype: str
    block_height: int
    block_width: int
    georeference: Georeference
    descriptions: tuple[str | None, ...]
    colors: tuple[str, ...]
    nodata: tuple[float | None, ...]
    scaled: bool
    driver: str
    file_bytes: int

    @property
    def striped(self) -> bool:
        """Whether blocks are whole rows of pixels, so that reading a part of a row costs all."""
        return self.block_width >= self.width and self.block_height < self.height


def describe(path: Path) -> SceneInfo:
    """Open a scene and describe it.

    Raises SceneError where it is missing, is no raster, has no bands of its own, has complex
    numbers, has a coordinate system that PROJ refuses, or is a VRT with an unfit source.
    """
    with gdal_env():
        if path.is_dir():
            _refuse_folder(path)
        if is_vrt(path):
            check_vrt_sources(path)
        with open_raster(path) as dataset:
            try:
                _refuse_unfit(path, dataset)
                return _describe(path, dataset)
            except GDAL_ERRORS as error:
                hint = ""
                if "PROJ" in reason(error):
                    hint = ". Its coordinate system is at fault: gdal_edit.py -a_srs mends it"
                raise SceneError(
                    f"{told(path)}: GDAL cannot describe it: {reason(error)}{hint}"
                ) from error


def _describe(path: Path, dataset: Any) -> SceneInfo:
    block_height, block_width = _block_shape(path, dataset)
    return SceneInfo(
        path=path,
        height=dataset.height,
        width=dataset.width,
        count=dataset.count,
        dtype=str(np.result_type(*set(dataset.dtypes))),
        block_height=block_height,
        block_width=block_width,
        georeference=_georeference(dataset),
        descriptions=tuple(dataset.descriptions),
        colors=tuple(c.name for c in dataset.colorinterp),
        nodata=tuple(dataset.nodatavals),
        scaled=set(dataset.scales) != {1.0} or set(dataset.offsets) != {0.0},
        driver=dataset.driver,
        file_bytes=path.stat().st_size,
    )


def _georeference(dataset: Any) -> Georeference:
    gcps, gcp_crs = dataset.gcps
    return Georeference(
        crs_wkt=dataset.crs.to_wkt() if dataset.crs else None,
        transform=None if dataset.transform.is_identity else dataset.transform.to_gdal(),
        gcps=tuple((g.row, g.col, g.x, g.y, g.z or 0.0, g.id or "", g.info or "") for g in gcps),
        gcp_crs_wkt=gcp_crs.to_wkt() if gcp_crs else None,
        rpcs=dict(dataset.tags(ns="RPC")),
        area_or_point=dataset.tags().get("AREA_OR_POINT"),
    )


def _block_shape(path: Path, dataset: Any) -> tuple[int, int]:
    """Height and width of a block; a VRT's own mean nothing, its source's blocks are decoded."""
    if dataset.driver != "VRT":
        height, width = dataset.block_shapes[0]
        return height, width
    source = next(iter(vrt_sources(path)), None)
    file = local_file(path, source) if source is not None and not source.raw else None
    if file is None:
        height, width = dataset.block_shapes[0]
        return height, width
    with open_raster(file) as first:
        height, width = _block_shape(file, first)
        return height, dataset.width if width >= first.width else width


def _refuse_unfit(path: Path, dataset: Any) -> None:
    if dataset.count == 0:
        raise SceneError(f"{told(path)}: has no bands of its own{_subdatasets(dataset)}")
    complex_dtypes = sorted({d for d in dataset.dtypes if d.startswith("complex")})
    if complex_dtypes:
        raise SceneError(
            f"{told(path)}: holds complex numbers ({', '.join(complex_dtypes)}), of which no "
            "model reads both parts. Convert it to amplitude or intensity first"
        )
    height, width = dataset.block_shapes[0]
    interleaved = dataset.count if dataset.profile.get("interleave") == "pixel" else 1
    block_bytes = height * width * interleaved * np.dtype(dataset.dtypes[0]).itemsize
    if block_bytes > MAX_BLOCK_BYTES:
        raise SceneError(
            f"{told(path)}: one block of it ({width} x {height} pixels, {interleaved} bands) takes "
            f"{block_bytes / 2**30:.1f} GiB. Rewrite it in tiles: gdal_translate -co TILED=YES"
        )


def _refuse_folder(path: Path) -> None:
    try:
        with open_raster(path) as dataset:
            read_as = f". GDAL reads it as {dataset.driver}"
            remedy = _subdatasets(dataset) or ". Convert it to a file with gdal_translate"
    except SceneError:
        read_as, remedy = "", f". Give its files, or a glob such as {told(path)}/*.tif"
    raise SceneError(f"{told(path)}: is a folder, and a scene is one file{read_as}{remedy}")


def _subdatasets(dataset: Any) -> str:
    names = [n.rsplit(":", 1)[-1].strip('"/') for n in dataset.subdatasets]
    if not names:
        return ""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return (
        f"; its {len(names)} subdatasets: {', '.join(names[:4])}{more}. Extract one to a file, "
        f"e.g. gdal_translate '{dataset.subdatasets[0]}' one.tif"
    )
