"""What worker processes run: plain functions, called by name through the engine."""

from __future__ import annotations

from pathlib import Path

from tiler.engine.cluster import tell
from tiler.grid.parts import Part
from tiler.infer.model import Model
from tiler.infer.open import open_session
from tiler.infer.session import DeviceSpec, Placement, Session
from tiler.raster.describe import SceneInfo, describe
from tiler.run.label_part import PartResult, SceneWork, label_part

# The one session of this process: a device holds one model at a time, and a session must be
# used by the thread that made it (a device worker has one).
_session: tuple[Model, DeviceSpec, Session] | None = None


def start_device(model: Model, device: DeviceSpec) -> Placement:
    """Open this worker's session and prove by a warm-up run where it runs."""
    global _session
    if _session is not None:
        _session[2].close()
        _session = None
    session = open_session(model, device)
    placement = session.warm_up()
    _session = (model, device, session)
    return placement


def label_part_here(
    model: Model, device: DeviceSpec, scene: SceneWork, part: Part, target: Path
) -> PartResult:
    """Label a part on this worker's device; a worker that was restarted opens its session first."""
    if _session is None or _session[:2] != (model, device):
        start_device(model, device)
    assert _session is not None
    return label_part(scene, part, target, _session[2], tell)


def describe_scene(path: Path) -> SceneInfo:
    """Open a scene and tell what it is."""
    return describe(path)
