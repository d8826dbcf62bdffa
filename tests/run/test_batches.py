"""Several tiles in one run of the model."""

from pathlib import Path

import numpy as np
import onnx

from tests.conftest import write_raster
from tests.models import thresholds_labels, thresholds_model
from tests.run.conftest import JobFolder

RULE = [100.0] * 4


def open_batch(path: Path) -> Path:
    """The same model, its batch left open."""
    model = onnx.load(path)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    onnx.save(model, path)
    return path


def test_a_last_batch_that_is_not_full_is_padded_and_the_padding_thrown_away(
    folder: JobFolder,
) -> None:
    values = np.random.default_rng(4).integers(0, 256, (4, 700, 500), np.uint8)
    write_raster(values, folder=folder.path)
    model = open_batch(thresholds_model(folder.path / "rule.onnx", 4, 256, RULE))
    job = folder.job(["scene.tif"], folder.card(model, 4, 16), device__batch=5)
    ended = folder.run(job)
    assert ended.exit_code == 0, ended.stderr
    assert ended.report["scenes"][0]["tiles"] == 9
    assert (folder.labels("scene") == thresholds_labels(values, RULE)).all()


def test_2_for_a_batch_that_the_model_does_not_take(folder: JobFolder) -> None:
    write_raster(np.ones((4, 300, 300), np.uint8), folder=folder.path)
    model = thresholds_model(folder.path / "rule.onnx", 4, 256, RULE)
    ended = folder.run(folder.job(["scene.tif"], folder.card(model, 4, 16), device__batch=2))
    assert ended.exit_code == 2, ended.stderr
    assert "batch" in ended.report["error"]
    assert not folder.out.exists()
