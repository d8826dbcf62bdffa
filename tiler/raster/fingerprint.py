"""What changes when a scene is written anew."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tiler.raster.vrt_xml import is_vrt, vrt_sources

# What GDAL reads beside a raster and takes for a part of it.
SIDECARS = (".msk", ".aux.xml")


def fingerprint(path: Path) -> dict[str, Any]:
    """Size and time of modification of a scene's file, and of what belongs to it: its mask and
    metadata files, the sources of a VRT.

    Raises OSError if the file can't be looked at.
    """
    stat = path.stat()
    found: dict[str, Any] = {"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    others = [path.with_name(path.name + suffix) for suffix in SIDECARS]
    if path.suffix.lower() == ".vrt" and is_vrt(path):
        others += [
            path.parent / source.name if source.relative else Path(source.name)
            for source in vrt_sources(path)
        ]
    told = hashlib.sha256()
    for other in dict.fromkeys(others):
        try:
            stat = other.stat()
        except (OSError, ValueError):
            continue
        told.update(f"{other}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode(errors="replace"))
    return {**found, "with": told.hexdigest()[:16]}
