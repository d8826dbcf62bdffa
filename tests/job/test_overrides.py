"""`--set key.path=value`: what it changes, and what is said of slips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.job.files import JOB, changed, faults, job_lines, load


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("tiling.overlap=64", "tiling.overlap", 64),
        ("tiling={size: 512, overlap: 32}", "tiling.overlap", 32),
        ("name=other", "name", "other"),
        ("name='7'", "name", "7"),
        (" name = spaced ", "name", "spaced"),
        ("device.ids=[1, 2]", "device.ids", [1, 2]),
        ("device.ids=all", "device.ids", "all"),
        ("device.strict=false", "device.strict", False),
        ("device.parity=null", "device.parity", None),
        ("device.parity=", "device.parity", None),
        ("device.parity=9e-1", "device.parity", 0.9),
        ("device.options.precision_mode=force_fp16", "device.options", {
            "precision_mode": "force_fp16"}),
        ("scenes.include=[a.tif, 'b c.tif']", "scenes.include", ["a.tif", "b c.tif"]),
        ("model=a=b.yaml", "model", "a=b.yaml"),
        # What is no YAML is the text that it looks like.
        ("output.name={stem}_x.tif", "output.name", "{stem}_x.tif"),
        ("model=*.yaml", "model", "*.yaml"),
        ("model=@card.yaml", "model", "@card.yaml"),
    ],
)  # fmt: skip
def test_a_key_is_set(tmp_path: Path, override: str, path: str, value: Any) -> None:
    found: Any = load(tmp_path, JOB, override).job
    for step in path.split("."):
        found = getattr(found, step)
    assert found == value


def test_the_last_of_several_holds(tmp_path: Path) -> None:
    job = load(tmp_path, JOB, "tiling.size=512", "tiling={overlap: 1}", "tiling.size=256").job
    assert (job.tiling.size_px, job.tiling.overlap_px) == (256, 1)


def test_other_keys_of_a_section_stay(tmp_path: Path) -> None:
    content = changed(JOB, {"tiling": {"size": 512, "overlap": 8}})
    tiling = load(tmp_path, content, "tiling.overlap=16").job.tiling
    assert (tiling.size_px, tiling.overlap_px) == (512, 16)


def test_a_section_that_the_file_leaves_empty_can_be_filled(tmp_path: Path) -> None:
    job = load(tmp_path, changed(JOB, {"tiling": None}), "tiling.size=512").job
    assert job.tiling.size_px == 512


def test_a_missing_key_can_be_given(tmp_path: Path) -> None:
    content = changed(JOB, {"output": {}})
    assert load(tmp_path, content, "output.dir=there").output_dir == tmp_path / "there"


def test_paths_are_relative_to_the_job_file_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert load(tmp_path, JOB, "output.dir=there").output_dir == tmp_path / "there"


@pytest.mark.parametrize("override", ["", "tiling", "tiling.overlap", "=5", ".a=5", "a..b=5"])
def test_what_is_no_assignment_is_told(tmp_path: Path, override: str) -> None:
    assert faults(tmp_path, JOB, override) == [
        f"--set {override!r}: expected KEY.PATH=VALUE, such as tiling.overlap=64"
    ]


@pytest.mark.parametrize(
    ("override", "above"),
    [("model.name=5", "model"), ("scenes.include.0=a.tif", "scenes.include")],
)
def test_a_key_below_a_value_is_told(tmp_path: Path, override: str, above: str) -> None:
    assert faults(tmp_path, JOB, override) == [
        f"--set {override!r}: {above!r} holds a value, not keys"
    ]


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("tiling={size: 1, size: 2}", "line 1, column 11: the key 'size' stands twice"),
        ("scenes={1: 2}", "line 1, column 2: the key '1' is not text; put it in quotes"),
        (
            "scenes.include=[*.tif]",
            "line 1, column 3: is not YAML: put text that starts with * in quotes",
        ),
        ("device.ids=[0]]", "line 1, column 4: is not YAML: expected '<document start>', but "
         "found ']'"),
    ],
)  # fmt: skip
def test_a_list_or_mapping_that_is_no_yaml_is_told(
    tmp_path: Path, override: str, line: str
) -> None:
    assert faults(tmp_path, JOB, override) == [f"--set {override!r}: {line}"]


@pytest.mark.parametrize(
    ("override", "line"),
    [
        (
            "tiling.overlap=800",
            "tiling.overlap: 800 is not smaller than tiling.size (768). "
            "Use 0 to 640; 128 suits most models.",
        ),
        (
            "tiling.sise=5",
            "tiling: unknown key 'sise'; did you mean 'size'? Known: size, overlap, margin, stride",
        ),
        (
            "scenes.include=*.tif",
            "scenes.include: found '*.tif', expected a list, such as [a, b]",
        ),
        (
            "device.ids=[0, 1",
            "device.ids: found '[0, 1', expected a list of device ids, such as [0, 1], or all",
        ),
        ("version=2", "version: found 2; this tiler reads version: 1"),
    ],
)
def test_a_wrong_value_is_told_as_if_the_file_held_it(
    tmp_path: Path, override: str, line: str
) -> None:
    assert faults(tmp_path, JOB, override) == job_lines(line)
