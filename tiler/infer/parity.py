"""How well a device's labels agree with the CPU provider's, on the warm-up tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.errors import DeviceError
from tiler.infer.cpu import open_on_cpu
from tiler.infer.labels import checked_labels
from tiler.infer.model import Model
from tiler.infer.session import DeviceSpec


def measure_parity(
    model: Model,
    model_bytes: bytes,
    tiles: NDArray[np.float32],
    labels: NDArray[np.integer[Any]],
    name: str,
    device: DeviceSpec,
) -> float | None:
    """Share of `labels` that equal the CPU provider's on the same tiles.

    Not measured if `device.parity` is None. Raises DeviceError, which starts with `name`, if it
    is below `device.parity`.
    """
    least = device.parity
    if least is None:
        return None
    session = open_on_cpu(model_bytes, device.threads, model)
    (answer,) = session.run(None, {model.input_name: tiles})
    expected = checked_labels(answer, model, len(tiles))
    agreement = float(np.mean(labels == expected))
    if agreement < least:
        raise DeviceError(
            f"{name}: {model.onnx_file}: only {agreement:.2%} of the warm-up labels equal the "
            f"CPU's; device.parity asks for {least:.2%}. Check device.options.precision_mode, "
            "or lower device.parity if the difference is acceptable"
        )
    return agreement
