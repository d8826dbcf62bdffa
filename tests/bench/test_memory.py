"""Memory does not grow with the scene."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import rasterio
from affine import Affine
from rasterio.windows import Window

from tests.models import thresholds_model
from tests.run.conftest import JobFolder


def scene(path: Path, size_px: int) -> Path:
    """A square 4-band uint16 scene, tiled 512, made row of blocks by row of blocks."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4000, (4, 512, size_px // 8), np.uint16).repeat(8, axis=2)
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        count=4,
        height=size_px,
        width=size_px,
        dtype="uint16",
        tiled=True,
        blockxsize=512,
        blockysize=512,
        compress="zstd",
        zstd_level=1,
        photometric="MINISBLACK",
        crs="EPSG:32633",
        transform=Affine(10, 0, 400_000, 0, -10, 5_500_000),
    ) as file:
        for row in range(0, size_px, 512):
            file.write(np.roll(rows, row, axis=2), window=Window(0, row, size_px, 512))
    return path


def peak_bytes(job: Path) -> int:
    """Most memory that the processes of a run hold together (PSS: shared pages count once)."""
    process = psutil.Popen(
        [sys.executable, "-m", "tiler", "run", str(job), "--quiet"], stdout=subprocess.DEVNULL
    )
    peak = 0
    while process.poll() is None:
        try:
            tree = [process, *process.children(recursive=True)]
            peak = max(peak, sum(p.memory_full_info().pss for p in tree))
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.1)
    assert process.returncode == 0
    return peak


def test_a_scene_16_times_as_large_takes_less_than_15_percent_more_memory(
    folder: JobFolder,
) -> None:
    card = folder.card(thresholds_model(folder.path / "rule.onnx", 4, 768, [1000.0] * 4), 4, 16)
    peaks = {}
    for size_px in (4096, 16384):
        path = scene(folder.path / f"scene-{size_px}.tif", size_px)
        job = folder.job([path], card, size=768, overlap=128)
        peaks[size_px] = peak_bytes(job)
        path.unlink()
    told = ", ".join(f"{size} px: {peak / 2**20:.0f} MB" for size, peak in peaks.items())
    print(told)
    assert peaks[16384] < 1.15 * peaks[4096], told
