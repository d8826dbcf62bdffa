"""Which pixels of a scene its file declares to be without data, band by band."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rasterio.enums import ColorInterp, MaskFlags
from rasterio.windows import Window as RasterioWindow

from tiler.pixels.validity import equal_to_nodata, is_value_of


class SceneMasks:
    """The masks of the bands `indexes` (1-based) of an open rasterio dataset, as GDAL has them.

    GDAL lets a mask (internal or .msk) win over nodata values, and these over an alpha band.
    An alpha band masks only where it is not read itself: a band that is read is data, whatever
    its tag. `nodata`, where given, stands in for the file's nodata values, not for its mask.
    """

    def __init__(self, dataset: Any, indexes: Sequence[int], nodata: float | None) -> None:
        self._dataset = dataset
        self._override = nodata
        flags, colors, nodatavals = dataset.mask_flag_enums, dataset.colorinterp, dataset.nodatavals
        alpha_is_read = any(colors[i - 1] == ColorInterp.alpha for i in indexes)
        self._bands = [
            _Band(
                index=i,
                dtype=np.dtype(dataset.dtypes[i - 1]),
                nodata=nodatavals[i - 1] if MaskFlags.nodata in flags[i - 1] else None,
                # The metadata item NODATA_VALUES is a mask of this kind, made of nodata values.
                per_dataset=MaskFlags.per_dataset in flags[i - 1]
                and not (MaskFlags.alpha in flags[i - 1] and alpha_is_read)
                and not (MaskFlags.nodata in flags[i - 1] and nodata is not None),
            )
            for i in indexes
        ]

    def bands(
        self, pixels: NDArray[np.generic], window: RasterioWindow
    ) -> Iterator[NDArray[np.bool_]]:
        """For each band in turn, where it has no data: bool [height, width].

        `pixels` ([band, height, width]) are those of `window`. Masks are read only when asked
        for, and a mask that all bands share is read once.
        """
        shared: NDArray[np.bool_] | None = None
        for values, band in zip(pixels, self._bands, strict=True):
            masked = np.zeros(values.shape, bool)
            if band.per_dataset:
                shared = self._read(band, window) if shared is None else shared
                masked |= shared
            elif self._override is None and band.nodata is not None:
                masked = self._equal_to_nodata(values, band, window)
            if self._override is not None:
                masked |= equal_to_nodata(values, self._override)
            yield masked

    def _equal_to_nodata(
        self, values: NDArray[np.generic], band: _Band, window: RasterioWindow
    ) -> NDArray[np.bool_]:
        """Equal to the file's nodata value as GDAL has it, which for floats is not bit by bit."""
        assert band.nodata is not None
        if band.dtype.kind == "f" and np.isnan(band.nodata):
            return np.isnan(values)
        narrow = band.dtype.kind in "iu" and band.dtype.itemsize <= 4
        if narrow and is_value_of(band.nodata, band.dtype):
            # The same as GDAL's mask, without its second pass over the file's blocks.
            return equal_to_nodata(values, band.nodata)
        return self._read(band, window)

    def _read(self, band: _Band, window: RasterioWindow) -> NDArray[np.bool_]:
        return np.asarray(self._dataset.read_masks(band.index, window=window) == 0)


@dataclass(frozen=True)
class _Band:
    index: int
    dtype: np.dtype[Any]
    nodata: float | None
    per_dataset: bool
