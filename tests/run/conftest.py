"""A job, run as its user runs it: in a process of its own, by the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import yaml
from numpy.typing import NDArray

from tests.ascend_sim.fixtures import ascend_env, ascend_lib  # noqa: F401

TILE_PX = 256


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        report = json.loads(self.stdout)
        assert isinstance(report, dict)
        return report

    @property
    def errors(self) -> dict[str, str]:
        """What was said of each scene that failed, by its file name."""
        return {
            Path(s["scene"]).name: s["error"]
            for s in self.report["scenes"]
            if s["status"] == "failed"
        }


def run_tiler(*arguments: str | Path, **options: Any) -> Ended:
    """Run `tiler` with these arguments."""
    return _run(["-m", "tiler", *map(str, arguments)], **options)


def run_program(program: Path, env: dict[str, str]) -> Ended:
    """Run a Python program of the test's own."""
    return _run([str(program)], env=env)


def _run(arguments: list[str], **options: Any) -> Ended:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=300, **options
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def read_labels(path: Path) -> NDArray[np.generic]:
    """The labels of a label map."""
    with rasterio.open(path) as file:
        return np.asarray(file.read(1))


@dataclass
class JobFolder:
    """A folder with a model card and a job, whose label maps go to `out`."""

    path: Path

    @property
    def out(self) -> Path:
        return self.path / "out"

    def card(self, onnx_file: Path, bands: int, classes: int, **keys: Any) -> Path:
        """Write a card for a model; `keys` replace the card's."""
        card = {
            "version": 1,
            "name": onnx_file.stem,
            "file": str(onnx_file),
            "input": {"bands": [f"b{i + 1}" for i in range(bands)]},
            "output": {"labels": "labels"},
            "classes": [
                {"id": i, "name": f"class {i}", "color": f"#{i * 16 % 256:02x}8040"}
                for i in range(classes)
            ],
        }
        path = onnx_file.with_suffix(".yaml")
        path.write_text(yaml.safe_dump({**card, **keys}))
        return path

    def job(
        self,
        scenes: Sequence[Path | str],
        card: Path,
        size: int = TILE_PX,
        overlap: int = 32,
        ids: Sequence[int] = (0,),
        **keys: Any,
    ) -> Path:
        """Write a job; `keys` (section__key=value, or section={…}) add to it."""
        job: dict[str, Any] = {
            "version": 1,
            "scenes": {"include": [str(s) for s in scenes]},
            "model": str(card),
            "tiling": {"size": size, "overlap": overlap},
            "device": {"provider": "cpu", "ids": list(ids)},
            "output": {"dir": str(self.out)},
        }
        for key, value in keys.items():
            section, _, name = key.partition("__")
            if name:
                job.setdefault(section, {})[name] = value
            else:
                job[section] = value
        path = self.path / "job.yaml"
        path.write_text(yaml.safe_dump(job))
        return path

    def labels(self, scene: Path | str) -> NDArray[np.generic]:
        """The labels made for a scene."""
        return read_labels(self.out / f"{Path(scene).stem}_labels.tif")

    def run(self, job: Path, *arguments: str) -> Ended:
        return run_tiler("run", job, "--json", *arguments)

    def files_in_out(self) -> list[str]:
        """Everything in the output folder, hidden files too."""
        return sorted(str(p.relative_to(self.out)) for p in self.out.rglob("*"))


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path)


@pytest.fixture
def tiler() -> Callable[..., Ended]:
    return run_tiler
