"""A whole run, from the checked job to the report."""

from __future__ import annotations

import logging
import time
import uuid
from pathlib import Path
from typing import Any

from tiler.infer.runtime import check_runtime
from tiler.run.checked import CheckedJob, scene_recipe
from tiler.run.done import look
from tiler.run.progress import Progress
from tiler.run.report import RunReport, SceneOutcome
from tiler.run.stop import stop_on_signals
from tiler.run.workplace import workplace

log = logging.getLogger("tiler")


def run_job(checked: CheckedJob, progress: Progress, force: bool = False) -> RunReport:
    """Label the scenes of a job that are not done yet; with `force`, all.

    Raises JobError, DeviceError or LockedError if nothing could be started; what happens to a
    scene after that is in the report.
    """
    started = time.monotonic()
    check_runtime(checked.job.job.device.provider)
    with workplace(checked.job) as spool, stop_on_signals():
        outcomes, recipes = _sort_out(checked, force)
        stopped = None
        if recipes:
            # Imported now: a run that has nothing to do needs neither workers nor a runtime.
            from tiler.run.labelling import label_scenes, spool_name

            names = {spool_name(checked, scene, recipe) for scene, recipe in recipes.items()}
            spool.keep_only(names)
            labelled, stopped = label_scenes(checked, recipes, spool.path, progress)
            outcomes |= labelled
        return RunReport(
            run=f"{checked.job.job.name}-{uuid.uuid4().hex[:8]}",
            elapsed_s=time.monotonic() - started,
            scenes=tuple(outcomes.get(path) or _not_reached(path) for path in checked.scenes),
            stopped_by=None if stopped is None else stopped.signal_number,
        )


def _sort_out(
    checked: CheckedJob, force: bool
) -> tuple[dict[Path, SceneOutcome], dict[Path, dict[str, Any]]]:
    """Scenes that need nothing more, and the recipes of those that are to be labelled."""
    outcomes: dict[Path, SceneOutcome] = {}
    recipes: dict[Path, dict[str, Any]] = {}
    for scene, output in checked.scenes.items():
        try:
            recipe = scene_recipe(checked, scene)
        except OSError:
            # Opening it will say what is wrong with it.
            recipes[scene] = {}
            continue
        found = None if force else look(output, recipe)
        if found is not None and not found.changed:
            outcomes[scene] = SceneOutcome(
                scene=str(scene),
                status="skipped",
                output=str(output),
                tiles=found.tiles,
                tiles_skipped=found.tiles_skipped,
            )
            continue
        if found is not None:
            why = ", ".join(found.changed)
            if checked.job.job.run.on_change == "fail":
                told = (
                    f"{scene}: {output} was made otherwise; changed: {why}. Remove it, or run "
                    "with --force"
                )
                log.error("failed: %s", told)
                outcomes[scene] = SceneOutcome(str(scene), "failed", error=told)
                continue
            log.info("%s: made again; changed: %s", scene, why)
        recipes[scene] = recipe
    return outcomes, recipes


def _not_reached(scene: Path) -> SceneOutcome:
    told = f"{scene}: the run was stopped before this scene was done"
    return SceneOutcome(str(scene), "failed", error=told)
