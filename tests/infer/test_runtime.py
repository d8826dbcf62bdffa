"""Exactly one ONNX Runtime, and no other project called `tiler`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tiler.errors import DeviceError
from tiler.infer.runtime import Runtime, check_foreign_tiler, check_runtime

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """An environment of its own, and a function that puts a distribution into it."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    def make(name: str, version: str, imports: str | None = None) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}")
        if imports is not None:
            (folder / "top_level.txt").write_text(imports)
        else:
            (folder / "RECORD").write_text("onnxruntime/__init__.py,,\n")
            # Python 3.12 lists only files that are there.
            (tmp_path / "onnxruntime").mkdir()
            (tmp_path / "onnxruntime" / "__init__.py").touch()
        importlib.invalidate_caches()

    return make


@pytest.mark.parametrize(
    ("distribution", "provider"),
    [
        ("onnxruntime", "cpu"),
        ("onnxruntime-gpu", "cpu"),
        ("onnxruntime-cann", "cpu"),
        ("onnxruntime-gpu", "cuda"),
        ("onnxruntime-cann", "cann"),
        ("onnxruntime-directml", None),
    ],
)
def test_the_one_runtime_is_found(install: Install, distribution: str, provider: str) -> None:
    install(distribution, "1.24.4", "onnxruntime")
    assert check_runtime(provider) == Runtime(distribution, "1.24.4")


def test_a_runtime_that_lists_files_instead_of_names_is_found(install: Install) -> None:
    install("onnxruntime", "1.24.4", None)
    assert check_runtime("cpu").distribution == "onnxruntime"


def test_a_companion_package_is_no_runtime(install: Install) -> None:
    install("onnxruntime", "1.24.4", "onnxruntime")
    install("onnxruntime-extensions", "0.14", "onnxruntime_extensions")
    assert check_runtime("cpu").distribution == "onnxruntime"


def test_none_is_an_error_with_the_command_that_installs_one(install: Install) -> None:
    with pytest.raises(DeviceError, match=r"pip install 'scene-tiler\[cpu\]'"):
        check_runtime("cpu")


def test_two_are_an_error_that_names_both_and_the_command_that_keeps_one(install: Install) -> None:
    install("onnxruntime", "1.24.3", "onnxruntime")
    install("onnxruntime-cann", "1.24.4", "onnxruntime")
    with pytest.raises(DeviceError) as caught:
        check_runtime("cpu")
    told = str(caught.value)
    assert "onnxruntime 1.24.3 and onnxruntime-cann 1.24.4" in told
    assert "pip uninstall -y onnxruntime onnxruntime-cann" in told
    assert "pip install 'scene-tiler[cann]'" in told


@pytest.mark.parametrize(
    ("provider", "needed"), [("cann", "onnxruntime-cann"), ("cuda", "onnxruntime-gpu")]
)
def test_a_runtime_without_the_provider_is_an_error_with_the_extra_that_has_it(
    install: Install, provider: str, needed: str
) -> None:
    install("onnxruntime", "1.24.3", "onnxruntime")
    with pytest.raises(DeviceError, match=rf"{needed}.*scene-tiler\[{provider}\]"):
        check_runtime(provider)


def test_numpy_2_with_the_cann_runtime_is_an_error_even_for_cpu(install: Install) -> None:
    install("onnxruntime-cann", "1.24.4", "onnxruntime")
    install("numpy", "2.1.0", "numpy")
    with pytest.raises(DeviceError, match=r"NumPy 2\.1\.0.*pip install 'numpy<2'"):
        check_runtime("cpu")


def test_numpy_2_with_another_runtime_is_fine(install: Install) -> None:
    install("onnxruntime", "1.24.4", "onnxruntime")
    install("numpy", "2.1.0", "numpy")
    check_runtime("cpu")


def test_another_project_called_tiler_is_an_error_that_says_so(install: Install) -> None:
    install("tiler", "0.6.0", "tiler")
    install("scene-tiler", "0.1.0", "tiler")
    with pytest.raises(DeviceError, match=r"tiler 0\.6\.0.*another project"):
        check_foreign_tiler()


def test_this_project_alone_is_fine(install: Install) -> None:
    install("scene-tiler", "0.1.0", "tiler")
    check_foreign_tiler()
