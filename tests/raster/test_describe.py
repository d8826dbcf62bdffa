"""What is told of a scene before it is read."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine
from rasterio.control import GroundControlPoint
from rasterio.crs import CRS

from tiler.errors import SceneError
from tiler.raster.bands_of import choose_scene_bands
from tiler.raster.describe import Georeference, describe

PIXELS = np.ones((4, 40, 60), "uint16")
RPCS = {
    "LINE_OFF": "20",
    "SAMP_OFF": "30",
    "LAT_OFF": "50",
    "LONG_OFF": "10",
    "HEIGHT_OFF": "100",
    "LINE_SCALE": "20",
    "SAMP_SCALE": "30",
    "LAT_SCALE": "1",
    "LONG_SCALE": "1",
    "HEIGHT_SCALE": "500",
    "LINE_NUM_COEFF": " ".join(["0.5"] * 20),
    "LINE_DEN_COEFF": " ".join(["1"] + ["0"] * 19),
    "SAMP_NUM_COEFF": " ".join(["0.25"] * 20),
    "SAMP_DEN_COEFF": " ".join(["1"] + ["0"] * 19),
}


def failure(path: Path) -> str:
    with pytest.raises(SceneError) as told:
        describe(path)
    message = str(told.value)
    assert "\n" not in message
    return message


def test_shape_bands_and_layout_are_the_files(make_raster):
    path = make_raster(
        PIXELS,
        block=16,
        nodata=7,
        colors=["blue", "green", "red", "nir"],
        descriptions=["B02", "B03", "B04", None],
    )
    scene = describe(path)
    assert (scene.height, scene.width, scene.count, scene.dtype) == (40, 60, 4, "uint16")
    assert (scene.block_height, scene.block_width, scene.striped) == (16, 16, False)
    assert scene.descriptions == ("B02", "B03", "B04", None)
    assert scene.colors == ("blue", "green", "red", "nir")
    assert scene.nodata == (7, 7, 7, 7)
    assert (scene.driver, scene.file_bytes) == ("GTiff", path.stat().st_size)
    assert not scene.scaled


def test_a_description_travels_between_processes(make_raster):
    scene = describe(make_raster(PIXELS, tags={"RPC_TEST": "1"}))
    assert pickle.loads(pickle.dumps(scene)) == scene


@pytest.mark.parametrize(
    ("rows", "layout", "striped"),
    [(40, {"blockysize": 8}, True), (20, {"blockysize": 20}, False), (40, {"block": 64}, False)],
)
def test_a_scene_is_striped_where_blocks_are_whole_rows_but_not_all(
    make_raster, rows, layout, striped
):
    assert describe(make_raster(PIXELS[:1, :rows], **layout)).striped is striped


@pytest.mark.parametrize(
    ("layout", "block"), [({"blockysize": 8}, (8, 60)), ({"block": 32}, (32, 32))]
)
def test_a_vrts_blocks_are_those_of_its_source(make_raster, make_vrt, layout, block):
    make_raster(PIXELS, "a.tif", **layout)
    scene = describe(make_vrt([[("a.tif", 1, 0, 60)]], 40, 60))
    assert (scene.block_height, scene.block_width) == block


def test_scale_and_offset_tags_are_noticed(make_raster):
    assert describe(make_raster(PIXELS, "scale.tif", scales=[1, 1, 1, 0.1])).scaled
    assert describe(make_raster(PIXELS, "offset.tif", offsets=[0, 0, -1, 0])).scaled


def test_crs_and_transform_are_the_files(make_raster):
    transform = Affine(0.5, 0.1, 400_000, 0.2, -0.5, 5_500_000)
    where = describe(make_raster(PIXELS, transform=transform)).georeference
    assert where.crs_wkt is not None
    assert CRS.from_wkt(where.crs_wkt) == CRS.from_epsg(32633)
    assert where.transform == transform.to_gdal() == (400_000, 0.5, 0.1, 5_500_000, 0.2, -0.5)
    assert where.area_or_point == "Area"


def test_a_scene_without_georeference_has_none(make_raster):
    where = describe(make_raster(PIXELS, crs=None, transform=None)).georeference
    assert where == Georeference(None, None, (), None, {}, None)


def test_ground_control_points_come_with_their_crs(make_raster):
    points = [
        GroundControlPoint(row, col, 10 + col / 100, 50 - row / 100, 5, id=f"{row}-{col}")
        for row in (0, 40)
        for col in (0, 60)
    ]
    where = describe(make_raster(PIXELS, crs=None, transform=None, gcps=points)).georeference
    assert where.transform is None
    assert where.gcp_crs_wkt is not None
    assert CRS.from_wkt(where.gcp_crs_wkt) == CRS.from_epsg(4326)
    assert [g[:5] for g in where.gcps] == [(p.row, p.col, p.x, p.y, p.z) for p in points]


def test_rational_polynomials_come_as_the_file_has_them(tmp_path, make_raster):
    path = make_raster(PIXELS)
    with rasterio.open(path, "r+") as file:
        file.update_tags(ns="RPC", **RPCS)
    rpcs = describe(path).georeference.rpcs
    assert set(RPCS) <= set(rpcs)
    assert float(rpcs["LAT_OFF"]) == 50


def test_a_point_raster_says_so(make_raster):
    path = make_raster(PIXELS, tags={"AREA_OR_POINT": "Point"})
    assert describe(path).georeference.area_or_point == "Point"


@pytest.mark.parametrize(
    "name", ["a [1] b.tif", "x(1) 50%.tif", "été.tif", "-lead.tif", "a,b;c#d?.tif", "场景.tif"]
)
def test_any_name_in_utf8_will_do(make_raster, name, monkeypatch, tmp_path):
    make_raster(PIXELS, name)
    monkeypatch.chdir(tmp_path)
    assert describe(Path(name)).count == 4


def test_a_missing_file_is_told(tmp_path):
    assert failure(tmp_path / "gone.tif") == f"{tmp_path}/gone.tif: does not exist"


def test_a_link_to_nothing_is_told(tmp_path):
    (tmp_path / "link.tif").symlink_to("gone.tif")
    assert failure(tmp_path / "link.tif").endswith("link.tif: does not exist (a link to nothing)")


def test_an_empty_file_is_told(tmp_path):
    (tmp_path / "empty.tif").touch()
    assert failure(tmp_path / "empty.tif").endswith("empty.tif: is empty (0 bytes)")


def test_a_file_that_is_no_raster_is_told(tmp_path):
    (tmp_path / "text.tif").write_text("not a raster at all")
    message = failure(tmp_path / "text.tif")
    assert message == (
        f"{tmp_path}/text.tif: GDAL cannot open it as a raster: "
        "not recognized as being in a supported file format"
    )


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.tif")
    assert failure(tmp_path / "pipe.tif").endswith("pipe.tif: is no regular file")


def test_a_folder_is_told_with_what_to_give_instead(tmp_path):
    assert failure(tmp_path) == (
        f"{tmp_path}: is a folder, and a scene is one file. "
        f"Give its files, or a glob such as {tmp_path}/*.tif"
    )


def test_a_name_that_is_not_utf8_is_told_in_escapes(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xe9t\xe9.tif"))
    path.touch()
    assert "\\xe9t\\xe9.tif: its name is not valid UTF-8" in failure(path)


def test_complex_numbers_are_refused(make_raster):
    message = failure(make_raster(PIXELS[:1].astype("complex64")))
    assert "scene.tif: holds complex numbers (complex64)" in message


def test_a_container_without_bands_lists_its_subdatasets(tmp_path):
    path = tmp_path / "two.nc"
    path.write_bytes(netcdf(["red", "height"]))
    assert failure(path) == (
        f"{path}: has no bands of its own; its 2 subdatasets: red, height. "
        f"Extract one to a file, e.g. gdal_translate 'netcdf:{path}:red' one.tif"
    )


def netcdf(names: list[str]) -> bytes:
    """A NetCDF classic file with a variable of 3 rows for each name, none as wide as another."""

    def text(name: str) -> bytes:
        return struct.pack(">i", len(name)) + name.encode() + b"\0" * (-len(name) % 4)

    absent = struct.pack(">ii", 0, 0)
    dimensions = [("y", 3), *((f"x{i}", i + 4) for i in range(len(names)))]
    header = b"CDF\x01" + struct.pack(">iii", 0, 10, len(dimensions))
    header += b"".join(text(name) + struct.pack(">i", size) for name, size in dimensions) + absent
    variables = struct.pack(">ii", 11, len(names))
    for i, name in enumerate(names, 1):
        # Two dimensions, no attribute; then type (byte), size and offset of the values.
        size = -(-3 * dimensions[i][1] // 4) * 4
        variables += text(name) + struct.pack(">iii", 2, 0, i) + absent
        variables += struct.pack(">iii", 1, size, 512 * i)
    return (header + variables).ljust(2048, b"\0")


def test_a_block_too_large_to_decode_is_refused(tmp_path):
    path = tmp_path / "bomb.tif"
    side = 32768
    layout = {"tiled": True, "blockxsize": side, "blockysize": side, "compress": "deflate"}
    size = {"height": side, "width": side, "count": 4, "dtype": "uint8"}
    with rasterio.open(
        path, "w", driver="GTiff", crs="EPSG:4326", SPARSE_OK=True, **size, **layout
    ):
        pass
    assert "bomb.tif: one block of it (32768 x 32768 pixels, 4 bands) takes 4.0 GiB" in failure(
        path
    )


def test_a_missing_band_is_told_with_the_scenes_name(make_raster):
    scene = describe(make_raster(PIXELS[:3]))
    with pytest.raises(SceneError) as told:
        choose_scene_bands(scene, ("blue", "green", "red", "nir"), None)
    assert str(told.value) == (
        f"{scene.path}: has 3 bands; the model reads 4: blue, green, red, nir"
    )
