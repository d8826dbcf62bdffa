"""Label maps made small, for tests of what is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.grid.window import Window
from tiler.pixels.legend import LabelClass, Legend
from tiler.raster.cog import assemble
from tiler.raster.describe import Georeference
from tiler.raster.mosaic import LabelMap
from tiler.raster.spool import PartFile, write_part

NOWHERE = Georeference(None, None, (), None, {}, None)


def legend_of(count: int) -> Legend:
    """Classes 0 to `count` - 1, each with a colour of its own."""
    return Legend(
        tuple(LabelClass(i, f"class {i}", (i % 256, i // 256, 255 - i % 256)) for i in range(count))
    )


def label_map_of(
    labels: NDArray[Any],
    legend: Legend | None = None,
    georeference: Georeference = NOWHERE,
    tags: dict[str, str] | None = None,
    compress: str = "zstd",
) -> LabelMap:
    """What describes `labels` ([height, width]); by default of 8 classes and nowhere."""
    height, width = labels.shape
    return LabelMap(height, width, georeference, legend or legend_of(8), tags or {}, compress)


def random_labels(
    height: int, width: int, count: int = 8, nodata: int = 255
) -> NDArray[np.unsignedinteger[Any]]:
    """Noise of `count` classes with some nodata."""
    dtype = np.uint8 if nodata == 255 else np.uint16
    rng = np.random.default_rng(height * 7919 + width)
    labels = rng.integers(0, count, (height, width)).astype(dtype)
    labels[rng.random(labels.shape) < 0.3] = nodata
    labels[: height // 3, : width // 2] = nodata
    return labels


def cut(height: int, width: int, part_height: int, part_width: int) -> list[Window]:
    """Windows of that size, smaller at the lower and right edge, that cover a scene."""
    return [
        Window(row, col, min(part_height, height - row), min(part_width, width - col))
        for row in range(0, height, part_height)
        for col in range(0, width, part_width)
    ]


def write_parts(
    labels: NDArray[Any], cores: Sequence[Window], folder: Path, nodata: int = 255
) -> list[PartFile]:
    """The labels of each core in a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        write_part(folder / f"part-{i}.tif", labels[core.slices], core, nodata)
        for i, core in enumerate(cores)
    ]


def write_label_map(
    labels: NDArray[Any],
    folder: Path,
    *,
    part_size: tuple[int, int] = (400, 300),
    name: str = "labels.tif",
    **described: Any,
) -> Path:
    """Parts of `part_size` assembled; the options are label_map_of's."""
    label_map = label_map_of(labels, **described)
    cores = cut(*labels.shape, *part_size)
    parts = write_parts(labels, cores, folder / "parts", label_map.legend.nodata)
    assemble(parts, label_map, folder / name)
    return folder / name


def files_in(folder: Path) -> list[str]:
    """Names of the files directly in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir() if path.is_file())
