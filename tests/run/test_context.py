"""A model that looks around each pixel, through tiles, equals one run over the whole scene."""

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from tests.conftest import MakeRaster
from tests.models import KERNEL_PX, context_model
from tests.run.conftest import JobFolder

SIZE_PX, OVERLAP_PX = 768, 64
STRIDE_PX = SIZE_PX - OVERLAP_PX
SHAPES = [
    (1, 1),
    (1, 5000),
    (767, 769),
    (768, 768),
    (SIZE_PX + STRIDE_PX, SIZE_PX + 2 * STRIDE_PX),
    (SIZE_PX + STRIDE_PX + 1, SIZE_PX + STRIDE_PX - 1),
    (1111, 2003),
]


def whole_scene(folder: JobFolder, pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The model run once over the scene, padded by reflection where it is less than a tile."""
    _, height, width = pixels.shape
    padding = ((0, 0), (0, max(SIZE_PX - height, 0)), (0, max(SIZE_PX - width, 0)))
    padded = np.pad(pixels, padding, mode="reflect").astype(np.float32)
    model = context_model(folder.path / "whole.onnx", "any")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (labels,) = session.run(None, {"input": padded[None]})
    return np.asarray(labels[0, 0, :height, :width])


def test_every_pixel_at_sizes_that_are_and_are_not_multiples_of_the_stride(
    folder: JobFolder, make_raster: MakeRaster
) -> None:
    assert OVERLAP_PX >= KERNEL_PX - 1
    rng = np.random.default_rng(7)
    pixels = {
        f"scene-{height}-{width}.tif": rng.integers(0, 256, (4, height, width), np.uint8)
        for height, width in SHAPES
    }
    scenes = [make_raster(values, name) for name, values in pixels.items()]
    card = folder.card(context_model(folder.path / "context.onnx", SIZE_PX), 4, 8)
    ended = folder.run(folder.job(scenes, card, size=SIZE_PX, overlap=OVERLAP_PX))
    assert ended.exit_code == 0, ended.stderr
    for name, values in pixels.items():
        assert (folder.labels(name) == whole_scene(folder, values)).all(), name


def test_a_model_that_ends_in_logits_is_labelled_by_its_largest_one(
    folder: JobFolder, make_raster: MakeRaster
) -> None:
    pixels = np.random.default_rng(8).integers(0, 256, (4, 900, 800), np.uint8)
    scene = make_raster(pixels)
    model = context_model(folder.path / "context.onnx", SIZE_PX, logits=True)
    card = folder.card(model, 4, 8, output={"logits": "logits"})
    ended = folder.run(folder.job([scene], card, size=SIZE_PX, overlap=OVERLAP_PX))
    assert ended.exit_code == 0, ended.stderr
    assert (folder.labels(scene) == whole_scene(folder, pixels)).all()
