"""The bands of a scene that a model reads."""

from __future__ import annotations

from collections.abc import Sequence

from tiler.errors import SceneError
from tiler.pixels.band_names import BandError
from tiler.pixels.bands import BandChoice, choose_bands
from tiler.raster.describe import SceneInfo
from tiler.raster.opening import told


def choose_scene_bands(
    info: SceneInfo, wanted: Sequence[str], asked: Sequence[int | str] | None
) -> BandChoice:
    """The bands for a model that reads `wanted`; `asked` is the job's `scenes.bands`.

    Raises SceneError where the scene lacks one of them.
    """
    try:
        return choose_bands(wanted, asked, info.descriptions, info.colors)
    except BandError as error:
        raise SceneError(f"{told(info.path)}: {error}") from error
