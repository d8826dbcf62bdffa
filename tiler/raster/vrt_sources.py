"""Are the files that a VRT is made of there?

A VRT opens whatever has become of its sources. A source that is gone fails at the first read,
and after certain reads in the same process not even then: its pixels are zeros. So sources are
looked at before a scene is started.
"""

from __future__ import annotations

import re
from pathlib import Path

import rasterio

from tiler.errors import SceneError
from tiler.raster.env import gdal_env
from tiler.raster.opening import GDAL_ERRORS, open_raster, reason, told
from tiler.raster.vrt_xml import Source, is_vrt, vrt_sources

MAX_NESTING = 8
# "/vsizip/…", "vrt://…", "https://…", "NETCDF:…", inline XML: names that are no local files.
_NOT_A_FILE = re.compile(r"<|/vsi|[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z][A-Za-z0-9_]+:")


def check_vrt_sources(path: Path) -> None:
    """Open every source of a VRT, nested ones included, and look for the band asked for.

    Raises SceneError that names the source which is missing or cannot be opened.
    """
    with gdal_env():
        _check(path, (), set())


def local_file(vrt: Path, source: Source) -> Path | None:
    """The file that a source means; None where its name is a matter for GDAL."""
    file = vrt.parent / source.name if source.relative else Path(source.name)
    return file if file.exists() or not _NOT_A_FILE.match(source.name) else None


def _check(vrt: Path, within: tuple[Path, ...], checked: set[Path]) -> None:
    here = vrt.resolve()
    scene = within[0] if within else vrt
    if here in within:
        raise SceneError(f"{told(scene)}: the VRT {told(vrt)} is a source of itself")
    if len(within) == MAX_NESTING:
        raise SceneError(f"{told(scene)}: VRTs lie within VRTs more than {MAX_NESTING} deep")
    if here in checked:
        return
    checked.add(here)
    for source, band in _with_largest_band(vrt).items():
        file = local_file(vrt, source)
        if file is None:
            # A relative subdataset's name is put together by GDAL, by rules of each driver.
            if not source.relative:
                _check_named(scene, source.name, band)
        elif source.raw:
            if not file.is_file():
                raise SceneError(f"{told(scene)}: a source of this VRT is missing: {told(file)}")
        else:
            _check_file(scene, file, band)
            if is_vrt(file):
                _check(file, (*within, here), checked)


def _with_largest_band(vrt: Path) -> dict[Source, int]:
    """Each source once, with the largest band that is asked of it."""
    bands: dict[Source, int] = {}
    for source in vrt_sources(vrt):
        key = Source(source.name, source.relative, raw=source.raw)
        bands[key] = max(bands.get(key, 0), source.band)
    return bands


def _check_file(scene: Path, file: Path, band: int) -> None:
    try:
        with open_raster(file) as dataset:
            count = dataset.count
    except SceneError as error:
        raise SceneError(f"{told(scene)}: a source of this VRT is unfit: {error}") from error
    _refuse_missing_band(scene, told(file), band, count)


def _check_named(scene: Path, name: str, band: int) -> None:
    try:
        with rasterio.open(name, sharing=False) as dataset:
            count = dataset.count
    except GDAL_ERRORS as error:
        raise SceneError(
            f"{told(scene)}: a source of this VRT is unfit: {name[:200]}: {reason(error)}"
        ) from error
    _refuse_missing_band(scene, name[:200], band, count)


def _refuse_missing_band(scene: Path, name: str, band: int, count: int) -> None:
    if band > count:
        raise SceneError(f"{told(scene)}: this VRT reads band {band} of {name}, which has {count}")
