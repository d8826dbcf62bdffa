"""A whole run, from the job file to the report."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tiler.engine.cluster import Engine, WorkerDiedError, WorkerSpec
from tiler.errors import DeviceError, InterruptedRunError
from tiler.infer.model import Model, read_model
from tiler.infer.open import count_devices, worker_environment
from tiler.infer.runtime import check_runtime
from tiler.infer.session import DeviceSpec, Placement
from tiler.job.card import LoadedCard, load_card
from tiler.job.load import LoadedJob, load_job
from tiler.raster.cog import LabelMap
from tiler.raster.describe import SceneInfo
from tiler.run.label_part import SceneWork
from tiler.run.last_words import last_words
from tiler.run.manifest import LabelledPart, manifest, tags
from tiler.run.plan import ScenePlan, plan_scene
from tiler.run.publish_scene import PublishWork
from tiler.run.report import RunReport
from tiler.run.scenes import find_scenes
from tiler.run.stop import stop_on_signals
from tiler.run.stream import Progress, Recipe, SceneStream
from tiler.run.tasks import start_device
from tiler.run.workplace import workplace

log = logging.getLogger("tiler")

HOST = "host"


@dataclass(frozen=True)
class CheckedJob:
    """A job, its card and its scenes, everything checked that can be without a device."""

    job: LoadedJob
    card: LoadedCard
    model: Model
    scenes: dict[Path, Path]


def check_job(path: Path, overrides: Sequence[str], only: Sequence[str]) -> CheckedJob:
    """Read and check a job; `only` narrows its scenes (see `find_scenes`).

    Raises JobError.
    """
    job = load_job(path, overrides)
    card = load_card(job.model_card)
    model = read_model(card, job.job.tiling.size_px)
    return CheckedJob(job, card, model, find_scenes(job, only))


def run_job(checked: CheckedJob, progress: Progress) -> RunReport:
    """Label the scenes of a job.

    Raises JobError, DeviceError or LockedError if nothing could be started; what happens to a
    scene after that is in the report.
    """
    started = time.monotonic()
    job = checked.job.job
    check_runtime(job.device.provider)
    with (
        workplace(checked.job) as spool,
        stop_on_signals(),
        tempfile.TemporaryDirectory(prefix="tiler-") as scratch,
    ):
        devices = _devices(checked, Path(scratch))
        environment = worker_environment(job.device.provider)
        workers = [WorkerSpec(name, environment=environment) for name in devices]
        host = WorkerSpec(HOST, threads=2, resource="HOST")
        with Engine([*workers, host], Path(scratch)) as engine:
            placements = _start_devices(engine, checked.model, devices)
            recipe = _recipe(checked, devices, placements)
            stream = SceneStream(engine, recipe, spool, list(checked.scenes), progress)
            stopped_by = None
            try:
                stream.run()
            except InterruptedRunError as interrupted:
                stopped_by = interrupted.signal_number
            return RunReport(
                run=f"{job.name}-{uuid.uuid4().hex[:8]}",
                elapsed_s=time.monotonic() - started,
                scenes=stream.outcomes(),
                stopped_by=stopped_by,
            )


def _devices(checked: CheckedJob, scratch: Path) -> dict[str, DeviceSpec]:
    """What each device worker is to open, by the worker's name."""
    device = checked.job.job.device
    ids = list(range(count_devices(device.provider))) if device.ids == "all" else device.ids
    if not ids:
        raise DeviceError(f"{checked.job.path}: device.ids: no {device.provider} device was found")
    cores = len(os.sched_getaffinity(0))
    return {
        f"device {number}": DeviceSpec(
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
        for number in ids
    }


def _start_devices(
    engine: Engine, model: Model, devices: Mapping[str, DeviceSpec]
) -> dict[str, Placement]:
    """Open the sessions one after another: the first call on a device takes seconds, and more
    when many are made at once."""
    placements = {}
    for name, device in devices.items():
        try:
            placements[name] = engine.call(name, start_device, model, device)
        except WorkerDiedError:
            raise DeviceError(
                f"{device.provider} device {device.id}: its worker died while opening "
                f"{model.onnx_file}{last_words(device)}"
            ) from None
        log.info("%s: %s", name, placements[name].summary())
    return placements


def scene_plan(checked: CheckedJob, info: SceneInfo) -> ScenePlan:
    """The plan for one of the job's scenes; raises SceneError if a band is missing."""
    return plan_scene(checked.job.job, checked.card, info, checked.scenes[info.path])


def scene_work(checked: CheckedJob, plan: ScenePlan) -> SceneWork:
    """What workers must know of a scene."""
    scenes = checked.job.job.scenes
    return SceneWork(
        path=plan.info.path,
        indexes=plan.bands.indexes,
        nodata=scenes.nodata,
        rule=scenes.invalid,
        normalisation=checked.card.normalisation,
        legend=checked.card.legend,
    )


def _recipe(
    checked: CheckedJob, devices: Mapping[str, DeviceSpec], placements: Mapping[str, Placement]
) -> Recipe:
    job = checked.job.job
    output = job.output

    def publish(plan: ScenePlan, parts: tuple[LabelledPart, ...]) -> PublishWork:
        label_map = LabelMap(
            height=plan.info.height,
            width=plan.info.width,
            georeference=plan.info.georeference,
            legend=checked.card.legend,
            tags=tags(job, checked.model, plan, placements),
            compress=output.compress,
        )
        return PublishWork(
            parts=tuple(part.result.file for part in parts),
            label_map=label_map,
            output=plan.output,
            quicklook=output.quicklook,
            manifest=manifest(job, checked.model, plan, placements, parts),
        )

    return Recipe(
        model=checked.model,
        devices=devices,
        host=HOST,
        plan=partial(scene_plan, checked),
        work=partial(scene_work, checked),
        publish=publish,
    )
