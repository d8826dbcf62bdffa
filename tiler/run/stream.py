"""The parts of all scenes as one stream to the devices, so that none idles between scenes."""

from __future__ import annotations

import logging
import shutil
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiler.engine.cluster import Engine, Finished, Told, WorkerDiedError
from tiler.errors import DeviceError, SceneError, TilerError
from tiler.raster.describe import SceneInfo
from tiler.run.devices import DevicePool
from tiler.run.journal import PartResult
from tiler.run.label_part import SceneWork
from tiler.run.plan import ScenePlan
from tiler.run.progress import PartToDo, Progress, SceneInProgress
from tiler.run.publish_scene import PublishWork, publish_scene
from tiler.run.report import SceneOutcome
from tiler.run.tasks import DeviceWork, describe_scene, label_here, leave, open_here
from tiler.run.watchdog import last_words

log = logging.getLogger("tiler")

# Scenes that may wait in the spool for assembly before the devices are held back: it bounds
# what the spool takes on disk.
MOST_WAITING = 4
# Parts that wait for each device before the next scene is opened.
PARTS_AHEAD = 4


@dataclass(frozen=True)
class Recipe:
    """How the run's scenes are labelled: what is the same for all of them."""

    devices: Mapping[str, DeviceWork]
    host: str
    retries: int
    spool: Callable[[Path], Path]
    plan: Callable[[SceneInfo], ScenePlan]
    work: Callable[[ScenePlan], SceneWork]
    publish: Callable[[ScenePlan, tuple[PartResult, ...]], PublishWork]


# What the engine is asked to do, by which its ends are told apart.
@dataclass(frozen=True)
class _Describe:
    path: Path


@dataclass(frozen=True)
class _Publish:
    scene: SceneInProgress


@dataclass(frozen=True)
class _Open:
    """A device worker, in a new process, opens its session again."""


@dataclass(frozen=True)
class _Leave:
    """A device worker ends its process."""


class SceneStream:
    """Labels scenes on an engine whose device workers have their sessions open.

    Each device has at most one part in flight: dask counts the death of a worker against every
    task assigned to it, and an innocent part must not suffer for its neighbour.
    """

    def __init__(
        self, engine: Engine, recipe: Recipe, scenes: list[Path], progress: Progress
    ) -> None:
        self._engine = engine
        self._recipe = recipe
        self._scenes = scenes
        self._progress = progress
        self._to_describe = deque(scenes)
        self._to_label: deque[PartToDo] = deque()
        self._to_publish: deque[SceneInProgress] = deque()
        self._pool = DevicePool(recipe.devices)
        self._host_does: set[type] = set()
        self._being_published: set[Path] = set()
        self._host_deaths: Counter[Path] = Counter()
        self._outcomes: dict[Path, SceneOutcome] = {}

    def run(self) -> None:
        """Label every scene, or as many as can be while a device is left."""
        while True:
            if not self._pool.left:
                self._give_up()
            if len(self._outcomes) == len(self._scenes):
                return
            self._feed()
            event = self._engine.next_event()
            if isinstance(event, Told):
                self._progress.advance(event.message)
            else:
                self._take(event)

    def outcomes(self) -> dict[Path, SceneOutcome]:
        """What became of the scenes that are done or have failed."""
        return self._outcomes

    def _feed(self) -> None:
        """Give each worker that has nothing to do the next thing to do."""
        recipe = self._recipe
        wanted = PARTS_AHEAD * len(recipe.devices)
        if self._to_describe and _Describe not in self._host_does and len(self._to_label) < wanted:
            path = self._to_describe.popleft()
            self._on_host(_Describe(path), describe_scene, path, recipe.spool(path))
        for device in self._pool.idle:
            todo = self._next_for(device) if len(self._to_publish) < MOST_WAITING else None
            if todo is not None:
                self._pool.take(device)
                work = recipe.devices[device]
                args = (work, todo.scene.work, todo.part, todo.scene.spool)
                self._engine.submit(device, todo, label_here, *args)
        if self._to_publish and _Publish not in self._host_does:
            scene = self._to_publish.popleft()
            self._being_published = {scene.path}
            assembly = recipe.publish(scene.plan, scene.results)
            self._on_host(_Publish(scene), publish_scene, assembly, scene.spool)

    def _on_host(self, key: _Describe | _Publish, function: Callable[..., Any], *args: Any) -> None:
        self._host_does.add(type(key))
        self._engine.submit(self._recipe.host, key, function, *args)

    def _next_for(self, device: str) -> PartToDo | None:
        """The first part that has not just failed on this device, while others may take it."""
        for index, todo in enumerate(self._to_label):
            if self._pool.left == 1 or todo.scene.avoid.get(todo.part.index) != device:
                del self._to_label[index]
                return todo
        return None

    def _take(self, event: Finished) -> None:
        match event.key:
            case _Describe(path):
                self._host_does.discard(_Describe)
                self._described(path, event)
            case PartToDo() as todo:
                self._labelled(todo, event)
            case _Publish(scene):
                self._host_does.discard(_Publish)
                self._being_published = set()
                self._published(scene, event)
            case _Leave():
                self._open(event.worker)
            case _Open():
                self._opened(event)

    def _described(self, path: Path, event: Finished) -> None:
        if path in self._outcomes:
            return
        if self._host_may_try_again(path, event):
            self._to_describe.appendleft(path)
            return
        if event.error is not None:
            self._fail(path, event.error)
            return
        info, results = event.value
        try:
            plan = self._recipe.plan(info)
        except SceneError as error:
            self._fail(path, error)
            return
        for note in plan.notes:
            log.info("%s: %s", path, note)
        for warning in plan.warnings:
            log.warning("%s: %s", path, warning)
        scene = SceneInProgress(plan, self._recipe.work(plan), self._recipe.spool(path))
        scene.spool.mkdir(exist_ok=True)
        scene.adopt(results)
        if scene.done:
            log.info("%s: %d of %d parts are done already", path, len(scene.done), len(plan.parts))
        todo = [part for part in plan.parts if part.index not in scene.done]
        self._to_label.extend(PartToDo(scene, part) for part in todo)
        self._progress.expect(sum(len(part) for part in todo))
        if scene.is_labelled:
            self._to_publish.append(scene)

    def _labelled(self, todo: PartToDo, event: Finished) -> None:
        scene, error = todo.scene, event.error
        if isinstance(error, (WorkerDiedError, DeviceError)):
            self._device_failed(todo, event.worker, error)
            return
        self._pool.has_done(event.worker)
        if scene.path in self._outcomes:
            # It failed while this part was under way.
            shutil.rmtree(scene.spool, ignore_errors=True)
        elif error is not None:
            self._fail(scene.path, error, f"part {todo.part.index} ({todo.part.core})")
            self._drop(scene)
        else:
            scene.done[todo.part.index] = event.value
            if scene.is_labelled:
                self._to_publish.append(scene)

    def _published(self, scene: SceneInProgress, event: Finished) -> None:
        if self._host_may_try_again(scene.path, event):
            self._to_publish.appendleft(scene)
            return
        shutil.rmtree(scene.spool, ignore_errors=True)
        if event.error is not None:
            self._fail(scene.path, event.error, "assembly")
        else:
            self._end(scene.path, scene.outcome())

    def _device_failed(self, todo: PartToDo, device: str, error: Exception) -> None:
        """A part cost a worker its life, or its device failed at it: again, or never again."""
        scene, part = todo.scene, todo.part
        work = self._recipe.devices[device]
        reason = ": ".join(s for s in (str(error), last_words(work.device, work.watch)) if s)
        scene.failures[part.index] += 1
        scene.avoid[part.index] = device
        times = scene.failures[part.index]
        log.warning("%s: part %d: %s: %s", scene.path, part.index, device, reason)
        if scene.path not in self._outcomes:
            if times <= self._recipe.retries:
                self._to_label.appendleft(todo)
            else:
                where = f"{scene.path}: part {part.index} ({part.core})"
                self._fail(scene.path, SceneError(f"{where}: failed {times} times: {reason}"))
                self._drop(scene)
        self._try_again(device, counts=times == 1, alive=isinstance(error, DeviceError))

    def _try_again(self, device: str, counts: bool, alive: bool) -> None:
        """Let a device that failed open its session in a new process, unless it fails too often."""
        if not self._pool.has_failed(device, counts):
            log.error("%s failed too often and is set aside; %d left", device, self._pool.left)
        elif alive:
            # What an error has left in a process can't be known: the next part gets a new one.
            self._engine.submit(device, _Leave(), leave)
        else:
            self._open(device)

    def _open(self, device: str) -> None:
        self._engine.submit(device, _Open(), open_here, self._recipe.devices[device])

    def _opened(self, event: Finished) -> None:
        if event.error is None:
            self._pool.is_ready(event.worker)
            return
        log.warning("%s does not open again: %s", event.worker, event.error)
        alive = not isinstance(event.error, WorkerDiedError)
        self._try_again(event.worker, counts=True, alive=alive)

    def _host_may_try_again(self, path: Path, event: Finished) -> bool:
        if not isinstance(event.error, WorkerDiedError):
            return False
        self._host_deaths[path] += 1
        return self._host_deaths[path] <= self._recipe.retries

    def _drop(self, scene: SceneInProgress) -> None:
        """Forget a failed scene's parts, and what they left in the spool."""
        left = [todo.part for todo in self._to_label if todo.scene is scene]
        self._to_label = deque(todo for todo in self._to_label if todo.scene is not scene)
        self._progress.expect(-sum(len(part) for part in left))
        shutil.rmtree(scene.spool, ignore_errors=True)

    def _give_up(self) -> None:
        """No device is left: what is labelled is still published, the rest has failed."""
        labelled = {scene.path for scene in self._to_publish} | self._being_published
        for path in self._scenes:
            if path not in self._outcomes and path not in labelled:
                self._fail(path, SceneError(f"{path}: no device is left that works"))
        self._to_describe.clear()
        self._to_label.clear()

    def _fail(self, path: Path, error: BaseException, where: str = "opening it") -> None:
        if isinstance(error, TilerError):
            told = str(error)
        elif isinstance(error, WorkerDiedError):
            told = f"{path}: {where}: {error}"
        else:
            told = f"{path}: {where}: internal error: {error!r}"
            log.error("%s\n%s", told, "".join(traceback.format_exception(error)).rstrip())
        self._end(path, SceneOutcome(scene=str(path), status="failed", error=told))

    def _end(self, path: Path, outcome: SceneOutcome) -> None:
        self._outcomes[path] = outcome
        self._progress.ended(outcome)
