"""The parts of all scenes as one stream to the devices, so that none idles between scenes."""

from __future__ import annotations

import logging
import shutil
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tiler.engine.cluster import Engine, Finished, Told, WorkerDiedError
from tiler.errors import SceneError, TilerError
from tiler.grid.parts import Part
from tiler.infer.model import Model
from tiler.infer.session import DeviceSpec
from tiler.raster.describe import SceneInfo
from tiler.run.label_part import SceneWork
from tiler.run.last_words import last_words
from tiler.run.manifest import LabelledPart
from tiler.run.plan import ScenePlan
from tiler.run.publish_scene import PublishWork, publish_scene
from tiler.run.report import SceneOutcome
from tiler.run.tasks import describe_scene, label_part_here

log = logging.getLogger("tiler")

# Scenes that may wait in the spool for assembly before the devices are held back: it bounds
# what the spool takes on disk.
MOST_WAITING = 4
# Parts that wait for each device before the next scene is opened.
PARTS_AHEAD = 4


class Progress(Protocol):
    """What the stream tells as it goes."""

    def expect(self, tiles: int) -> None: ...
    def advance(self, tiles: int) -> None: ...
    def ended(self, outcome: SceneOutcome) -> None: ...


@dataclass(frozen=True)
class Recipe:
    """How the run's scenes are labelled: what is the same for all of them."""

    model: Model
    devices: Mapping[str, DeviceSpec]
    host: str
    plan: Callable[[SceneInfo], ScenePlan]
    work: Callable[[ScenePlan], SceneWork]
    publish: Callable[[ScenePlan, tuple[LabelledPart, ...]], PublishWork]


@dataclass
class _Scene:
    """A scene on its way, from its plan to its label map."""

    plan: ScenePlan
    work: SceneWork
    spool: Path
    missing: set[int]
    parts: list[LabelledPart] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.plan.info.path


class SceneStream:
    """Labels scenes on an engine whose device workers have their sessions open.

    Each device has at most one part in flight: dask counts the death of a worker against every
    task assigned to it, and an innocent part must not suffer for its neighbour.
    """

    def __init__(
        self, engine: Engine, recipe: Recipe, spool: Path, scenes: list[Path], progress: Progress
    ) -> None:
        self._engine = engine
        self._recipe = recipe
        self._spool = spool
        self._scenes = scenes
        self._number = {path: number for number, path in enumerate(scenes)}
        self._progress = progress
        self._to_describe = deque(scenes)
        self._parts: deque[tuple[_Scene, Part]] = deque()
        self._to_publish: deque[_Scene] = deque()
        self._idle = list(recipe.devices)
        self._describing = False
        self._publishing = False
        self._outcomes: dict[Path, SceneOutcome] = {}

    def run(self) -> None:
        """Label every scene."""
        while len(self._outcomes) < len(self._scenes):
            self._feed()
            event = self._engine.next_event()
            if isinstance(event, Told):
                self._progress.advance(event.message)
            else:
                self._take(event)

    def outcomes(self) -> tuple[SceneOutcome, ...]:
        """What became of each scene, in the order given; what is not done counts as failed."""
        stopped = "the run was stopped before this scene was done"
        return tuple(
            self._outcomes.get(p) or SceneOutcome(str(p), "failed", error=f"{p}: {stopped}")
            for p in self._scenes
        )

    def _feed(self) -> None:
        """Give each worker that has nothing to do the next thing to do."""
        recipe, engine = self._recipe, self._engine
        wanted = PARTS_AHEAD * len(recipe.devices)
        if not self._describing and self._to_describe and len(self._parts) < wanted:
            path = self._to_describe.popleft()
            self._describing = True
            engine.submit(recipe.host, path, describe_scene, path)
        while self._idle and self._parts and len(self._to_publish) < MOST_WAITING:
            scene, part = self._parts.popleft()
            device = self._idle.pop(0)
            target = scene.spool / f"part-{part.index:06d}.tif"
            engine.submit(
                device,
                (scene, part),
                label_part_here,
                recipe.model,
                recipe.devices[device],
                scene.work,
                part,
                target,
            )
        if not self._publishing and self._to_publish:
            scene = self._to_publish.popleft()
            self._publishing = True
            work = recipe.publish(scene.plan, tuple(scene.parts))
            engine.submit(recipe.host, scene, publish_scene, work, scene.spool)

    def _take(self, event: Finished) -> None:
        match event.key:
            case Path() as path:
                self._describing = False
                self._described(path, event)
            case (_Scene() as scene, Part() as part):
                self._idle.append(event.worker)
                self._labelled(scene, part, event)
            case _Scene() as scene:
                self._publishing = False
                self._published(scene, event)

    def _described(self, path: Path, event: Finished) -> None:
        if event.error is not None:
            self._fail(path, event)
            return
        try:
            plan = self._recipe.plan(event.value)
        except SceneError as error:
            self._fail(path, Finished(path, event.worker, error=error))
            return
        for note in plan.notes:
            log.info("%s: %s", path, note)
        for warning in plan.warnings:
            log.warning("%s: %s", path, warning)
        spool = self._spool / f"scene-{self._number[path]:06d}"
        spool.mkdir()
        missing = {part.index for part in plan.parts}
        scene = _Scene(plan, self._recipe.work(plan), spool, missing)
        self._parts.extend((scene, part) for part in plan.parts)
        self._progress.expect(len(plan.grid))

    def _labelled(self, scene: _Scene, part: Part, event: Finished) -> None:
        if scene.path in self._outcomes:
            # It failed while this part was under way.
            shutil.rmtree(scene.spool, ignore_errors=True)
        elif event.error is not None:
            self._fail(scene.path, event, f"part {part.index} ({part.core})")
            self._drop(scene)
        else:
            scene.missing.remove(part.index)
            scene.parts.append(LabelledPart(part.index, event.worker, event.value))
            if not scene.missing:
                self._to_publish.append(scene)

    def _published(self, scene: _Scene, event: Finished) -> None:
        shutil.rmtree(scene.spool, ignore_errors=True)
        if event.error is not None:
            self._fail(scene.path, event, "assembly")
            return
        self._end(
            scene.path,
            SceneOutcome(
                scene=str(scene.path),
                status="done",
                output=str(scene.plan.output),
                tiles=sum(p.result.tiles for p in scene.parts),
                tiles_skipped=sum(p.result.tiles_skipped for p in scene.parts),
            ),
        )

    def _drop(self, scene: _Scene) -> None:
        """Forget a failed scene's parts, and what they left in the spool."""
        left = [part for other, part in self._parts if other is scene]
        self._parts = deque(p for p in self._parts if p[0] is not scene)
        self._progress.expect(-sum(len(part) for part in left))
        shutil.rmtree(scene.spool, ignore_errors=True)

    def _fail(self, path: Path, event: Finished, where: str = "") -> None:
        error = event.error
        if isinstance(error, TilerError):
            told = str(error)
        elif isinstance(error, WorkerDiedError):
            device = self._recipe.devices.get(event.worker)
            told = f"{path}: {where or 'opening it'}: {error}{last_words(device)}"
        else:
            assert error is not None
            told = f"{path}: {where or 'opening it'}: internal error: {error!r}"
            log.error("%s\n%s", told, "".join(traceback.format_exception(error)).rstrip())
        self._end(path, SceneOutcome(scene=str(path), status="failed", error=told))

    def _end(self, path: Path, outcome: SceneOutcome) -> None:
        self._outcomes[path] = outcome
        self._progress.ended(outcome)
