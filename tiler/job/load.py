"""A job file, read and checked, its paths made absolute."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiler.errors import JobError
from tiler.job.complain import validate
from tiler.job.model import Job
from tiler.job.paths import absolute_path
from tiler.job.yaml_file import parse_yaml, read_mapping


@dataclass(frozen=True)
class LoadedJob:
    """A job and where it points. `path` is the file as the user named it; the patterns in
    `include` and `exclude` are absolute, their glob characters untouched."""

    path: Path
    job: Job
    model_card: Path
    output_dir: Path
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    cache_dir: Path | None


def load_job(
    path: Path, overrides: Sequence[str] = (), environ: Mapping[str, str] = os.environ
) -> LoadedJob:
    """Read a job file. `overrides` are `key.path=value`, with the value in YAML; one that is no
    YAML is taken as text.

    Paths, overridden ones too, are relative to the folder that `path` names (which, where the
    file is a symbolic link, is the link's); `~` and `${VARIABLE}` are allowed in them.

    Raises JobError with a line for each fault.
    """
    found = read_mapping(path)
    for override in overrides:
        _apply(found, override)
    job = validate(Job, found, str(path))
    if not job.name:
        job = job.model_copy(update={"name": _name_from(path)})
    paths = _Paths(path, environ)
    loaded = LoadedJob(
        path=path,
        job=job,
        model_card=Path(paths.absolute("model", job.model)),
        output_dir=Path(paths.absolute("output.dir", job.output.dir)),
        include=paths.all_absolute("scenes.include", job.scenes.include),
        exclude=paths.all_absolute("scenes.exclude", job.scenes.exclude),
        cache_dir=None
        if job.device.cache_dir is None
        else Path(paths.absolute("device.cache_dir", job.device.cache_dir)),
    )
    if paths.faults:
        raise JobError("\n".join(dict.fromkeys(paths.faults)))
    return loaded


class _Paths:
    """Paths of a job file made absolute, and what is wrong with those that can't be."""

    def __init__(self, job_file: Path, environ: Mapping[str, str]) -> None:
        self.faults: list[str] = []
        self._job_file = job_file
        self._environ = environ

    def absolute(self, key: str, text: str) -> str:
        try:
            return absolute_path(text, self._job_file.parent, self._environ)
        except ValueError as error:
            self.faults.append(f"{self._job_file}: {key}: {error}")
            return ""

    def all_absolute(self, key: str, texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.absolute(f"{key}[{i}]", text) for i, text in enumerate(texts))


def _name_from(path: Path) -> str:
    """A name for a job that gives none; see JobName."""
    name = re.sub(r"[\s/\\\x00-\x1f]", "_", path.stem)[:60]
    return f"_{name[1:]}" if name[0] in ".-" else name


def _apply(found: dict[str, Any], override: str) -> None:
    """Set one key; sections on the way are made where the file lacks them."""
    key_path, equals, text = override.partition("=")
    keys = key_path.strip().split(".")
    if not equals or not all(keys):
        raise JobError(f"--set {override!r}: expected KEY.PATH=VALUE, such as tiling.overlap=64")
    section = found
    for depth, key in enumerate(keys[:-1], 1):
        if section.get(key) is None:
            section[key] = {}
        section = section[key]
        if not isinstance(section, dict):
            above = ".".join(keys[:depth])
            raise JobError(f"--set {override!r}: {above!r} holds a value, not keys")
    section[keys[-1]] = _override_value(text, override)


def _override_value(text: str, override: str) -> Any:
    try:
        return parse_yaml(text, f"--set {override!r}")
    except JobError:
        # `*.tif` and `{stem}.tif` are what they look like; a list or mapping is to be YAML.
        if text.rstrip().endswith(("]", "}")):
            raise
        return text
