"""What every session does alike: fill a batch, judge the answer, make the warm-up tiles."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.errors import DeviceError, JobError
from tiler.infer.model import Model


def batch_size(model: Model, asked: int) -> int:
    """Tiles a run: the model's own number where it has one, else what `device.batch` asks for.

    Raises JobError if more than one is asked for and the model has another number.
    """
    if model.batch is not None and asked not in (1, model.batch):
        raise JobError(
            f"device.batch: {asked}, but {model.onnx_file} takes {model.batch} at a time. "
            f"Use {model.batch}, or export the model with an open batch dimension"
        )
    return model.batch or asked


def filled(tiles: NDArray[np.float32], batch: int) -> NDArray[np.float32]:
    """Tiles [n, ...] as one contiguous batch; places left over repeat the last tile."""
    missing = batch - len(tiles)
    if missing > 0:
        tiles = np.concatenate([tiles, np.repeat(tiles[-1:], missing, axis=0)])
    return np.ascontiguousarray(tiles, dtype=np.float32)


def checked_labels(answer: NDArray[Any], model: Model, batch: int) -> NDArray[np.integer[Any]]:
    """The answer of a run as labels [batch, size, size]; a class axis of length 1 goes away.

    Raises DeviceError naming both shapes, or the dtype, where it can't be labels.
    """
    size_px = model.size_px
    if not np.issubdtype(answer.dtype, np.integer):
        raise DeviceError(f"{model.onnx_file}: the model answers {answer.dtype}, not integers")
    if answer.shape == (batch, 1, size_px, size_px):
        return answer[:, 0]
    if answer.shape != (batch, size_px, size_px):
        raise DeviceError(
            f"{model.onnx_file}: the model answers labels of shape {_told(answer.shape)} for tiles "
            f"of shape {_told((batch, model.bands, size_px, size_px))}; "
            f"{_told((batch, size_px, size_px))} is expected"
        )
    return answer


def warm_up_tiles(model: Model, batch: int) -> NDArray[np.float32]:
    """Tiles [batch, band, size, size] on which a model has something to tell apart.

    Smooth random fields, as land cover is smooth: the left half within 0 to 0.6, as reflectances
    are, the right half with mean 0 and deviation 1, as normalised bands are. Always the same.
    """
    random = np.random.default_rng(0)
    size_px = model.size_px
    waves = random.uniform(0.5, 6, (8, batch, model.bands, 2)) * 2 * np.pi / max(size_px, 64)
    phases = random.uniform(0, 2 * np.pi, (8, batch, model.bands))
    rows, cols = np.arange(size_px)[:, None], np.arange(size_px)[None, :]
    field = np.zeros((batch, model.bands, size_px, size_px), np.float32)
    for wave, phase in zip(waves, phases, strict=True):
        down, across, start = wave[..., 0], wave[..., 1], phase
        angle = _each(down) * rows + _each(across) * cols + _each(start)
        field += np.sin(angle).astype(np.float32)
    # Eight sines of variance 1/2.
    field /= 2
    half = size_px // 2
    field[..., :half] = np.clip(field[..., :half] * 0.15 + 0.3, 0, 0.6)
    return field


class OneThread:
    """Makes sure that a session is used by the thread that opened it.

    The Ascend runtime keeps its context per thread; other threads' calls fail, or worse.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def check(self) -> None:
        """Raises RuntimeError in any other thread: a mistake of ours."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("a session was used by another thread than the one that opened it")


def _each(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[..., None, None]


def _told(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"
