"""From the numbers in a file to a model's input tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# What the model is fed where a pixel is invalid: zero after normalisation, that is, the mean
# where the card gives one. Finite, and never the file's nodata value, which may be 1e38.
FILL = np.float32(0)


@dataclass(frozen=True)
class Normalisation:
    """(DN * scale + offset - mean) / std per band, folded into DN * gain + bias."""

    gain: tuple[float, ...]
    bias: tuple[float, ...]

    @classmethod
    def of(
        cls,
        scale: Sequence[float],
        offset: Sequence[float],
        mean: Sequence[float],
        std: Sequence[float],
    ) -> Normalisation:
        """From the four numbers that a model card gives for each band."""
        bands = list(zip(scale, offset, mean, std, strict=True))
        return cls(
            gain=tuple(s / d for s, _, _, d in bands),
            bias=tuple((o - m) / d for _, o, m, d in bands),
        )

    @property
    def is_identity(self) -> bool:
        return all(g == 1 for g in self.gain) and all(b == 0 for b in self.bias)


def model_tile(
    bands: NDArray[np.generic],
    invalid: NDArray[np.bool_] | None,
    normalisation: Normalisation,
    size_px: int,
) -> NDArray[np.float32]:
    """The model's input (float32 [band, size_px, size_px]) for pixels of any numeric dtype.

    `bands` ([band, height, width]) are normalised, `invalid` pixels ([height, width]) become
    FILL, and a scene smaller than a tile is padded below and on the right by reflection.
    """
    count, height, width = bands.shape
    tile = np.empty((count, size_px, size_px), np.float32)
    pixels = tile[:, :height, :width]
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(pixels, bands, casting="unsafe")
        if not normalisation.is_identity:
            pixels *= np.asarray(normalisation.gain, np.float32)[:, None, None]
            pixels += np.asarray(normalisation.bias, np.float32)[:, None, None]
    if invalid is not None:
        pixels[:, invalid] = FILL
    if (height, width) == (size_px, size_px):
        return tile
    padding = ((0, 0), (0, size_px - height), (0, size_px - width))
    return np.pad(pixels, padding, mode="reflect")
