"""Which ONNX Runtime is installed, found out without importing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from tiler.errors import DeviceError

# The distributions that have a provider. Any of them runs `cpu`.
DISTRIBUTION_OF = {"cann": "onnxruntime-cann", "cuda": "onnxruntime-gpu"}
_EXTRA_OF = {"onnxruntime-cann": "cann", "onnxruntime-gpu": "cuda", "onnxruntime": "cpu"}


@dataclass(frozen=True)
class Runtime:
    """The installed distribution that the import `onnxruntime` comes from."""

    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def check_runtime(provider: str | None = None) -> Runtime:
    """The one ONNX Runtime of this environment; `provider` is what it will be asked for.

    Its distributions import under one name and overwrite each other's files, so there must be
    exactly one.

    Raises DeviceError, which says what was found and the command that mends it.
    """
    found = sorted(_installed_runtimes(), key=str)
    if not found:
        extra = provider or "cann"
        raise DeviceError(
            f"ONNX Runtime is not installed. Install one: pip install 'scene-tiler[{extra}]'"
        )
    if len(found) > 1:
        names = [r.distribution for r in found]
        raise DeviceError(
            f"{' and '.join(map(str, found))} are installed; they overwrite each other's files. "
            f"Keep one: pip uninstall -y {' '.join(names)} && "
            f"pip install 'scene-tiler[{_extra(provider, names)}]'"
        )
    (runtime,) = found
    needed = DISTRIBUTION_OF.get(provider or "", runtime.distribution)
    if runtime.distribution != needed:
        raise DeviceError(
            f"device.provider: {provider} needs {needed}; {runtime} is installed. "
            f"Install it instead: pip uninstall -y {runtime.distribution} && "
            f"pip install 'scene-tiler[{provider}]'"
        )
    if runtime.distribution == "onnxruntime-cann":
        _check_numpy(runtime)
    return runtime


def check_foreign_tiler() -> None:
    """Raises DeviceError if the other project called `tiler` is installed beside this one."""
    for distribution in metadata.distributions():
        if _normal(distribution) == "tiler":
            raise DeviceError(
                f"tiler {distribution.version} is installed: another project, with the same import "
                "name as scene-tiler. Keep one: pip uninstall -y tiler scene-tiler && "
                "pip install scene-tiler"
            )


def _installed_runtimes() -> set[Runtime]:
    return {
        Runtime(_normal(d), d.version)
        for d in metadata.distributions()
        if _normal(d).startswith(("onnxruntime", "ort-")) and "onnxruntime" in _imports(d)
    }


def _normal(distribution: metadata.Distribution) -> str:
    """The name as package indexes compare it (PEP 503); "" where a folder has lost its own."""
    name = distribution.metadata["Name"] or ""
    return re.sub(r"[-_.]+", "-", name).lower()


def _imports(distribution: metadata.Distribution) -> Iterator[str]:
    """The names that a distribution can be imported by."""
    listed = distribution.read_text("top_level.txt")
    if listed is not None:
        yield from listed.split()
        return
    yield from {file.parts[0] for file in distribution.files or ()}


def _extra(provider: str | None, names: list[str]) -> str:
    if provider in DISTRIBUTION_OF:
        return provider
    return next((e for name, e in _EXTRA_OF.items() if name in names), "cpu")


def _check_numpy(runtime: Runtime) -> None:
    """The CANN wheels are built for NumPy 1.x and don't declare it: with 2.x their import fails."""
    try:
        numpy = metadata.version("numpy")
    except metadata.PackageNotFoundError:
        return
    if int(numpy.split(".")[0]) >= 2:
        raise DeviceError(
            f"NumPy {numpy} is installed; {runtime} works with NumPy 1.x only. "
            "Install it: pip install 'numpy<2'"
        )
