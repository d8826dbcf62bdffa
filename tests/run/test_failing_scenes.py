"""A scene that can't be labelled is named with its reason; the others are labelled."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import write_raster
from tests.models import thresholds_labels, thresholds_model
from tests.run.conftest import Ended, JobFolder

RULE = [100.0] * 4
PIXELS = np.random.default_rng(2).integers(0, 256, (4, 300, 320), np.uint8)
BANDS = ["blue", "green", "red", "nir"]


def vrt_with_a_hole(folder: Path) -> None:
    bands = "".join(
        f'<VRTRasterBand dataType="Byte" band="{i}"><SimpleSource><SourceFilename '
        f'relativeToVRT="1">gone.tif</SourceFilename><SourceBand>{i}</SourceBand></SimpleSource>'
        "</VRTRasterBand>"
        for i in range(1, 5)
    )
    text = f'<VRTDataset rasterXSize="320" rasterYSize="300">{bands}</VRTDataset>'
    (folder / "hole.vrt").write_text(text)


def damaged_block(folder: Path) -> None:
    path = write_raster(PIXELS, "damaged.tif", folder=folder, block=64, compress="deflate")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = b"\xff" * 2000
    path.write_bytes(content)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> JobFolder:
    """Bad scenes of every kind, and two good ones, first and last."""
    folder = JobFolder(tmp_path_factory.mktemp("job"))
    scenes = folder.path / "scenes"
    scenes.mkdir()
    write_raster(PIXELS, "a-good.tif", folder=scenes, descriptions=BANDS)
    write_raster(PIXELS[:3], "three.tif", folder=scenes)
    write_raster(PIXELS, "other.tif", folder=scenes, descriptions=["B1", "B2", "B3", "B4"])
    write_raster(PIXELS.astype(np.complex64), "complex.tif", folder=scenes)
    write_raster(PIXELS, "whole.tif", folder=scenes)
    content = (scenes / "whole.tif").read_bytes()
    (scenes / "whole.tif").unlink()
    (scenes / "truncated.tif").write_bytes(content[: len(content) // 2])
    (scenes / "text.tif").write_text("no raster at all")
    (scenes / "empty.tif").touch()
    vrt_with_a_hole(scenes)
    damaged_block(scenes)
    write_raster(PIXELS, "nowhere.tif", folder=scenes, crs=None, transform=None)
    write_raster(PIXELS, "z-good.tif", folder=scenes)
    return folder


@pytest.fixture(scope="module")
def ended(job: JobFolder) -> Ended:
    card = job.card(
        thresholds_model(job.path / "rule.onnx", 4, 256, RULE), 4, 16, input={"bands": BANDS}
    )
    return job.run(job.job(["scenes", "scenes/missing.tif"], card))


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        ("missing.tif", "does not exist"),
        ("text.tif", "cannot open it as a raster"),
        ("empty.tif", "is empty (0 bytes)"),
        ("truncated.tif", "cannot be read at rows"),
        ("damaged.tif", "cannot be read at rows"),
        ("hole.vrt", "gone.tif"),
        ("three.tif", "has 3 bands; the model reads 4: blue, green, red, nir"),
        ("other.tif", "has no band 'blue'"),
        ("complex.tif", "complex"),
    ],
)
def test_a_bad_scene_is_named_with_its_reason_in_one_line(
    ended: Ended, scene: str, reason: str
) -> None:
    error = ended.errors[scene]
    assert scene in error
    assert reason in error
    assert "\n" not in error


def test_some_failed_scenes_make_the_run_partial_with_exit_code_1(ended: Ended) -> None:
    assert (ended.exit_code, ended.report["status"]) == (1, "partial")


def test_the_good_scenes_are_labelled(job: JobFolder, ended: Ended) -> None:
    for scene in ("a-good", "z-good", "nowhere"):
        assert (job.labels(scene) == thresholds_labels(PIXELS, RULE)).all()


def test_nothing_else_lies_in_the_output_folder(job: JobFolder, ended: Ended) -> None:
    maps = [f"{s}_labels.tif" for s in ("a-good", "nowhere", "z-good")]
    assert job.files_in_out() == sorted(
        m + suffix for m in maps for suffix in ("", ".aux.xml", ".json")
    )


def test_no_traceback_is_shown(ended: Ended) -> None:
    assert "Traceback" not in ended.stderr


def test_a_scene_without_georeference_is_labelled_with_a_warning(ended: Ended) -> None:
    assert "nowhere.tif: has no georeference" in ended.stderr


def test_a_label_that_the_card_lacks_fails_the_scene(folder: JobFolder) -> None:
    scene = write_raster(PIXELS, folder=folder.path)
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, RULE), 4, 15)
    ended = folder.run(folder.job([scene], card))
    assert (ended.exit_code, ended.report["status"]) == (1, "failed")
    assert "the model answered label 15" in ended.errors["scene.tif"]
    assert not folder.out.exists()


def test_a_full_disk_fails_the_scene_and_leaves_nothing(
    folder: JobFolder, small_disk: Path
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (4, 2500, 2500), np.uint8)
    big = write_raster(noise, "big.tif", folder=folder.path)
    small = write_raster(PIXELS, "small.tif", folder=folder.path)
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, RULE), 4, 16)
    out = small_disk / "out"
    ended = folder.run(folder.job([big, small], card, output__dir=str(out)))
    assert ended.exit_code == 1
    assert "cannot be written: No space left on device" in ended.errors["big.tif"]
    assert sorted(p.name for p in out.rglob("*")) == [
        "small_labels.tif",
        "small_labels.tif.aux.xml",
        "small_labels.tif.json",
    ]
    shutil.rmtree(out)
