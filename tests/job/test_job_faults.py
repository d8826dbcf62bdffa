"""What is said of a wrong job file: one line for each fault."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.job.files import JOB, changed, faults, job_lines, without

JOB_KEYS = "version, name, scenes, model, tiling, device, output, run"
TILING_KEYS = "size, overlap, margin, stride"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        # Tiling.
        (
            {"tiling.overlap": 800},
            "tiling.overlap: 800 is not smaller than tiling.size (768). "
            "Use 0 to 640; 128 suits most models.",
        ),
        (
            {"tiling.overlap": 768},
            "tiling.overlap: 768 is not smaller than tiling.size (768). "
            "Use 0 to 640; 128 suits most models.",
        ),
        (
            {"tiling": {"size": 100}},
            "tiling.overlap: 128 (the default) is not smaller than tiling.size (100). Use 0 to 83.",
        ),
        (
            {"tiling": {"size": 1}},
            "tiling.overlap: 128 (the default) is not smaller than tiling.size (1). Use 0.",
        ),
        (
            {"tiling.margin": 384},
            "tiling.margin: 384 is not less than half of tiling.size (768). "
            "Use 0 to 320; 64 suits most models.",
        ),
        (
            {"tiling.stride": 769},
            "tiling.stride: 769 is larger than tiling.size (768). "
            "Use 128 to 768; 640 suits most models.",
        ),
        ({"tiling.stride": 0}, "tiling.stride: found 0, expected 1 or more"),
        ({"tiling.overlap": -1}, "tiling.overlap: found -1, expected 0 or more"),
        ({"tiling.size": 0}, "tiling.size: found 0, expected 1 or more"),
        ({"tiling.size": 10**9}, "tiling.size: found 1000000000, expected 16384 or less"),
        (
            {"tiling": {"overlap": 8, "stride": 640}},
            "tiling: found overlap and stride; expected one of them",
        ),
        (
            {"tiling": {"overlap": 8, "margin": 4, "stride": 760}},
            "tiling: found overlap and margin and stride; expected one of them",
        ),
        # Unknown keys.
        ({"modle": "x"}, f"unknown key 'modle'; did you mean 'model'? Known: {JOB_KEYS}"),
        (
            {"tiling.overlpa": 3},
            f"tiling: unknown key 'overlpa'; did you mean 'overlap'? Known: {TILING_KEYS}",
        ),
        (
            {"tiling.tile-size": 3},
            f"tiling: unknown key 'tile-size'; did you mean 'size'? Known: {TILING_KEYS}",
        ),
        (
            {"overlap": 3},
            f"unknown key 'overlap'; did you mean 'tiling.overlap'? Known: {JOB_KEYS}",
        ),
        ({"qqq": 3}, f"unknown key 'qqq'. Known: {JOB_KEYS}"),
        ({"tiling.": 3}, f"tiling: unknown key ''. Known: {TILING_KEYS}"),
        ({"a\nb": 3}, f"unknown key 'a\\nb'. Known: {JOB_KEYS}"),
        # Wrong types.
        ({"tiling.size": "big"}, "tiling.size: found 'big', expected a whole number"),
        ({"tiling.size": "768"}, "tiling.size: found '768', expected a whole number"),
        ({"tiling.size": 768.0}, "tiling.size: found 768.0, expected a whole number"),
        ({"tiling.size": True}, "tiling.size: found true, expected a whole number"),
        ({"tiling.size": None}, "tiling.size: found nothing, expected a whole number"),
        ({"tiling.size": [768]}, "tiling.size: found [768], expected a whole number"),
        ({"tiling": 768}, f"tiling: found 768, expected keys and values ({TILING_KEYS})"),
        ({"tiling": None}, f"tiling: found nothing, expected keys and values ({TILING_KEYS})"),
        ({"model": 5}, "model: found 5, expected text; put it in quotes"),
        ({"model": ["a"]}, "model: found ['a'], expected text"),
        ({"model": ""}, "model: found '', expected some text"),
        ({"output.dir": True}, "output.dir: found true, expected text; put it in quotes"),
        ({"output.quicklook": "yes"}, "output.quicklook: found 'yes', expected true or false"),
        ({"output.quicklook": 1}, "output.quicklook: found 1, expected true or false"),
        (
            {"output.compress": "zip"},
            "output.compress: found 'zip', expected zstd, deflate, lzw or none",
        ),
        ({"device.provider": "npu"}, "device.provider: found 'npu', expected cann, cuda or cpu"),
        ({"device.threads": 0}, "device.threads: found 0, expected 1 or more"),
        ({"device.batch": 0}, "device.batch: found 0, expected 1 or more"),
        ({"device.batch": 10_000}, "device.batch: found 10000, expected 1024 or less"),
        ({"device.parity": "half"}, "device.parity: found 'half', expected a number"),
        ({"device.parity": math.nan}, "device.parity: found nan, expected 0 or more"),
        ({"device.parity": 1.5}, "device.parity: found 1.5, expected 1 or less"),
        ({"run.tiles_per_part": 0}, "run.tiles_per_part: found 0, expected 1 or more"),
        ({"scenes.invalid": "some"}, "scenes.invalid: found 'some', expected all or any"),
        # Lists.
        ({"scenes.include": []}, "scenes.include: found [], expected at least one entry"),
        (
            {"scenes.include": "a.tif"},
            "scenes.include: found 'a.tif', expected a list, such as [a, b]",
        ),
        (
            {"scenes.include": ["a.tif", 5]},
            "scenes.include[1]: found 5, expected text; put it in quotes",
        ),
        (
            {"scenes.include": [{"a": [True, None]}]},
            "scenes.include[0]: found {a: [true, nothing]}, expected text",
        ),
        # Values that may have one of several forms.
        ({"scenes.bands": []}, "scenes.bands: found [], expected at least one entry"),
        ({"scenes.bands": 4}, "scenes.bands: found 4, expected a list, such as [a, b]"),
        *(
            (
                {"scenes.bands": [1, band]},
                f"scenes.bands[1]: found {said}, expected a band's index (1 is the first) or its "
                "name",
            )
            for band, said in ((0, "0"), (1.5, "1.5"), (True, "true"), ("", "''"), ([1], "[1]"))
        ),
        *(
            (
                {"device.ids": ids},
                f"device.ids: found {said}, expected a list of device ids, such as [0, 1], or all",
            )
            for ids, said in (
                *((0, "0"), ("0", "'0'"), ("any", "'any'"), ([], "[]"), ([-1], "[-1]")),
                *((["0"], "['0']"), ([1.0], "[1.0]"), (None, "nothing"), ([True], "[true]")),
            )
        ),
        ({"device.ids": [0, 1, 0]}, "device.ids: found [0, 1, 0], expected each device once"),
        (
            {"device.options": {"a": [1]}},
            "device.options.a: found [1], expected text, a number, true or false",
        ),
        (
            {"device.options": {"a b": None}},
            "device.options.'a b': found nothing, expected text, a number, true or false",
        ),
        ({"device.options": [1]}, "device.options: found [1], expected keys and values"),
        *(
            (
                {"scenes.nodata": nodata},
                f"scenes.nodata: found {said}, expected a number (not-a-number is written .nan, "
                "infinity .inf)",
            )
            for nodata, said in (("nan", "'nan'"), (True, "true"), ([0], "[0]"))
        ),
        # What is missing is described.
        *(
            ({"": path}, line)
            for path, line in (
                ("model", "model: is missing; expected: the model card, relative to the job file"),
                (
                    "scenes",
                    "scenes: is missing; expected: which scenes are labelled (include), and how",
                ),
                (
                    "scenes.include",
                    "scenes.include: is missing; expected: scenes: files, folders or globs "
                    "(** too), relative to the job file",
                ),
                (
                    "output.dir",
                    "output.dir: is missing; expected: folder of the label maps, relative to the "
                    "job file",
                ),
                (
                    "device.provider",
                    "device.provider: is missing; expected: cann (Ascend NPU), cuda (NVIDIA GPU) "
                    "or cpu. Never another than this one",
                ),
            )
        ),
        # Names of label maps.
        *(
            (
                {"output.name": name},
                f"output.name: found '{name}', expected no other fields than {{stem}}, {{parent}}, "
                "{ext}",
            )
            for name in (
                *("{date}.tif", "{}.tif", "{0}.tif", "{stem:>9}.tif", "{stem!r}.tif"),
                *("{stem.__class__}.tif", "{stem[0]}.tif", "{stem:{ext}}.tif"),
            )
        ),
        *(
            (
                {"output.name": name},
                f"output.name: found '{name}', expected braces in pairs, around one of {{stem}}, "
                "{parent}, {ext}; a brace itself is {{ or }}",
            )
            for name in ("{stem.tif", "stem}.tif")
        ),
        *(
            (
                {"output.name": name},
                f"output.name: found {name!r}, expected a file name, without folders, that ends in "
                ".tif",
            )
            for name in (
                *("", "labels", ".tif", "{stem}.png", "{stem}.tiff", "a/{stem}.tif", "../x.tif"),
                *(".{stem}.tif", "a\\{stem}.tif", "a\n{stem}.tif", "{stem}.tif\n"),
            )
        ),
    ],
)
def test_a_fault_is_one_line_for_its_author(
    tmp_path: Path, changes: dict[str, Any], line: str
) -> None:
    wrong = without(JOB, changes[""]) if "" in changes else changed(JOB, changes)
    assert faults(tmp_path, wrong) == job_lines(line)


def test_several_faults_are_several_lines(tmp_path: Path) -> None:
    wrong = changed(JOB, {"tiling.size": "big", "device.ids": 3, "scnes": 1, "scenes.bands": [0]})
    assert faults(tmp_path, without(wrong, "model")) == job_lines(
        "scenes.bands[0]: found 0, expected a band's index (1 is the first) or its name",
        "model: is missing; expected: the model card, relative to the job file",
        "tiling.size: found 'big', expected a whole number",
        "device.ids: found 3, expected a list of device ids, such as [0, 1], or all",
        f"unknown key 'scnes'; did you mean 'scenes'? Known: {JOB_KEYS}",
    )


def test_a_long_value_is_shortened(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, changed(JOB, {"tiling.size": "x" * 1000}))
    assert line == f"job.yaml: tiling.size: found '{'x' * 58}…, expected a whole number"


@pytest.mark.parametrize(
    ("version", "found"),
    [(2, "found 2"), ("1", "found '1'"), (1.0, "found 1.0"), (True, "found true"), (None, None)],
)
def test_another_version_is_refused_before_anything_else(
    tmp_path: Path, version: Any, found: str | None
) -> None:
    wrong = changed(JOB, {"version": version, "a key of the future": 1})
    line = f"version: {found or 'is missing'}; this tiler reads version: 1"
    assert faults(tmp_path, wrong) == job_lines(line)


def test_a_job_without_version_is_refused(tmp_path: Path) -> None:
    line = "version: is missing; this tiler reads version: 1"
    assert faults(tmp_path, without(JOB, "version")) == job_lines(line)
