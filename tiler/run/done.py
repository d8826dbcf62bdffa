"""Is a scene done already?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiler.infer.graph import sha256_of
from tiler.run.manifest import manifest_path
from tiler.run.recipe import changes


@dataclass(frozen=True)
class Found:
    """A label map that is there. `changed` names what it was made from that is not so any more;
    empty: it is whole and right."""

    changed: tuple[str, ...]
    tiles: int = 0
    tiles_skipped: int = 0


def look(output: Path, recipe: dict[str, Any]) -> Found | None:
    """The label map at `output`, held against the recipe of its scene; None: there is none.

    It takes a stat and a small read. Only a file that was moved, which has another time of
    modification than its manifest says, is read whole.
    """
    try:
        stat = output.stat()
    except OSError:
        return None
    made = _manifest(output)
    if made is None:
        return Found(("manifest",))
    changed = changes(made["recipe"], recipe)
    if not _is_intact(output, stat.st_size, stat.st_mtime_ns, made["label_map"]):
        changed.append("label map")
    if not output.with_name(f"{output.name}.aux.xml").exists():
        changed.append("class names")
    parts = made["parts"]
    return Found(
        tuple(changed),
        tiles=sum(p["tiles"] for p in parts),
        tiles_skipped=sum(p["tiles_skipped"] for p in parts),
    )


def _manifest(output: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(manifest_path(output).read_text())
        assert isinstance(content, dict)
        content["label_map"]["bytes"], content["recipe"].keys(), content["parts"]
    except (OSError, ValueError, KeyError, AttributeError, AssertionError, TypeError):
        return None
    return content


def _is_intact(output: Path, size: int, mtime_ns: int, made: dict[str, Any]) -> bool:
    if size != made["bytes"]:
        return False
    return bool(mtime_ns == made.get("mtime_ns") or sha256_of([output]) == made["sha256"])
