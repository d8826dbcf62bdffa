"""What made a label map: in full beside it, and in short in its tags."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tiler.infer.graph import sha256_of
from tiler.infer.model import Model
from tiler.infer.session import Placement
from tiler.job.model import Job
from tiler.raster.durable import write_whole
from tiler.run.journal import PartResult
from tiler.run.plan import ScenePlan

FORMAT = 1


def manifest_path(output: Path) -> Path:
    """Where the manifest of a label map lies."""
    return output.with_name(f"{output.name}.json")


def manifest(
    job: Job,
    model: Model,
    plan: ScenePlan,
    recipe: Mapping[str, Any],
    placements: Mapping[str, Placement],
    parts: Sequence[PartResult],
) -> dict[str, Any]:
    """All that is known before the label map is assembled.

    `placements` hold what was proven of each device; those that labelled no part of this scene
    are left out.
    """
    info, grid = plan.info, plan.grid
    used = {part.worker for part in parts}
    return {
        "format": FORMAT,
        "tiler": version("scene-tiler"),
        "recipe": dict(recipe),
        "scene": str(info.path),
        "height_px": info.height,
        "width_px": info.width,
        "bands": list(plan.bands.indexes),
        "nodata": job.scenes.nodata,
        "invalid": job.scenes.invalid,
        "model": {"name": model.name, "file": str(model.onnx_file), "sha256": model.sha256},
        "tiling": {"size_px": grid.size_px, "overlap_px": grid.overlap_px},
        "provider": job.device.provider,
        "placements": {n: asdict(p) for n, p in placements.items() if n in used},
        "parts": [
            {
                "part": part.index,
                "worker": part.worker,
                "tiles": part.tiles,
                "tiles_skipped": part.tiles_skipped,
                "elapsed_s": round(part.elapsed_s, 3),
            }
            for part in parts
        ],
    }


def write_manifest(
    content: Mapping[str, Any], label_map: Path, counts: Mapping[int, int], target: Path
) -> None:
    """Write the manifest of a finished label map; `counts` are its pixels by label.

    Raises SceneError if it can't be written.
    """
    stat = label_map.stat()
    whole = {
        **content,
        "pixels_by_label": {str(label): count for label, count in counts.items()},
        "label_map": {
            "bytes": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
            "sha256": sha256_of([label_map]),
        },
        "made_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    write_whole(target, (json.dumps(whole, indent=1, default=str) + "\n").encode())


def tags(
    job: Job, model: Model, plan: ScenePlan, placements: Mapping[str, Placement]
) -> dict[str, str]:
    """The same in short, for the label map itself."""
    release = version("scene-tiler")
    return {
        "TIFFTAG_SOFTWARE": f"scene-tiler {release}",
        "TILER_VERSION": release,
        "TILER_MODEL": model.name,
        "TILER_MODEL_SHA256": model.sha256,
        "TILER_BANDS": ",".join(map(str, plan.bands.indexes)),
        "TILER_TILING": f"size {plan.grid.size_px}, overlap {plan.grid.overlap_px}",
        "TILER_PROVIDER": job.device.provider,
        "TILER_PLACEMENT": "; ".join(dict.fromkeys(p.summary() for p in placements.values())),
    }
