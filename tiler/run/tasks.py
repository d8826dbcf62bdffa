"""What worker processes run: plain functions, called by name through the engine."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.engine.cluster import tell
from tiler.grid.parts import Part
from tiler.infer.model import Model
from tiler.infer.open import open_session
from tiler.infer.session import DeviceSpec, Placement, Session
from tiler.raster.describe import SceneInfo, describe
from tiler.raster.spool import write_part
from tiler.run.journal import PartResult, part_path, recall, record
from tiler.run.label_part import SceneWork, label_part
from tiler.run.watchdog import Watch, watched


@dataclass(frozen=True)
class DeviceWork:
    """What a device worker is to hold: a model, on a device, under a watch."""

    worker: str
    model: Model
    device: DeviceSpec
    watch: Watch


class _WatchedSession:
    """A session whose every run is watched."""

    def __init__(self, session: Session, watch: Watch) -> None:
        self._session = session
        self._watch = watch
        self.batch = session.batch

    def label(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        with watched(self._watch.tile_timeout_s, self._watch.stack_file):
            return self._session.label(tiles)

    def warm_up(self) -> Placement:
        return self._session.warm_up()

    def close(self) -> None:
        self._session.close()


# The one session of this process: a device holds one model at a time, and a session must be
# used by the thread that made it (a device worker has one).
_session: _WatchedSession | None = None


def open_here(work: DeviceWork) -> Placement:
    """Open this worker's session and prove by a warm-up run where it runs."""
    global _session
    with watched(work.watch.start_timeout_s, work.watch.stack_file):
        session = open_session(work.model, work.device)
        placement = session.warm_up()
    _session = _WatchedSession(session, work.watch)
    return placement


def label_here(work: DeviceWork, scene: SceneWork, part: Part, spool: Path) -> PartResult:
    """Label a part on this worker's device, write its labels to the spool, and note it there."""
    assert _session is not None, "a session is opened before a worker is given a part"
    started = time.monotonic()
    made = label_part(scene, part, _session, tell)
    file = write_part(part_path(spool, part.index), made.labels, part.core, scene.legend.nodata)
    result = PartResult(
        part.index, work.worker, file, made.tiles, made.tiles_skipped, time.monotonic() - started
    )
    record(spool, result)
    return result


def leave() -> None:
    """End this process, and with it whatever a failed device has left in it."""
    os._exit(0)


def describe_scene(path: Path, spool: Path) -> tuple[SceneInfo, list[PartResult]]:
    """Tell what a scene is, and which of its parts an earlier run has left in the spool."""
    return describe(path), recall(spool)
