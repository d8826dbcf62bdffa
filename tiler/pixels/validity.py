"""Which pixels carry no data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

InvalidRule = Literal["all", "any"]


def invalid_by_rule(
    masked_bands: Iterable[NDArray[np.bool_]], rule: InvalidRule
) -> NDArray[np.bool_] | None:
    """Where every band (`all`) or some band (`any`) is masked; None: nowhere.

    Bands (bool [height, width], True where a band has no data) are taken one at a time, and
    with `all` no more of them than are needed: over an image without gaps, the first tells.
    """
    invalid: NDArray[np.bool_] | None = None
    for masked in masked_bands:
        if invalid is None:
            invalid = masked.copy()
        elif rule == "all":
            invalid &= masked
        else:
            invalid |= masked
        if rule == "all" and not invalid.any():
            return None
    return invalid if invalid is not None and invalid.any() else None


def not_finite(bands: NDArray[np.generic]) -> NDArray[np.bool_] | None:
    """Where some band of `bands` ([band, height, width]) is NaN or infinite; None: nowhere.

    As the model would see it, in float32: a float64 beyond its range counts as infinite. Such
    a pixel is invalid under both rules, since one such value can spoil a whole tile's labels.
    """
    if bands.dtype.kind != "f":
        return None
    with np.errstate(over="ignore"):
        found = ~np.isfinite(bands.astype(np.float32, copy=False)).all(axis=0)
    return found if found.any() else None


def equal_to_nodata(pixels: NDArray[np.generic], nodata: float) -> NDArray[np.bool_]:
    """Where `pixels` hold the value `nodata`; NaN equals NaN. Same shape as `pixels`.

    A nodata that a float dtype cannot hold exactly means the nearest value that it can.
    """
    if pixels.dtype.kind == "f":
        if np.isnan(nodata):
            return np.isnan(pixels)
        with np.errstate(over="ignore"):
            return np.asarray(pixels == pixels.dtype.type(nodata))
    if not is_value_of(nodata, pixels.dtype):
        return np.zeros(pixels.shape, bool)
    return np.asarray(pixels == pixels.dtype.type(nodata))


def is_value_of(nodata: float, dtype: np.dtype[np.generic]) -> bool:
    """Whether a pixel of this integer dtype can hold the value `nodata`."""
    info = np.iinfo(dtype.name)
    return float(nodata).is_integer() and info.min <= nodata <= info.max
