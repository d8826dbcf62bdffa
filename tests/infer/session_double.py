"""A session without a device, for tests of what uses one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiler.infer.session import Placement, Session


class BrightestBand:
    """Labels each pixel with the index of its brightest band."""

    batch = 1

    def warm_up(self) -> Placement:
        return Placement("double", 0, "none", True, "0" * 64, self.batch)

    def label(self, tiles: NDArray[np.float32]) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = np.argmax(tiles, axis=1)
        return labels

    def close(self) -> None:
        pass


DOUBLE: Session = BrightestBand()
