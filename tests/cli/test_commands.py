"""What the commands print."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import write_raster
from tests.models import thresholds_model
from tests.run.conftest import JobFolder, run_tiler


@pytest.fixture
def job(folder: JobFolder) -> Path:
    values = np.ones((4, 500, 300), np.uint8)
    values[:, :260] = 0
    write_raster(values, "half.tif", folder=folder.path, nodata=0)
    write_raster(values[:, :100, :90], "small.tif", folder=folder.path)
    write_raster(values[:3], "three.tif", folder=folder.path)
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 256, [0.0] * 4), 4, 16)
    return folder.job(["*.tif"], card)


def test_plan_tells_everything_before_anything_runs(folder: JobFolder, job: Path) -> None:
    ended = run_tiler("plan", job, "--json")
    plan = json.loads(ended.stdout)
    assert plan["tiling"] == {
        "size_px": 256,
        "overlap_px": 32,
        "margin_px": 16,
        "stride_px": 224,
    }
    half, small, three = plan["scenes"]
    assert (half["tiles"], half["tile_rows"], half["tile_cols"]) == (6, 3, 2)
    # The first row of tiles owns rows 0 to 239, none of which has data.
    assert (half["tiles_skipped"], half["padding_px"], half["parts"]) == (2, [0, 0], 1)
    assert half["source_bytes"] == (folder.path / "half.tif").stat().st_size
    assert half["output"] == str(folder.out / "half_labels.tif")
    assert small["padding_px"] == [156, 166]
    assert "has 3 bands" in three["error"]
    assert ended.exit_code == 1
    assert not folder.out.exists()


def test_plan_for_a_person_names_each_scene(folder: JobFolder, job: Path) -> None:
    text = run_tiler("plan", job).stdout
    assert "size 256, overlap 32, margin 16, stride 224 px" in text
    assert "6 (3 rows x 2 columns), skipped: 2" in text
    assert "padding: 156 rows, 166 columns" in text
    assert "three.tif: has 3 bands" in text


def test_plan_without_a_scan_counts_no_skipped_tiles(job: Path) -> None:
    plan = json.loads(run_tiler("plan", job, "--json", "--no-scan").stdout)
    assert plan["scenes"][0]["tiles_skipped"] is None


def test_a_dry_run_is_a_plan(folder: JobFolder, job: Path) -> None:
    dry, plan = run_tiler("run", job, "--dry-run"), run_tiler("plan", job)
    assert (dry.exit_code, dry.stdout) == (plan.exit_code, plan.stdout)
    assert not folder.out.exists()


@pytest.mark.parametrize("what", ["job", "model"])
def test_schema_prints_json_schema(what: str) -> None:
    schema = json.loads(run_tiler("schema", what).stdout)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


def test_debug_shows_where_an_error_was_raised(folder: JobFolder) -> None:
    ended = run_tiler("run", folder.path / "no.yaml", "--debug")
    assert "Traceback" in ended.stderr


def test_help_loads_neither_dask_nor_gdal_nor_onnx_runtime() -> None:
    program = (
        "import sys; from tiler.cli.main import main; main(['--help']);"
        "heavy = ('distributed', 'rasterio', 'onnxruntime', 'numpy');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
