"""A scene's parts into its label map: assemble → verify → publish."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiler.raster.cog import LabelMap, assemble, verify
from tiler.raster.publish import publish
from tiler.raster.quicklook import write_quicklook
from tiler.raster.spool import PartFile
from tiler.run.manifest import manifest_path, write_manifest


@dataclass(frozen=True)
class PublishWork:
    """The parts of one scene, what they make up, and where it goes."""

    parts: tuple[PartFile, ...]
    label_map: LabelMap
    output: Path
    quicklook: bool
    manifest: dict[str, Any]


def publish_scene(work: PublishWork, spool: Path) -> None:
    """Make the label map in the spool, read it back, and give it its name.

    What goes beside it comes first: once the label map is there, nothing is missing.

    Raises SceneError if it can't be written, or doesn't hold what was computed.
    """
    assembled = spool / "assembled.tif"
    assemble(work.parts, work.label_map, assembled)
    counts = verify(work.parts, assembled)
    beside = [manifest_path(work.output)]
    try:
        write_manifest(work.manifest, assembled, counts, beside[0])
        if work.quicklook:
            beside.append(work.output.with_suffix(".png"))
            write_quicklook(assembled, beside[-1])
        publish(assembled, work.output)
    except BaseException:
        for path in beside:
            path.unlink(missing_ok=True)
        raise
