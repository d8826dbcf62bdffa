"""Classes of a label map: ids, names, colours, and the value that means "no label"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LabelClass:
    """One class; `color` is red, green, blue, 0 to 255 each."""

    id: int
    name: str
    color: Color


@dataclass(frozen=True)
class Legend:
    """The classes that a model may answer."""

    classes: tuple[LabelClass, ...]

    @property
    def dtype(self) -> np.dtype[np.uint8] | np.dtype[np.uint16]:
        """uint8 where every id and nodata fit, else uint16."""
        fits = max(c.id for c in self.classes) < 255
        return np.dtype(np.uint8) if fits else np.dtype(np.uint16)

    @property
    def nodata(self) -> int:
        """The label of invalid pixels: the largest value of the dtype, never a class."""
        return int(np.iinfo(self.dtype).max)

    def unknown(self, labels: NDArray[Any]) -> list[int]:
        """Values in an integer array that are no class of this legend."""
        known = [c.id for c in self.classes]
        if labels.min() >= 0 and labels.max() < len(known) and known == list(range(len(known))):
            return []
        return sorted(set(np.unique(labels).tolist()) - set(known))
