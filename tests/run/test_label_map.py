"""The label map that an analyst opens."""

import xml.etree.ElementTree as ElementTree
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine
from numpy.typing import NDArray
from rasterio.enums import ColorInterp
from rio_cogeo.cogeo import cog_validate

from tests.conftest import write_raster
from tests.models import thresholds_labels, thresholds_model
from tests.run.conftest import Ended, JobFolder

RULE = [100.0] * 4
ODD = Affine(10.1, 0, 400_000.3, 0, -10.1, 5_500_000.7)


def pixels(height: int = 1300, width: int = 1100) -> NDArray[np.uint8]:
    small = np.random.default_rng(1).integers(1, 256, (4, height // 20 + 1, width // 20 + 1))
    large = small.repeat(20, axis=1).repeat(20, axis=2)[:, :height, :width].astype(np.uint8)
    large[:, :200, :300] = 0
    return large


def card(folder: JobFolder) -> Path:
    return folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, RULE), 4, 16)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> JobFolder:
    """One scene, labelled with a quicklook."""
    folder = JobFolder(tmp_path_factory.mktemp("map"))
    write_raster(pixels(), folder=folder.path, nodata=0, transform=ODD, block=256)
    ended = folder.run(folder.job(["scene.tif"], card(folder), output__quicklook=True))
    assert ended.exit_code == 0, ended.stderr
    return folder


def label_map(folder: JobFolder) -> Path:
    return folder.out / "scene_labels.tif"


def test_it_is_a_valid_cloud_optimized_geotiff(made: JobFolder) -> None:
    valid, errors, warnings = cog_validate(label_map(made), strict=True)
    assert (valid, errors, warnings) == (True, [], [])


def test_it_lies_exactly_over_its_image(made: JobFolder) -> None:
    with rasterio.open(label_map(made)) as labels, rasterio.open(made.path / "scene.tif") as scene:
        assert labels.transform == scene.transform == ODD
        assert labels.crs == scene.crs
        assert labels.shape == scene.shape


def test_its_type_and_blocks(made: JobFolder) -> None:
    with rasterio.open(label_map(made)) as labels:
        assert (labels.count, labels.dtypes, labels.nodata) == (1, ("uint8",), 255)
        assert labels.block_shapes == [(512, 512)]
        assert labels.compression.name == "zstd"
        assert labels.overviews(1) == [2, 4]


def test_its_colour_table_has_the_classes_and_transparent_nodata(made: JobFolder) -> None:
    with rasterio.open(label_map(made)) as labels:
        assert labels.colorinterp == (ColorInterp.palette,)
        colors = labels.colormap(1)
    assert [colors[i] for i in range(16)] == [(i * 16, 128, 64, 255) for i in range(16)]
    assert colors[255] == (0, 0, 0, 0)


def test_its_class_names_are_where_gdal_looks_for_them(made: JobFolder) -> None:
    names = ElementTree.parse(f"{label_map(made)}.aux.xml").iter("Category")
    assert [n.text for n in names][:16] == [f"class {i}" for i in range(16)]


def test_its_tags_say_what_made_it(made: JobFolder) -> None:
    with rasterio.open(label_map(made)) as labels:
        tags = labels.tags()
    model = (made.path / "rule.onnx").read_bytes()
    assert tags["TILER_MODEL"] == "rule"
    assert tags["TILER_MODEL_SHA256"] == sha256(model).hexdigest()
    assert tags["TILER_TILING"] == "size 256, overlap 32"
    assert tags["TILER_BANDS"] == "1,2,3,4"
    assert tags["TILER_PROVIDER"] == "cpu"
    assert tags["TIFFTAG_SOFTWARE"].startswith("scene-tiler ")


def test_its_overviews_invent_no_class(made: JobFolder) -> None:
    with rasterio.open(label_map(made)) as labels:
        full = labels.read(1)
        half = labels.read(1, out_shape=(650, 550))
    assert set(np.unique(half)) <= set(np.unique(full))
    blocks = full[:1300, :1100].reshape(650, 2, 550, 2).transpose(0, 2, 1, 3).reshape(650, 550, 4)
    uniform = (blocks == blocks[..., :1]).all(axis=2)
    assert (half[uniform] == blocks[uniform, 0]).all()


def test_its_quicklook_shows_the_classes_colours(made: JobFolder) -> None:
    with rasterio.open(made.out / "scene_labels.png") as picture:
        assert max(picture.shape) == 1024
        colors = picture.read().reshape(4, -1)
    assert set(colors[1, colors[3] > 0]) == {128}
    assert (colors[3] == 0).any()
    assert made.files_in_out() == [
        "scene_labels.png",
        "scene_labels.tif",
        "scene_labels.tif.aux.xml",
        "scene_labels.tif.json",
    ]


def test_invalid_pixels_are_nodata_and_counted_out(made: JobFolder) -> None:
    labels = made.labels("scene")
    assert (labels[:200, :300] == 255).all()
    assert (np.where(labels == 255, 0, 1).sum()) == 1300 * 1100 - 200 * 300


def run_one(folder: JobFolder, scene: Path, **keys: object) -> Ended:
    ended = folder.run(folder.job([scene], card(folder), **keys))
    assert ended.exit_code == 0, ended.stderr
    return ended


def test_tiles_without_a_valid_pixel_are_not_run(folder: JobFolder) -> None:
    values = pixels(1000, 1000)
    values[:, 500:] = 0
    ended = run_one(folder, write_raster(values, folder=folder.path, nodata=0))
    (scene,) = ended.report["scenes"]
    assert scene["tiles_skipped"] > 0
    assert scene["tiles"] + scene["tiles_skipped"] == 25
    expected = np.where((values == 0).all(axis=0), 255, thresholds_labels(values, RULE))
    assert (folder.labels(scene["scene"]) == expected).all()


def test_a_scene_without_any_valid_pixel_is_nodata_throughout(folder: JobFolder) -> None:
    scene = write_raster(np.zeros((4, 300, 300), np.uint8), folder=folder.path, nodata=0)
    ended = run_one(folder, scene)
    assert ended.report["scenes"][0]["tiles"] == 0
    assert (folder.labels(scene) == 255).all()


@pytest.mark.parametrize("rule", ["all", "any"])
def test_a_pixel_with_some_invalid_bands_follows_the_jobs_rule(
    folder: JobFolder, rule: str
) -> None:
    values = pixels(300, 300)
    values[1, 210:250] = 0
    scene = write_raster(values, folder=folder.path, nodata=0)
    run_one(folder, scene, scenes__invalid=rule)
    masked = (values == 0).all(axis=0) if rule == "all" else (values == 0).any(axis=0)
    assert (folder.labels(scene) == np.where(masked, 255, thresholds_labels(values, RULE))).all()


def test_the_jobs_nodata_replaces_the_files(folder: JobFolder) -> None:
    values = pixels(300, 300)
    values[:, 220:240] = 7
    scene = write_raster(values, folder=folder.path, nodata=0)
    run_one(folder, scene, scenes__nodata=7)
    masked = (values == 7).all(axis=0)
    assert (folder.labels(scene) == np.where(masked, 255, thresholds_labels(values, RULE))).all()


RGBA = ["red", "green", "blue", "alpha"]


def rgba(folder: JobFolder) -> tuple[Path, NDArray[np.uint8]]:
    values = pixels(300, 300) | 1
    values[3, 100:200] = 0
    return write_raster(
        values, folder=folder.path, photometric="RGB", ALPHA="YES", colors=RGBA
    ), values


def test_a_band_tagged_alpha_that_the_model_reads_is_data(folder: JobFolder) -> None:
    scene, values = rgba(folder)
    ended = run_one(folder, scene)
    assert (folder.labels(scene) == thresholds_labels(values, RULE)).all()
    assert "alpha" in ended.stderr
    assert "WARNING" in ended.stderr


def test_an_alpha_band_that_the_model_does_not_read_masks(folder: JobFolder) -> None:
    scene, values = rgba(folder)
    model = thresholds_model(folder.path / "three.onnx", 3, 256, RULE[:3])
    names = {"bands": ["blue", "green", "red"]}
    ended = folder.run(folder.job([scene], folder.card(model, 3, 8, input=names)))
    assert ended.exit_code == 0, ended.stderr
    expected = thresholds_labels(values[[2, 1, 0]], RULE[:3])
    assert (folder.labels(scene) == np.where(values[3] == 0, 255, expected)).all()


def test_bands_are_found_by_their_names(folder: JobFolder) -> None:
    values = pixels(300, 300) | 1
    scene = write_raster(values, folder=folder.path, descriptions=["B4", "b3", "B2", "b1"])
    run_one(folder, scene)
    assert (folder.labels(scene) == thresholds_labels(values[::-1], RULE)).all()


def test_the_jobs_bands_come_first(folder: JobFolder) -> None:
    values = pixels(300, 300) | 1
    scene = write_raster(values, folder=folder.path, descriptions=["x", "y", "z", "w"])
    run_one(folder, scene, scenes__bands=[2, "x", 4, "z"])
    assert (folder.labels(scene) == thresholds_labels(values[[1, 0, 3, 2]], RULE)).all()


def test_more_than_254_classes_make_a_uint16_map(folder: JobFolder) -> None:
    values = pixels(300, 300)
    scene = write_raster(values, folder=folder.path, nodata=0)
    model = thresholds_model(folder.path / "rule.onnx", 4, 256, RULE)
    many = folder.card(model, 4, 300)
    assert folder.run(folder.job([scene], many)).exit_code == 0
    labels = folder.labels(scene)
    assert labels.dtype == np.uint16
    masked = (values == 0).all(axis=0)
    assert (labels == np.where(masked, 65535, thresholds_labels(values, RULE))).all()


def test_only_the_scenes_that_were_asked_for_are_labelled(folder: JobFolder) -> None:
    for name in ("a.tif", "b.tif"):
        write_raster(pixels(30, 30), name, folder=folder.path)
    ended = folder.run(folder.job(["*.tif"], card(folder)), "--scene", "b*")
    assert [Path(s["scene"]).name for s in ended.report["scenes"]] == ["b.tif"]


def test_many_scenes_share_the_devices_and_keep_their_order(folder: JobFolder) -> None:
    values = {f"s{i:02}.tif": pixels(300 + 7 * i, 280) for i in range(12)}
    for name, scene in values.items():
        write_raster(scene, name, folder=folder.path)
    ended = folder.run(folder.job(["s*.tif"], card(folder), ids=[0, 1], run__tiles_per_part=2))
    assert ended.exit_code == 0, ended.stderr
    assert [Path(s["scene"]).name for s in ended.report["scenes"]] == sorted(values)
    for name, scene in values.items():
        assert (folder.labels(name) == thresholds_labels(scene, RULE)).all()
