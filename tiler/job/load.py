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
from tiler.job.yaml_file import parse_yaml, read_mapping

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


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
    """Read a job file. `overrides` are `key.path=value`, with the value in YAML.

    Paths are relative to the job file; `~` and `${VARIABLE}` are allowed in them.

    Raises JobError with a line for each fault.
    """
    found = read_mapping(path)
    for override in overrides:
        _apply(found, override)
    _check_version(found, path)
    job = validate(Job, found, str(path))
    if not job.name:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", path.stem)
        job = job.model_copy(update={"name": name if name[0].isalnum() else f"_{name}"})
    resolve = _Resolver(path, environ)
    cache_dir = job.device.cache_dir
    return LoadedJob(
        path=path,
        job=job,
        model_card=Path(resolve("model", job.model)),
        output_dir=Path(resolve("output.dir", job.output.dir)),
        include=tuple(resolve("scenes.include", p) for p in job.scenes.include),
        exclude=tuple(resolve("scenes.exclude", p) for p in job.scenes.exclude),
        cache_dir=None if cache_dir is None else Path(resolve("device.cache_dir", cache_dir)),
    )


class _Resolver:
    """Absolute paths from those in a job file."""

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self._base = path.absolute().parent

    def __call__(self, key: str, text: str) -> str:
        if "\0" in text:
            raise JobError(f"{self._path}: {key}: a path can't hold a NUL character")
        expanded = _VARIABLE.sub(lambda found: self._variable(key, found[1]), text)
        # Not resolved: a link in a path is the user's business, and so is what it is called.
        return os.path.normpath(self._base / Path(expanded).expanduser())

    def _variable(self, key: str, name: str) -> str:
        if name not in self._environ:
            raise JobError(
                f"{self._path}: {key}: the environment variable {name} is not set. "
                f"Set it, or write the path out"
            )
        return self._environ[name]


def _apply(found: dict[str, Any], override: str) -> None:
    """Set one key; sections on the way are made where the file lacks them."""
    key_path, equals, text = override.partition("=")
    keys = key_path.strip().split(".")
    if not equals or not all(keys):
        raise JobError(f"--set {override}: expected KEY.PATH=VALUE, such as tiling.overlap=64")
    section = found
    for key in keys[:-1]:
        inner = section.setdefault(key, {})
        if not isinstance(inner, dict):
            raise JobError(f"--set {override}: '{key}' holds a value, not keys")
        section = inner
    section[keys[-1]] = parse_yaml(text, f"--set {key_path}")


def _check_version(found: dict[str, Any], path: Path) -> None:
    version = found.get("version")
    if version is None:
        raise JobError(f"{path}: version: is missing; this tiler reads version: 1")
    if version != 1 or isinstance(version, bool):
        raise JobError(f"{path}: version: found {version!r}; this tiler reads version: 1")
