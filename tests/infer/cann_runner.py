"""Runs cann_program.py on the simulated devices."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ascend_sim.environment import SwitchValue
from tests.ascend_sim.fixtures import AscendEnv
from tests.ascend_sim.trace import read_trace
from tests.infer.small_models import SIZE_PX
from tiler.job.card import LoadedCard

PROGRAM = Path(__file__).with_name("cann_program.py")
ROOT = Path(__file__).parents[2]
# Generous: nothing waits that long unless it hangs.
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Ended:
    """How a session went: the error that ended it, or its placement and labels."""

    error: str | None
    exit_code: int
    placement: dict[str, Any] | None
    summary: str
    tile_errors: list[tuple[int, str]]
    labels: NDArray[np.integer[Any]] | None
    trace: list[dict[str, Any]]
    folder: Path
    cwd: str
    stdout: str
    stderr: str

    def calls(self, function: str) -> list[dict[str, Any]]:
        return [call for call in self.trace if call["fn"] == function]

    @property
    def options(self) -> dict[str, str]:
        assert self.placement is not None, self.error
        options = self.placement["options"]
        assert isinstance(options, dict)
        return options


class CannRunner:
    """Starts sessions with one cache folder, each in a working directory of its own."""

    def __init__(self, ascend_env: AscendEnv, folder: Path) -> None:
        self.cache = folder / "cache"
        self._env = ascend_env
        self._folder = folder
        self._count = 0

    def __call__(self, card: LoadedCard, **asked: Any) -> Ended:
        """See `start`."""
        return self.end(self.start(card, **asked))

    def start(
        self,
        card: LoadedCard,
        *,
        size_px: int = SIZE_PX,
        tiles: int = 0,
        switches: dict[str, SwitchValue] | None = None,
        env: dict[str, str] | None = None,
        imported: tuple[str, ...] = (),
        lost_at: int | None = None,
        **device: Any,
    ) -> tuple[subprocess.Popen[str], Path]:
        """Start a session; `switches` are the simulator's, `env` replaces its whole environment,
        `device` goes to DeviceSpec."""
        self._count += 1
        folder = self._folder / f"process {self._count}"
        folder.mkdir()
        switches = {"trace": self._trace(folder), **(switches or {})}
        lost_file = None
        if lost_at is not None:
            lost_file = switches["lost_file"] = self._folder / f"lost {self._count}"
        asked = {
            "card": str(card.path),
            "size_px": size_px,
            "tiles": tiles,
            "labels": str(self._labels(folder)),
            "lost_file": lost_file and str(lost_file),
            "lost_at": lost_at,
            "imported": imported,
            "device": {"cache_dir": str(self.cache), "parity": 0.98, **device},
        }
        environment = env if env is not None else self._env(**switches)
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps(asked)],
            cwd=folder,
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return process, folder

    def end(self, started: tuple[subprocess.Popen[str], Path]) -> Ended:
        """Wait for a session's end."""
        process, folder = started
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, f"exit code {process.returncode}\n{stdout}\n{stderr}"
        told = json.loads(stdout.splitlines()[-1])
        labels = self._labels(folder)
        return Ended(
            error=told["error"],
            exit_code=told.get("exit_code", 0),
            placement=told["placement"],
            summary=told.get("summary", ""),
            tile_errors=[(first, error) for first, error in told["tile_errors"]],
            labels=np.load(labels) if labels.exists() else None,
            trace=read_trace(self._trace(folder)),
            folder=folder,
            cwd=told.get("cwd", ""),
            stdout=stdout,
            stderr=stderr,
        )

    def compiled_files(self) -> list[Path]:
        return sorted(self.cache.glob("om/*/*.om"))

    def _trace(self, folder: Path) -> Path:
        return folder.with_suffix(".trace")

    def _labels(self, folder: Path) -> Path:
        return folder.with_suffix(".npy")
