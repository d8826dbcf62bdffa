"""What the rest of the product knows of devices: one interface, and what was proven of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DeviceSpec:
    """What to open: `device` of a job, for one device.

    `threads` are those of the cpu provider (None: the runtime's choice), `batch` is used where
    the model lets it be chosen, `cache_dir` holds compiled models (None: the user's cache),
    `parity` is the least share of labels that must equal the cpu provider's (None: not compared),
    `native_log` is where the device's native code writes its stderr to (None: nowhere to be seen).
    """

    provider: str
    id: int = 0
    threads: int | None = None
    batch: int = 1
    strict: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    cache_dir: Path | None = None
    parity: float | None = None
    native_log: Path | None = None


@dataclass(frozen=True)
class Placement:
    """What the warm-up run has proven: where the model runs, and with what.

    `nodes` counts node runs by provider in one run of the model; `elsewhere` describes those
    that were not the device's (empty in a strict session). `versions` and `compiled` (SHA-256 by
    file) hold what the provider knows. `parity` is the share of warm-up labels that equal the
    cpu provider's, None where they were not compared; `cpus` the ones that the process was bound
    to, None if it wasn't.
    """

    provider: str
    device: int
    runtime: str
    strict: bool
    model_sha256: str
    batch: int
    nodes: Mapping[str, int] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    compiled: Mapping[str, str] = field(default_factory=dict)
    parity: float | None = None
    cpus: str | None = None

    def summary(self) -> str:
        """One line, for logs and tags; the same for all devices of one kind."""
        said = [f"{self.provider}, {self.runtime}"]
        said += [f"{name} {version}" for name, version in self.versions.items()]
        if self.nodes:
            counts = ", ".join(f"{count} on {name}" for name, count in self.nodes.items())
            said.append(f"nodes a run: {counts}")
        if not self.strict:
            said.append("NOT STRICT" if self.elsewhere else "not strict")
        if self.parity is not None:
            said.append(f"{self.parity:.2%} of labels as on cpu")
        return ", ".join(said)


class Session(Protocol):
    """A model on a device. All calls are made in the thread that opened it."""

    @property
    def batch(self) -> int:
        """How many tiles one run takes."""
        ...

    def warm_up(self) -> Placement:
        """Run once and prove where; raises DeviceError where that is not as asked."""
        ...

    def label(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        """Labels [n, size, size] of tiles [n, band, size, size], n from 1 to `batch`, in the
        model's own integer dtype; raises DeviceError if the run fails."""
        ...

    def close(self) -> None:
        """Give the device back."""
        ...
