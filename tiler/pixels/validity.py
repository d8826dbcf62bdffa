"""Which pixels carry no data."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

InvalidRule = Literal["all", "any"]


def invalid_pixels(
    bands: NDArray[np.generic],
    masked: NDArray[np.bool_] | None,
    rule: InvalidRule,
) -> NDArray[np.bool_] | None:
    """Invalid pixels (bool [height, width]) of `bands` ([band, height, width]); None: none.

    `masked` marks what the file declares invalid: per band ([band, height, width]), for all
    bands alike ([1, height, width]), or None where the file declares nothing. With rule `all`
    a pixel is invalid where every band is masked, with `any` where some band is. A pixel in
    which some band is NaN or infinite is invalid under both rules, since one such value can
    spoil every label of its tile.
    """
    invalid = None
    if masked is not None:
        invalid = masked.all(axis=0) if rule == "all" else masked.any(axis=0)
    if bands.dtype.kind == "f":
        # As the model would see it: a float64 beyond float32's range arrives as infinite.
        with np.errstate(over="ignore"):
            not_finite = ~np.isfinite(bands.astype(np.float32, copy=False)).all(axis=0)
        invalid = not_finite if invalid is None else invalid | not_finite
    return invalid if invalid is not None and invalid.any() else None


def equal_to_nodata(bands: NDArray[np.generic], nodata: float) -> NDArray[np.bool_]:
    """Where `bands` hold the value `nodata`; NaN equals NaN. Same shape as `bands`."""
    if np.isnan(nodata):
        return np.isnan(bands) if bands.dtype.kind == "f" else np.zeros(bands.shape, bool)
    if bands.dtype.kind == "f":
        return np.asarray(bands == bands.dtype.type(nodata))
    info = np.iinfo(bands.dtype.name)
    if not float(nodata).is_integer() or not info.min <= nodata <= info.max:
        return np.zeros(bands.shape, bool)
    return np.asarray(bands == bands.dtype.type(nodata))
