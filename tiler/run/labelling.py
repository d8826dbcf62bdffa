"""Scenes on devices: the part of a run that needs workers."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiler.engine.cluster import Engine, WorkerDiedError, WorkerSpec
from tiler.errors import DeviceError
from tiler.infer.open import count_devices, worker_environment
from tiler.infer.session import DeviceSpec, Placement
from tiler.raster.cog import LabelMap
from tiler.raster.describe import SceneInfo
from tiler.run.checked import CheckedJob, scene_plan, scene_work
from tiler.run.journal import PartResult
from tiler.run.manifest import manifest, tags
from tiler.run.plan import ScenePlan
from tiler.run.progress import Progress
from tiler.run.publish_scene import PublishWork
from tiler.run.recipe import digest
from tiler.run.report import SceneOutcome
from tiler.run.stop import Stopped
from tiler.run.stream import Recipe, SceneStream
from tiler.run.tasks import DeviceWork, open_here
from tiler.run.watchdog import Watch, last_words

log = logging.getLogger("tiler")

HOST = "host"


def label_scenes(
    checked: CheckedJob,
    recipes: Mapping[Path, Mapping[str, Any]],
    spool: Path,
    progress: Progress,
) -> tuple[dict[Path, SceneOutcome], Stopped | None]:
    """Label the scenes that have a recipe; what became of them, and what stopped it, if anything.

    Raises DeviceError or JobError if a device can't be used for this model.
    """
    job = checked.job.job
    with tempfile.TemporaryDirectory(prefix="tiler-") as scratch:
        devices = _devices(checked, Path(scratch))
        environment = worker_environment(job.device.provider)
        workers = [WorkerSpec(name, environment=environment) for name in devices]
        host = WorkerSpec(HOST, threads=2, resource="HOST")
        with Engine([*workers, host], Path(scratch)) as engine:
            placements = _start_devices(engine, devices)
            recipe = _recipe(checked, recipes, spool, devices, placements)
            stream = SceneStream(engine, recipe, list(recipes), progress)
            try:
                stream.run()
            except Stopped as stopped:
                return stream.outcomes(), stopped
            return stream.outcomes(), None


def _devices(checked: CheckedJob, scratch: Path) -> dict[str, DeviceWork]:
    """What each device worker is to hold, by the worker's name."""
    job, device = checked.job.job, checked.job.job.device
    ids = list(range(count_devices(device.provider))) if device.ids == "all" else device.ids
    if not ids:
        raise DeviceError(f"{checked.job.path}: device.ids: no {device.provider} device was found")
    cores = len(os.sched_getaffinity(0))
    works = {}
    for number in ids:
        name = f"device {number}"
        spec = DeviceSpec(
            provider=device.provider,
            id=number,
            threads=device.threads or max(cores // len(ids), 1),
            batch=device.batch,
            strict=device.strict,
            options=device.options,
            cache_dir=checked.job.cache_dir,
            parity=device.parity,
            native_log=scratch / f"device-{number}.stderr",
        )
        stack_file = scratch / f"device-{number}.stack"
        watch = Watch(job.run.start_timeout_s, job.run.tile_timeout_s, stack_file)
        works[name] = DeviceWork(name, checked.model, spec, watch)
    return works


def _start_devices(engine: Engine, devices: Mapping[str, DeviceWork]) -> dict[str, Placement]:
    """Open the sessions one after another: the first call on a device takes seconds, and more
    when many are made at once."""
    placements = {}
    for name, work in devices.items():
        try:
            placements[name] = engine.call(name, open_here, work)
        except WorkerDiedError:
            said = last_words(work.device, work.watch)
            raise DeviceError(
                f"{work.device.provider} device {work.device.id}: its worker died while opening "
                f"{work.model.onnx_file}" + (f": {said}" if said else "")
            ) from None
        log.info("%s: %s", name, placements[name].summary())
        if placements[name].elsewhere:
            log.warning(
                "%s: NOT STRICT, as device.strict: false allows; nodes that run elsewhere: %s",
                name,
                "; ".join(placements[name].elsewhere),
            )
    return placements


def _recipe(
    checked: CheckedJob,
    recipes: Mapping[Path, Mapping[str, Any]],
    spool: Path,
    devices: Mapping[str, DeviceWork],
    placements: Mapping[str, Placement],
) -> Recipe:
    job = checked.job.job

    def publish(plan: ScenePlan, parts: tuple[PartResult, ...]) -> PublishWork:
        label_map = LabelMap(
            height=plan.info.height,
            width=plan.info.width,
            georeference=plan.info.georeference,
            legend=checked.card.legend,
            tags=tags(job, checked.model, plan, placements),
            compress=job.output.compress,
        )
        made_by = recipes[plan.info.path]
        return PublishWork(
            parts=tuple(part.file for part in parts),
            label_map=label_map,
            output=plan.output,
            quicklook=job.output.quicklook,
            manifest=manifest(job, checked.model, plan, made_by, placements, parts),
        )

    def plan(info: SceneInfo) -> ScenePlan:
        return scene_plan(checked, info)

    def work(plan: ScenePlan) -> Any:
        return scene_work(checked, plan)

    def spool_of(scene: Path) -> Path:
        return spool / spool_name(checked, scene, recipes[scene])

    return Recipe(devices, HOST, job.run.retries, spool_of, plan, work, publish)


def spool_name(checked: CheckedJob, scene: Path, recipe: Mapping[str, Any]) -> str:
    """The folder of a scene's parts: another one as soon as they would be other parts."""
    return digest([str(scene), recipe, checked.job.job.run.tiles_per_part])[:24]
