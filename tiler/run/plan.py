"""What is to be done for one scene, before any pixel is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tiler.grid.parts import Part, PartShape, split_into_parts
from tiler.grid.tiles import Grid
from tiler.job.card import LoadedCard
from tiler.job.model import Job
from tiler.pixels.bands import BandChoice
from tiler.raster.bands_of import choose_scene_bands
from tiler.raster.describe import SceneInfo


@dataclass(frozen=True)
class ScenePlan:
    """A scene, the bands read of it, its grid and parts, and the label map to be made."""

    info: SceneInfo
    bands: BandChoice
    grid: Grid
    tiles_per_part: int
    output: Path

    @cached_property
    def parts(self) -> list[Part]:
        """Whole rows of tiles where the file's blocks are whole rows of pixels, else squares."""
        shape: PartShape = "rows" if self.info.striped else "squares"
        return split_into_parts(self.grid, shape, self.tiles_per_part)

    @property
    def padding_px(self) -> tuple[int, int]:
        """Rows and columns added by reflection, where the scene is smaller than a tile."""
        size_px = self.grid.size_px
        return max(size_px - self.info.height, 0), max(size_px - self.info.width, 0)

    @property
    def warnings(self) -> list[str]:
        """What somebody should know who trusts the map."""
        told: list[str] = []
        if self.bands.guessed:
            told += self.bands.notes
        where = self.info.georeference
        if where.transform is None and not where.gcps and not where.rpcs:
            told.append("has no georeference; its label map will have none either")
        if self.info.scaled:
            told.append(
                "declares scale and offset tags; values are read as stored, and only the model "
                "card's scale and offset apply"
            )
        return told

    @property
    def notes(self) -> list[str]:
        """What was decided without doubt."""
        return [] if self.bands.guessed else list(self.bands.notes)


def plan_scene(job: Job, card: LoadedCard, info: SceneInfo, output: Path) -> ScenePlan:
    """The plan for one scene.

    Raises SceneError where the scene lacks a band that the model reads.
    """
    bands = choose_scene_bands(info, card.card.input.bands, job.scenes.bands)
    grid = Grid(info.height, info.width, job.tiling.size_px, job.tiling.overlap_px)
    return ScenePlan(info, bands, grid, job.run.tiles_per_part, output)
