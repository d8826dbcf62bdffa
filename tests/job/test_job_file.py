"""What a job file may say, and what it means where it says nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.job.files import JOB, changed, faults, load, write
from tiler.job.load import load_job
from tiler.job.model import Device, Job, Output, Run, Scenes, Tiling

# What it means


def test_a_short_job_means_all_its_defaults(tmp_path: Path) -> None:
    assert load(tmp_path).job == Job(
        version=1,
        name="job",
        scenes=Scenes(include=["scenes/*.tif"], exclude=[], bands=None, nodata=None, invalid="all"),
        model="card.yaml",
        tiling=Tiling(size=768, overlap=None, margin=None, stride=None),
        device=Device(
            provider="cpu",
            ids=[0],
            threads=None,
            batch=1,
            strict=True,
            options={},
            cache_dir=None,
            parity=0.98,
        ),
        output=Output(dir="out", name="{stem}_labels.tif", compress="zstd", quicklook=False),
        run=Run(tiles_per_part=64),
    )


@pytest.mark.parametrize(
    ("tiling", "size", "overlap", "margin", "stride"),
    [
        ({}, 768, 128, 64, 640),
        ({"size": 512}, 512, 128, 64, 384),
        ({"overlap": 0}, 768, 0, 0, 768),
        ({"overlap": 767}, 768, 767, 383, 1),
        ({"margin": 32}, 768, 64, 32, 704),
        ({"margin": 0}, 768, 0, 0, 768),
        ({"stride": 700}, 768, 68, 34, 700),
        ({"size": 512, "stride": 512}, 512, 0, 0, 512),
        ({"size": 1, "overlap": 0}, 1, 0, 0, 1),
    ],
)
def test_overlap_margin_and_stride_are_three_ways_to_say_the_same(
    tmp_path: Path, tiling: dict[str, int], size: int, overlap: int, margin: int, stride: int
) -> None:
    found = load(tmp_path, changed(JOB, {"tiling": tiling})).job.tiling
    told = (found.size_px, found.overlap_px, found.margin_px, found.stride_px)
    assert told == (size, overlap, margin, stride)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "coast-2026_v1.b"),
        ("name", "海岸"),
        ("scenes.bands", [4, 3, 2, 2]),
        ("scenes.bands", ["nir", 1]),
        ("scenes.nodata", -9999),
        ("scenes.nodata", 0.5),
        ("scenes.nodata", -math.inf),
        ("scenes.invalid", "any"),
        ("device.provider", "cann"),
        ("device.ids", [3, 1]),
        ("device.ids", "all"),
        ("device.threads", 4),
        ("device.batch", 8),
        ("device.strict", False),
        ("device.options", {"precision_mode": "allow_fp32_to_fp16", "a": 1, "b": True, "c": 0.5}),
        ("device.parity", None),
        ("device.parity", 1),
        ("output.compress", "none"),
        ("output.name", "{parent}-{stem}.{ext}.tif"),
        ("output.name", "{{x}}.tif"),
        ("output.quicklook", True),
        ("run.tiles_per_part", 1),
    ],
)
def test_a_value_is_taken_as_it_stands(tmp_path: Path, key: str, value: Any) -> None:
    found: Any = load(tmp_path, changed(JOB, {key: value})).job
    for step in key.split("."):
        found = getattr(found, step)
    assert found == value
    assert type(found) in (type(value), float)


def test_nodata_may_be_not_a_number(tmp_path: Path) -> None:
    nodata = load(tmp_path, changed(JOB, {"scenes.nodata": math.nan})).job.scenes.nodata
    assert nodata is not None
    assert math.isnan(nodata)


# The job's name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("coast.yaml", "coast"),
        ("coast.v2.yml", "coast.v2"),
        ("coast 2026.yaml", "coast_2026"),
        (".hidden", "_hidden"),
        ("-x.yaml", "_x"),
        ("海岸.yaml", "海岸"),
        ("x" * 200 + ".yaml", "x" * 60),
    ],
)
def test_a_job_without_a_name_is_called_after_its_file(
    tmp_path: Path, file: str, name: str
) -> None:
    loaded = load_job(write(tmp_path / file, JOB))
    assert loaded.job.name == name
    assert load(tmp_path, changed(JOB, {"name": name})).job.name == name


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..", ".x", "-x", "a\\b", "x" * 61, "a\0"])
def test_a_name_that_is_no_folder_name_is_refused(tmp_path: Path, name: str) -> None:
    (line,) = faults(tmp_path, changed(JOB, {"name": name}))
    assert line.startswith("job.yaml: name: found '")
    assert (
        line.endswith(
            "', expected up to 60 characters without spaces and slashes, not starting with . or -"
        )
        or "…, expected up to 60" in line
    )
