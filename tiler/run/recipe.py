"""What decides a scene's label map: if none of it has changed, the map needn't be made again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tiler.infer.model import Model
from tiler.job.card import LoadedCard
from tiler.job.model import Job
from tiler.raster.fingerprint import fingerprint

# Raised whenever the same recipe would give other labels.
FORMAT = 1


def recipe(job: Job, card: LoadedCard, model: Model, scene: Path) -> dict[str, Any]:
    """All that decides the labels of a scene and how they are stored; plain JSON values.

    Known without opening the scene, so that a thousand of them are looked at in a second.

    Raises OSError if the scene can't be looked at.
    """
    return {
        "format": FORMAT,
        "scene": fingerprint(scene),
        "bands": job.scenes.bands,
        "nodata": None if job.scenes.nodata is None else repr(job.scenes.nodata),
        "invalid": job.scenes.invalid,
        "model_sha256": model.sha256,
        "card_sha256": digest(card.card.model_dump(mode="json")),
        "tiling": {"size_px": job.tiling.size_px, "overlap_px": job.tiling.overlap_px},
        "device": {
            "provider": job.device.provider,
            "strict": job.device.strict,
            "batch": job.device.batch,
            "options": dict(job.device.options),
        },
        "compress": job.output.compress,
    }


def digest(content: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The keys in which two recipes differ."""
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
