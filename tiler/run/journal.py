"""Parts that outlive the run that made them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tiler.grid.window import Window
from tiler.raster.durable import write_whole
from tiler.raster.spool import PartFile, is_whole


@dataclass(frozen=True)
class PartResult:
    """A part's labels in the spool: which worker made them, how many tiles were run and skipped,
    and how long it took."""

    index: int
    worker: str
    file: PartFile
    tiles: int
    tiles_skipped: int
    elapsed_s: float


def part_path(spool: Path, index: int) -> Path:
    """Where a part's labels lie."""
    return spool / f"part-{index:06d}.tif"


def record(spool: Path, result: PartResult) -> None:
    """Note that a part is done, after its labels were written.

    Raises SceneError if the note can't be written.
    """
    content = {**asdict(result), "file": {**asdict(result.file), "path": result.file.path.name}}
    write_whole(_record_path(spool, result.index), json.dumps(content).encode())


def recall(spool: Path) -> list[PartResult]:
    """The parts in a spool that are whole, by their checksums; what is not is removed."""
    kept = {}
    for path in sorted(spool.glob("part-*.json")):
        result = _read(path)
        if result is not None and is_whole(result.file):
            kept[result.index] = result
    _remove_others(
        spool, {_record_path(spool, i) for i in kept} | {part_path(spool, i) for i in kept}
    )
    return list(kept.values())


def _remove_others(spool: Path, kept: set[Path]) -> None:
    others: Iterable[Path] = spool.iterdir() if spool.is_dir() else ()
    for path in others:
        if path not in kept:
            path.unlink(missing_ok=True)


def _record_path(spool: Path, index: int) -> Path:
    return part_path(spool, index).with_suffix(".json")


def _read(path: Path) -> PartResult | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        file = content["file"]
        labels = PartFile(
            path=path.with_name(file["path"]),
            core=Window(**file["core"]),
            crc32=file["crc32"],
            size_bytes=file["size_bytes"],
        )
        return PartResult(**{**content, "file": labels})
    except (OSError, ValueError, KeyError, TypeError):
        return None
