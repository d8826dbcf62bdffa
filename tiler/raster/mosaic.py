"""A scene's parts seen as one raster: a VRT, GDAL's virtual format, that never meets a disk."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from tiler.grid.window import Window
from tiler.pixels.legend import Legend
from tiler.pixels.stitch import CoverageError
from tiler.raster.describe import Georeference
from tiler.raster.spool import PartFile

GDAL_TYPES = {"uint8": "Byte", "uint16": "UInt16"}


@dataclass(frozen=True)
class LabelMap:
    """What the parts of a scene make up.

    `height` and `width` are in pixels; `tags` say how the labels were made; `compress` is one
    of zstd, deflate, lzw and none.
    """

    height: int
    width: int
    georeference: Georeference
    legend: Legend
    tags: dict[str, str]
    compress: str


def check_coverage(cores: Sequence[Window], height: int, width: int) -> None:
    """Raise CoverageError unless the cores partition a scene of `height` x `width` pixels."""
    scene = Window(0, 0, height, width)
    outside = [core for core in cores if not scene.contains(core)]
    if outside:
        raise CoverageError(f"{outside[0]} lie outside a scene of {height} x {width} pixels")
    rows = sorted({0, height, *(c.row for c in cores), *(c.row_stop for c in cores)})
    cols = sorted({0, width, *(c.col for c in cores), *(c.col_stop for c in cores)})
    row_at = {row: i for i, row in enumerate(rows)}
    col_at = {col: j for j, col in enumerate(cols)}
    times = np.zeros((len(rows) - 1, len(cols) - 1), np.int64)
    for c in cores:
        times[row_at[c.row] : row_at[c.row_stop], col_at[c.col] : col_at[c.col_stop]] += 1
    for i, j in np.argwhere(times != 1)[:1]:
        where = Window(rows[i], cols[j], rows[i + 1] - rows[i], cols[j + 1] - cols[j])
        raise CoverageError(f"{where} were written {times[i, j]} times")


def mosaic_vrt(parts: Sequence[PartFile], label_map: LabelMap) -> bytes:
    """The VRT (XML) that shows the parts as one band, with all that the label map shall carry.

    Format: https://gdal.org/en/stable/drivers/raster/vrt.html
    """
    root = Element("VRTDataset")
    root.set("rasterXSize", str(label_map.width))
    root.set("rasterYSize", str(label_map.height))
    _add_georeference(root, label_map.georeference)
    _add_metadata(root, _tags(label_map))
    if label_map.georeference.rpcs:
        _add_metadata(root, label_map.georeference.rpcs, domain="RPC")
    band = SubElement(root, "VRTRasterBand", band="1")
    band.set("dataType", GDAL_TYPES[label_map.legend.dtype.name])
    SubElement(band, "Description").text = "labels"
    _add_legend(band, label_map.legend)
    for part in parts:
        _add_source(band, part)
    xml: bytes = tostring(root, encoding="utf-8")
    return xml


def _tags(label_map: LabelMap) -> dict[str, str]:
    where = label_map.georeference
    # Without a CRS, GDAL invents a local one to hang "Point" on.
    has_crs = where.crs_wkt or (where.gcps and where.gcp_crs_wkt)
    kept = {"AREA_OR_POINT": where.area_or_point} if has_crs and where.area_or_point else {}
    return {**label_map.tags, **kept}


def _add_georeference(root: Element, where: Georeference) -> None:
    """A GeoTIFF holds a transform or GCPs, never both; the transform is the better one."""
    if where.crs_wkt:
        SubElement(root, "SRS").text = where.crs_wkt
    if where.transform is not None:
        SubElement(root, "GeoTransform").text = ", ".join(map(_exact, where.transform))
    elif where.gcps:
        points = SubElement(root, "GCPList")
        if where.gcp_crs_wkt:
            points.set("Projection", where.gcp_crs_wkt)
        for row, col, x, y, z, name, info in where.gcps:
            point = SubElement(points, "GCP", Id=str(name or ""), Info=str(info or ""))
            point.set("Pixel", _exact(col))
            point.set("Line", _exact(row))
            for axis, value in (("X", x), ("Y", y), ("Z", z)):
                point.set(axis, _exact(value or 0.0))


def _exact(number: float) -> str:
    """The shortest decimal that reads back as the same double."""
    return repr(float(number))


def _add_metadata(root: Element, items: dict[str, str], domain: str | None = None) -> None:
    metadata = SubElement(root, "Metadata", {"domain": domain} if domain else {})
    for key, value in items.items():
        SubElement(metadata, "MDI", key=key).text = value


def _add_legend(band: Element, legend: Legend) -> None:
    """Nodata, colours and names; ids that are no class are black and have an empty name."""
    SubElement(band, "NoDataValue").text = str(legend.nodata)
    SubElement(band, "ColorInterp").text = "Palette"
    colors, names = SubElement(band, "ColorTable"), SubElement(band, "CategoryNames")
    classes = {c.id: c for c in legend.classes}
    for id_ in range(max(classes) + 1):
        found = classes.get(id_)
        _add_color(colors, (*found.color, 255) if found else (0, 0, 0, 255))
        SubElement(names, "Category").text = found.name if found else ""


def _add_color(table: Element, color: tuple[int, int, int, int]) -> None:
    entry = SubElement(table, "Entry")
    for i, value in zip(itertools.count(1), color, strict=False):
        entry.set(f"c{i}", str(value))


def _add_source(band: Element, part: PartFile) -> None:
    source = SubElement(band, "SimpleSource")
    path = SubElement(source, "SourceFilename", relativeToVRT="0")
    path.text = str(part.path.absolute())
    SubElement(source, "SourceBand").text = "1"
    size = {"xSize": str(part.core.width), "ySize": str(part.core.height)}
    SubElement(source, "SrcRect", {"xOff": "0", "yOff": "0", **size})
    SubElement(source, "DstRect", {"xOff": str(part.core.col), "yOff": str(part.core.row), **size})
