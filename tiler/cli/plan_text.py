"""A plan, for a person."""

from __future__ import annotations

from tiler.run.checked import CheckedJob
from tiler.run.survey import SceneSurvey, core_sizes


def plan_lines(checked: CheckedJob, surveys: list[SceneSurvey]) -> list[str]:
    """A head that says what holds for all scenes, then each scene, then the sums."""
    job, tiling = checked.job.job, checked.job.job.tiling
    planned = [s for s in surveys if s.plan is not None]
    tiles = sum(len(s.plan.grid) for s in planned if s.plan is not None)
    skipped = [s.tiles_skipped for s in planned if s.tiles_skipped is not None]
    source_bytes = sum(s.plan.info.file_bytes for s in planned if s.plan is not None)
    label_bytes = sum(s.plan.grid.scene.area for s in planned if s.plan is not None)
    return [
        f"job      {job.name}: {len(surveys)} scenes, to {checked.job.output_dir}",
        f"model    {checked.model.name} ({checked.model.onnx_file}, sha256 "
        f"{checked.model.sha256[:12]})",
        f"tiles    size {tiling.size_px}, overlap {tiling.overlap_px}, margin "
        f"{tiling.margin_px}, stride {tiling.stride_px} px",
        f"device   {job.device.provider}, ids {job.device.ids}",
        *(line for s in surveys for line in _scene_lines(s)),
        f"total    {tiles} tiles"
        + (f", {sum(skipped)} of them without a valid pixel" if skipped else "")
        + f"; {_bytes(source_bytes)} to read, {_bytes(label_bytes)} of labels before compression",
    ]


def _scene_lines(survey: SceneSurvey) -> list[str]:
    if survey.plan is None:
        return [f"scene    {survey.scene}", f"  failed {survey.error}"]
    plan, grid, info = survey.plan, survey.plan.grid, survey.plan.info
    smallest, largest = core_sizes(plan)
    padding = "none" if not any(plan.padding_px) else "{} rows, {} columns".format(*plan.padding_px)
    skipped = "not counted" if survey.tiles_skipped is None else survey.tiles_skipped
    return [
        f"scene    {survey.scene}",
        f"  image  {info.width} x {info.height} px, {info.dtype}, bands "
        f"{', '.join(map(str, plan.bands.indexes))}, {_bytes(info.file_bytes)}",
        f"  tiles  {len(grid)} ({grid.rows} rows x {grid.cols} columns), skipped: {skipped}, "
        f"parts: {len(plan.parts)}",
        f"  cores  {smallest[1]} x {smallest[0]} to {largest[1]} x {largest[0]} px, "
        f"padding: {padding}",
        *(f"  note   {note}" for note in [*plan.notes, *plan.warnings]),
        f"  map    {survey.output}",
    ]


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
