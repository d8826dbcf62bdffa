"""What a job would do, told before it does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiler.errors import SceneError
from tiler.raster.describe import describe
from tiler.run.checked import CheckedJob, scene_plan, scene_work
from tiler.run.label_part import SceneWork, count_empty_tiles
from tiler.run.plan import ScenePlan


@dataclass(frozen=True)
class SceneSurvey:
    """One scene's plan, with the tiles that would be skipped (None: not counted), or why there
    is none."""

    scene: Path
    output: Path
    plan: ScenePlan | None = None
    tiles_skipped: int | None = None
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Sizes in pixels and bytes."""
        told: dict[str, Any] = {"scene": str(self.scene), "output": str(self.output)}
        if self.plan is None:
            return {**told, "error": self.error}
        info, grid, plan = self.plan.info, self.plan.grid, self.plan
        return {
            **told,
            "error": None,
            "height_px": info.height,
            "width_px": info.width,
            "dtype": info.dtype,
            "bands": list(plan.bands.indexes),
            "tiles": len(grid),
            "tile_rows": grid.rows,
            "tile_cols": grid.cols,
            "tiles_skipped": self.tiles_skipped,
            "cores_px": [list(core) for core in core_sizes(plan)],
            "padding_px": list(plan.padding_px),
            "parts": len(plan.parts),
            "source_bytes": info.file_bytes,
            "labels_bytes": grid.scene.area,
            "notes": [*plan.notes, *plan.warnings],
        }


def survey(checked: CheckedJob, scene: Path, count_skipped: bool) -> SceneSurvey:
    """Look at one scene. `count_skipped` reads it whole, to find tiles without a valid pixel."""
    output = checked.scenes[scene]
    try:
        plan = scene_plan(checked, describe(scene))
        skipped = _skipped(scene_work(checked, plan), plan) if count_skipped else None
    except SceneError as error:
        return SceneSurvey(scene, output, error=str(error))
    return SceneSurvey(scene, output, plan, skipped)


def core_sizes(plan: ScenePlan) -> tuple[tuple[int, int], tuple[int, int]]:
    """Smallest and largest core, as (height, width) in pixels."""
    grid = plan.grid
    heights = [grid.core(i, i + 1, 0, 1).height for i in range(grid.rows)]
    widths = [grid.core(0, 1, j, j + 1).width for j in range(grid.cols)]
    return (min(heights), min(widths)), (max(heights), max(widths))


def _skipped(work: SceneWork, plan: ScenePlan) -> int:
    return sum(count_empty_tiles(work, part) for part in plan.parts)


def plan_as_json(checked: CheckedJob, surveys: Sequence[SceneSurvey]) -> dict[str, Any]:
    """The object that `tiler plan --json` prints."""
    tiling = checked.job.job.tiling
    return {
        "tiling": {
            "size_px": tiling.size_px,
            "overlap_px": tiling.overlap_px,
            "margin_px": tiling.margin_px,
            "stride_px": tiling.stride_px,
        },
        "scenes": [s.as_json() for s in surveys],
    }
