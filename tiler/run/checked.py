"""A job with everything checked that can be without a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiler.errors import JobError
from tiler.infer.model import Model, read_model
from tiler.job.card import LoadedCard, load_card
from tiler.job.load import LoadedJob, load_job
from tiler.raster.describe import SceneInfo
from tiler.run import recipe
from tiler.run.label_part import SceneWork
from tiler.run.plan import ScenePlan, plan_scene
from tiler.run.scenes import find_scenes


@dataclass(frozen=True)
class CheckedJob:
    """A job, its card and model, and its scenes with their label maps' paths."""

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
    _check_bands(job, card)
    model = read_model(card, job.job.tiling.size_px)
    return CheckedJob(job, card, model, find_scenes(job, only))


def _check_bands(job: LoadedJob, card: LoadedCard) -> None:
    asked, wanted = job.job.scenes.bands, card.card.input.bands
    if asked is not None and len(asked) != len(wanted):
        raise JobError(
            f"{job.path}: scenes.bands: found {len(asked)} bands, expected {len(wanted)}: "
            f"the model reads {', '.join(wanted)} ({card.path})"
        )


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


def scene_recipe(checked: CheckedJob, scene: Path) -> dict[str, Any]:
    """All that decides a scene's label map; raises OSError if it can't be looked at."""
    return recipe.recipe(checked.job.job, checked.card, checked.model, scene)
