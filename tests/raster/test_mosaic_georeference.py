"""A label map lies exactly where its scene lies; its parts cover it exactly once."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from hypothesis import given, settings
from hypothesis import strategies as st
from rasterio.control import GroundControlPoint
from rio_cogeo.cogeo import cog_validate

from tests.conftest import write_raster
from tests.raster.label_maps import cut, random_labels, write_label_map
from tiler.grid.window import Window
from tiler.pixels.stitch import CoverageError
from tiler.raster.describe import describe
from tiler.raster.env import gdal_env
from tiler.raster.mosaic import check_coverage


def rotated(x: float, y: float, width: float, height: float, degrees: float) -> Affine:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Affine(width * cos, height * sin, x, width * sin, -height * cos, y)


ODD = Affine(10.1, 0, 400_000.3, 0, -10.1, 5_500_000.7)
ROTATED = rotated(4e5 / 3, 5e6 / 3, 10.1, 9.7, 31)
POINT = {"AREA_OR_POINT": "Point"}
# A sphere, metres, a centre that no code names.
LAEA = (
    'PROJCS["here",GEOGCS["sphere",DATUM["sphere",SPHEROID["sphere",6371007.181,0]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],'
    'PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["latitude_of_center",48.3],'
    'PARAMETER["longitude_of_center",11.25],PARAMETER["false_easting",4321000],'
    'PARAMETER["false_northing",3210000],UNIT["metre",1]]'
)
GCPS = [
    GroundControlPoint(row + 0.5, col + 0.25, 10 + col / 3, 50 - row / 7, height, f"{row}-{col}")
    for row, col, height in ((0, 0, 1.5), (0, 60, 0.0), (40, 0, 312.25), (40, 60, -2.0))
]
RPCS = {
    **{f"{axis}_OFF": "45.125" for axis in ("LINE", "SAMP", "LAT", "LONG", "HEIGHT")},
    **{f"{axis}_SCALE": "0.3" for axis in ("LINE", "SAMP", "LAT", "LONG", "HEIGHT")},
    **{
        f"{axis}_{part}_COEFF": " ".join(["1", *(f"{i / 7e5:.12g}" for i in range(19))])
        for axis in ("LINE", "SAMP")
        for part in ("NUM", "DEN")
    },
}
NO_TRANSFORM: dict[str, Any] = {"crs": None, "transform": None}

SOURCES: dict[str, dict[str, Any]] = {
    "north up, odd spacing": {"transform": ODD},
    "rotated": {"transform": ROTATED},
    "south up": {"transform": Affine(10, 0, 4e5, 0, 10, 5e6)},
    "mirrored": {"transform": Affine(-10, 0, 4e5, 0, -10, 5e6)},
    "a transform without a CRS": {"crs": None, "transform": ODD},
    "a CRS without a transform": {"transform": None},
    "none at all": NO_TRANSFORM,
    "pixel is point": {"transform": ODD, "tags": POINT},
    "pixel is point, rotated": {"transform": ROTATED, "tags": POINT},
    "pixel is point, no CRS": {"crs": None, "transform": ODD, "tags": POINT},
    "degrees": {
        "crs": "EPSG:4326",
        "transform": Affine(1 / 1201, 0, 10 - 1 / 7, 0, -1 / 1201, 50 + 1 / 7),
    },
    "a custom projection": {"crs": LAEA},
    "an ESRI code": {"crs": "ESRI:54009"},
    "northing first": {"crs": "EPSG:2193"},
    "compound": {"crs": "EPSG:25832+5783"},
    "a rotated pole, which GeoTIFF lacks": {
        "crs": "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +R=6371229"
    },
    "GCPs only": {**NO_TRANSFORM, "gcps": GCPS},
    "GCPs in a projection": {**NO_TRANSFORM, "gcps": GCPS, "gcp_crs": "EPSG:32633"},
    "GCPs, pixel is point": {**NO_TRANSFORM, "gcps": GCPS, "tags": POINT},
    "RPCs only": {**NO_TRANSFORM, "rpcs": RPCS},
    "RPCs and a transform": {"transform": ODD, "rpcs": RPCS},
    "RPCs and GCPs": {**NO_TRANSFORM, "gcps": GCPS, "rpcs": RPCS},
}


def write_source(folder: Path, rpcs: dict[str, str] | None = None, **options: Any) -> Path:
    source = write_raster(np.zeros((1, 40, 60), np.uint8), folder=folder, **options)
    if rpcs:
        with gdal_env(), rasterio.open(source, "r+") as file:
            file.update_tags(ns="RPC", **rpcs)
    return source


def label_map_over(source: Path, folder: Path) -> Path:
    labels = np.ones((40, 60), np.uint8)
    return write_label_map(labels, folder, georeference=describe(source).georeference)


def points_of(file: Any) -> tuple[Any, ...]:
    gcps, crs = file.gcps
    return crs, [(g.row, g.col, g.x, g.y, g.z, g.id, g.info) for g in gcps]


@pytest.mark.parametrize("options", SOURCES.values(), ids=SOURCES.keys())
def test_the_label_map_has_the_scenes_georeference_exactly(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    source = write_source(tmp_path, **options)
    path = label_map_over(source, tmp_path)
    with rasterio.open(source) as scene, rasterio.open(path) as labels:
        assert labels.transform == scene.transform
        assert labels.crs == scene.crs
        assert points_of(labels) == points_of(scene)
        assert labels.rpcs == scene.rpcs
        assert labels.tags(ns="RPC") == scene.tags(ns="RPC")
        assert labels.tags().get("AREA_OR_POINT") == scene.tags().get("AREA_OR_POINT")
    assert cog_validate(path, strict=True) == (True, [], [])


@pytest.mark.parametrize("name", ["GCPs only", "RPCs only", "pixel is point"])
def test_the_sources_above_hold_what_they_are_named_for(tmp_path: Path, name: str) -> None:
    with rasterio.open(write_source(tmp_path, **SOURCES[name])) as scene:
        found = {
            "GCPs only": len(scene.gcps[0]) == 4 and scene.transform.is_identity,
            "RPCs only": scene.rpcs is not None and scene.transform.is_identity,
            "pixel is point": scene.tags().get("AREA_OR_POINT") == "Point"
            and scene.transform == ODD,
        }
    assert found[name]


numbers = st.floats(-1e7, 1e7, allow_subnormal=False)
sizes = st.floats(1e-6, 1e4)


@settings(max_examples=25)
@given(
    x=numbers,
    y=numbers,
    width=sizes,
    height=sizes,
    angle=st.sampled_from([0, 0, 17.3]),
    point=st.booleans(),
)
def test_any_transform_is_kept_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory,
    x: float,
    y: float,
    width: float,
    height: float,
    angle: float,
    point: bool,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    transform = rotated(x, y, width, height, angle)
    source = write_source(folder, transform=transform, tags=POINT if point else {})
    with (
        rasterio.open(source) as scene,
        rasterio.open(label_map_over(source, folder)) as labels,
    ):
        assert tuple(labels.transform) == tuple(scene.transform)
        assert math.isclose(scene.transform.a, transform.a)


def test_a_scene_over_several_parts_is_placed_by_its_upper_left(tmp_path: Path) -> None:
    labels = random_labels(40, 60)
    where = describe(write_source(tmp_path, transform=ODD)).georeference
    path = write_label_map(labels, tmp_path, georeference=where, part_size=(15, 25))
    with rasterio.open(path) as file:
        (found,) = next(file.sample([(ODD.c + 33.5 * ODD.a, ODD.f + 21.5 * ODD.e)]))
    assert found == labels[21, 33]


@st.composite
def partitions(draw: st.DrawFn) -> tuple[int, int, list[Window]]:
    """A scene cut at random, again and again."""
    height, width = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    pieces = [Window(0, 0, height, width)]
    for _ in range(draw(st.integers(0, 6))):
        one = pieces.pop(draw(st.integers(0, len(pieces) - 1)))
        if draw(st.booleans()):
            cut_at = draw(st.integers(0, one.height))
            halves = [
                Window(one.row, one.col, cut_at, one.width),
                Window(one.row + cut_at, one.col, one.height - cut_at, one.width),
            ]
        else:
            cut_at = draw(st.integers(0, one.width))
            halves = [
                Window(one.row, one.col, one.height, cut_at),
                Window(one.row, one.col + cut_at, one.height, one.width - cut_at),
            ]
        pieces += [half for half in halves if half.area]
    return height, width, draw(st.permutations(pieces))


@given(partitions())
def test_any_partition_covers_the_scene(scene: tuple[int, int, list[Window]]) -> None:
    height, width, cores = scene
    check_coverage(cores, height, width)


def first_pixel_not_written_once(cores: list[Window], height: int, width: int) -> str:
    times = np.zeros((height, width), int)
    for core in cores:
        times[core.slices] += 1
    row, col = np.argwhere(times != 1)[0]
    return rf"^rows {row} to \d+, columns {col} to \d+ were written {times[row, col]} times$"


SPOIL: dict[str, Callable[[list[Window], Window], list[Window]]] = {
    "missing": lambda cores, one: [c for c in cores if c is not one],
    "doubled": lambda cores, one: [*cores, one],
    "overlapping": lambda cores, one: [*cores, Window(one.row, one.col, 1, 1)],
}


@pytest.mark.parametrize("spoil", SPOIL.values(), ids=SPOIL.keys())
@given(scene=partitions(), data=st.data())
def test_a_core_that_spoils_the_partition_is_named(
    spoil: Callable[[list[Window], Window], list[Window]],
    scene: tuple[int, int, list[Window]],
    data: st.DataObject,
) -> None:
    height, width, cores = scene
    spoilt = spoil(cores, data.draw(st.sampled_from(cores)))
    with pytest.raises(CoverageError, match=first_pixel_not_written_once(spoilt, height, width)):
        check_coverage(spoilt, height, width)


@given(partitions(), st.sampled_from(["up", "left", "down", "right"]))
def test_a_core_outside_the_scene_is_named(scene: tuple[int, int, list[Window]], side: str) -> None:
    height, width, cores = scene
    outside = {
        "up": Window(-1, 0, 1, 1),
        "left": Window(0, -1, 1, 1),
        "down": Window(height - 1, 0, 2, 1),
        "right": Window(0, width, 1, 1),
    }[side]
    with pytest.raises(CoverageError, match=f"^{outside} lie outside a scene of "):
        check_coverage([*cores, outside], height, width)


def test_no_core_at_all_covers_nothing() -> None:
    with pytest.raises(CoverageError, match="rows 0 to 39, columns 0 to 59 were written 0 times"):
        check_coverage([], 40, 60)


def test_the_windows_of_a_grid_cover_it() -> None:
    check_coverage(cut(1000, 700, 64, 96), 1000, 700)
