"""A scene's parts into its label map."""

from __future__ import annotations

import filecmp
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray
from rasterio.enums import ColorInterp
from rasterio.shutil import copy
from rio_cogeo.cogeo import cog_validate

from tests.raster.label_maps import (
    cut,
    label_map_of,
    legend_of,
    random_labels,
    write_label_map,
    write_parts,
)
from tiler.pixels.legend import LabelClass, Legend
from tiler.raster.cog import assemble
from tiler.raster.env import gdal_env

SIZES = [(1, 1), (1, 5000), (5000, 1), (511, 513), (512, 512), (513, 511), (1025, 1300)]
ODD_NAMES = ["a & b", "<i>", "\"double\" 'single'", "Gewässer, naß", "水体", "]]>"]


def label_classes(*ids: int) -> Legend:
    return Legend(tuple(LabelClass(i, f"class {i}", (i, 255 - i, 7)) for i in ids))


def category_names(label_map: Path) -> list[str]:
    return [c.text or "" for c in ElementTree.parse(f"{label_map}.aux.xml").iter("Category")]


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_every_label_reads_back(tmp_path: Path, height: int, width: int) -> None:
    labels = random_labels(height, width)
    with rasterio.open(write_label_map(labels, tmp_path)) as file:
        assert file.dtypes == ("uint8",)
        assert (file.read(1) == labels).all()


# rio-cogeo measures an overview's decimation along rows only, and 1 column can't be halved.
@pytest.mark.parametrize(("height", "width"), [s for s in SIZES if s != (5000, 1)])
def test_it_is_a_valid_cloud_optimized_geotiff(tmp_path: Path, height: int, width: int) -> None:
    path = write_label_map(random_labels(height, width), tmp_path)
    assert cog_validate(path, strict=True) == (True, [], [])


@pytest.mark.parametrize("compress", ["zstd", "deflate", "lzw", "none"])
def test_it_is_compressed_as_the_job_says(tmp_path: Path, compress: str) -> None:
    labels = random_labels(600, 700)
    path = write_label_map(labels, tmp_path, compress=compress)
    with rasterio.open(path) as file:
        found = file.compression.name if file.compression else "none"
        assert found == compress
        assert (file.read(1) == labels).all()


@pytest.mark.parametrize("part_size", [(1, 700), (100, 130), (512, 512), (600, 700)])
def test_parts_need_no_alignment_with_blocks(tmp_path: Path, part_size: tuple[int, int]) -> None:
    labels = random_labels(60 if part_size[0] == 1 else 600, 700)
    with rasterio.open(write_label_map(labels, tmp_path, part_size=part_size)) as file:
        assert (file.read(1) == labels).all()


def test_the_parts_order_and_the_threads_change_no_byte(tmp_path: Path) -> None:
    labels = random_labels(1100, 1300)
    label_map = label_map_of(labels)
    parts = write_parts(labels, cut(1100, 1300, 333, 444), tmp_path / "parts")
    assemble(parts, label_map, tmp_path / "one.tif", threads=1)
    assemble(parts[::-1], label_map, tmp_path / "other.tif", threads=4)
    assert filecmp.cmp(tmp_path / "one.tif", tmp_path / "other.tif", shallow=False)


def test_each_block_is_written_once(tmp_path: Path) -> None:
    labels = random_labels(1100, 1200)
    path = write_label_map(labels, tmp_path, part_size=(250, 170))
    whole = write_label_map(labels, tmp_path, part_size=labels.shape, name="whole.tif")
    at_once = tmp_path / "at-once.tif"
    with gdal_env(), rasterio.open(whole) as file:
        copy(
            file,
            at_once,
            driver="COG",
            compress="zstd",
            level=1,
            blocksize=512,
            overview_resampling="mode",
            overviews="ignore_existing",
        )
    assert path.stat().st_size <= 1.01 * at_once.stat().st_size


def test_a_small_map_is_no_bigtiff(tmp_path: Path) -> None:
    path = write_label_map(random_labels(600, 700), tmp_path)
    assert path.read_bytes()[:4] == b"II*\0"


def overview_levels(path: Path) -> list[NDArray[np.uint8]]:
    with rasterio.open(path) as file:
        count = len(file.overviews(1))
    levels = []
    for level in range(count):
        with rasterio.open(path, overview_level=level) as file:
            levels.append(file.read(1))
    return levels


def quads(labels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[height / 2, width / 2, 4]: the four pixels below each overview pixel."""
    height, width = labels.shape
    return (
        labels.reshape(height // 2, 2, width // 2, 2)
        .transpose(0, 2, 1, 3)
        .reshape(height // 2, width // 2, 4)
    )


def test_an_overview_pixel_is_the_most_frequent_class_below_it(tmp_path: Path) -> None:
    labels = random_labels(1024, 2048, count=3)
    below = labels
    levels = overview_levels(write_label_map(labels, tmp_path))
    assert [level.shape for level in levels] == [(512, 1024), (256, 512)]
    for level in levels:
        counts = np.stack([(quads(below) == label).sum(axis=2) for label in range(3)])
        valid = counts.sum(axis=0) > 0
        chosen = np.take_along_axis(counts, np.minimum(level, 2)[None].astype(int), axis=0)[0]
        assert (chosen[valid] == counts.max(axis=0)[valid]).all()
        below = level


def test_an_overview_pixel_is_nodata_only_where_all_below_it_are(tmp_path: Path) -> None:
    below = labels = random_labels(1024, 2048)
    for level in overview_levels(write_label_map(labels, tmp_path)):
        assert ((level == 255) == (quads(below) == 255).all(axis=2)).all()
        below = level


def covered(size: int, below_size: int) -> list[NDArray[np.int64]]:
    """For each overview pixel along an axis, its first, second and third pixel below."""
    scale = below_size / size
    first = np.floor(np.arange(size) * scale).astype(int)
    last = np.ceil(np.arange(1, size + 1) * scale).astype(int) - 1
    return [np.minimum(first + i, last) for i in range(3)]


def test_an_overview_pixel_of_an_odd_sized_map_occurs_in_its_source_block(tmp_path: Path) -> None:
    below = labels = random_labels(1027, 771, count=200)
    for level in overview_levels(write_label_map(labels, tmp_path)):
        rows, cols = map(covered, level.shape, below.shape)
        assert np.any([below[np.ix_(r, c)] == level for r in rows for c in cols], axis=0).all()
        below = level


def test_nodata_and_the_colour_table_are_the_legends(tmp_path: Path) -> None:
    with rasterio.open(write_label_map(random_labels(30, 40), tmp_path)) as file:
        assert file.nodata == 255
        assert file.colorinterp == (ColorInterp.palette,)
        colors = file.colormap(1)
    assert [colors[i] for i in range(8)] == [(i, 0, 255 - i, 255) for i in range(8)]
    assert colors[255] == (0, 0, 0, 0)


def test_class_names_and_tags_survive_any_script_and_markup(tmp_path: Path) -> None:
    legend = Legend(tuple(LabelClass(i, n, (i, i, i)) for i, n in enumerate(ODD_NAMES)))
    tags = {f"TILER_{i}": name for i, name in enumerate(ODD_NAMES)}
    path = write_label_map(random_labels(30, 40, 6), tmp_path, legend=legend, tags=tags)
    assert category_names(path) == ODD_NAMES
    with rasterio.open(path) as file:
        assert {key: value for key, value in file.tags().items() if key in tags} == tags


def test_gdal_reads_the_class_names(tmp_path: Path) -> None:
    path = write_label_map(random_labels(30, 40), tmp_path)
    # rasterio does not show category names; GDAL writes those that it read into a VRT.
    with gdal_env():
        copy(path, tmp_path / "seen.vrt", driver="VRT")
    seen = ElementTree.parse(tmp_path / "seen.vrt").iter("Category")
    assert [c.text for c in seen] == [f"class {i}" for i in range(8)]


def test_folders_with_any_script_and_markup_are_read_and_written(tmp_path: Path) -> None:
    folder = tmp_path / "Gewässer & <水体> \"x\" 'y'"
    labels = random_labels(60, 70)
    with rasterio.open(write_label_map(labels, folder, part_size=(30, 40))) as file:
        assert (file.read(1) == labels).all()


def test_an_id_between_classes_has_an_empty_name_and_is_black(tmp_path: Path) -> None:
    legend = label_classes(3, 7)
    labels = np.array([[3, 7, 255]], np.uint8)
    path = write_label_map(labels, tmp_path, legend=legend)
    assert category_names(path) == ["", "", "", "class 3", "", "", "", "class 7"]
    with rasterio.open(path) as file:
        colors = file.colormap(1)
        assert (file.read(1) == labels).all()
    assert colors[3] == (3, 252, 7, 255)
    assert colors[5] == (0, 0, 0, 255)


@pytest.mark.parametrize("largest", [254, 255])
def test_the_largest_uint8_class_and_the_smallest_that_needs_uint16(
    tmp_path: Path, largest: int
) -> None:
    legend = Legend((LabelClass(largest, "last", (1, 2, 3)),))
    labels = np.array([[largest, legend.nodata]], legend.dtype)
    with rasterio.open(write_label_map(labels, tmp_path, legend=legend)) as file:
        assert file.dtypes == (legend.dtype.name,)
        assert file.nodata == legend.nodata
        assert file.colormap(1)[largest] == (1, 2, 3, 255)
        assert (file.read(1) == labels).all()


def test_300_classes_make_a_uint16_map_with_all_names_and_colours(tmp_path: Path) -> None:
    labels = random_labels(520, 530, 300, 65_535)
    path = write_label_map(labels, tmp_path, legend=legend_of(300))
    assert cog_validate(path, strict=True) == (True, [], [])
    assert category_names(path) == [f"class {i}" for i in range(300)]
    with rasterio.open(path) as file:
        assert (file.dtypes, file.nodata) == (("uint16",), 65_535)
        assert file.colormap(1)[299] == (43, 1, 212, 255)
        assert (file.read(1) == labels).all()
