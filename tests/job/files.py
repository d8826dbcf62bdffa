"""Job files and cards for tests: small right ones, and what is said of wrong ones."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tiler.errors import JobError
from tiler.job.card import LoadedCard, load_card
from tiler.job.load import LoadedJob, load_job

JOB: dict[str, Any] = {
    "version": 1,
    "scenes": {"include": ["scenes/*.tif"]},
    "model": "card.yaml",
    "device": {"provider": "cpu"},
    "output": {"dir": "out"},
}
CARD: dict[str, Any] = {
    "version": 1,
    "name": "water",
    "file": "water.onnx",
    "input": {"bands": ["green", "nir"]},
    "output": {"labels": "labels"},
    "classes": [
        {"id": 0, "name": "land", "color": "#c8955a"},
        {"id": 1, "name": "water", "color": "#4fa8d8"},
    ],
}


def changed(content: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy in which each `section.key` (or `list.0.key`) has its new value."""
    content = copy.deepcopy(content)
    for path, value in changes.items():
        *above, key = path.split(".")
        section: Any = content
        for step in above:
            section = (
                section[int(step)] if isinstance(section, list) else section.setdefault(step, {})
            )
        section[key] = value
    return content


def without(content: dict[str, Any], path: str) -> dict[str, Any]:
    """A copy that lacks a key."""
    content = copy.deepcopy(content)
    *above, key = path.split(".")
    section = content
    for step in above:
        section = section[step]
    del section[key]
    return content


def write(path: Path, content: dict[str, Any] | str | bytes) -> Path:
    if isinstance(content, dict):
        content = yaml.safe_dump(content, sort_keys=False)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def load(
    folder: Path, content: dict[str, Any] | str | bytes = JOB, *overrides: str, **options: Any
) -> LoadedJob:
    """Load a job written to job.yaml in `folder`."""
    return load_job(write(folder / "job.yaml", content), overrides, **options)


def load_a_card(folder: Path, content: dict[str, Any] | str | bytes = CARD) -> LoadedCard:
    """Load a card written to card.yaml in `folder`, beside an empty ONNX file."""
    (folder / "water.onnx").touch()
    return load_card(write(folder / "card.yaml", content))


def faults(
    folder: Path, content: dict[str, Any] | str | bytes = JOB, *overrides: str, **options: Any
) -> list[str]:
    """What is said of a wrong job, one line for each fault, from the file's name on."""
    with pytest.raises(JobError) as error:
        load(folder, content, *overrides, **options)
    return told(folder, error.value)


def card_faults(folder: Path, content: dict[str, Any] | str | bytes) -> list[str]:
    """The same of a wrong card."""
    with pytest.raises(JobError) as error:
        load_a_card(folder, content)
    return told(folder, error.value)


def told(folder: Path, error: JobError) -> list[str]:
    return [line.removeprefix(f"{folder}/") for line in str(error).splitlines()]


def job_lines(*lines: str) -> list[str]:
    return [f"job.yaml: {line}" for line in lines]


def card_lines(*lines: str) -> list[str]:
    return [f"card.yaml: {line}" for line in lines]
