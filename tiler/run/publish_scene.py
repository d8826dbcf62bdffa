"""A scene's parts into its label map: assemble → verify → publish."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tiler.raster.cog import LabelMap, assemble, verify
from tiler.raster.publish import publish
from tiler.raster.quicklook import write_quicklook
from tiler.raster.spool import PartFile


@dataclass(frozen=True)
class PublishWork:
    """The parts of one scene, what they make up, and where it goes."""

    parts: tuple[PartFile, ...]
    label_map: LabelMap
    output: Path
    quicklook: bool


def publish_scene(work: PublishWork, spool: Path) -> None:
    """Make the label map in the spool, read it back, and give it its name.

    The quicklook comes first: once the label map is there, nothing is missing.

    Raises SceneError if it can't be written, or doesn't hold what was computed.
    """
    assembled = spool / "assembled.tif"
    assemble(work.parts, work.label_map, assembled)
    verify(work.parts, assembled)
    if work.quicklook:
        write_quicklook(assembled, work.output.with_suffix(".png"))
    publish(assembled, work.output)
