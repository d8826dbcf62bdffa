"""Sessions on the CPU: used only when asked for, and as the reference for devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from tiler.errors import DeviceError
from tiler.infer.labels import OneThread, batch_size, checked_labels, filled, warm_up_tiles
from tiler.infer.model import Model
from tiler.infer.ort import LOG_FATAL, reason, refuse_options, session_bytes
from tiler.infer.runtime import check_runtime
from tiler.infer.session import DeviceSpec, Placement

PROVIDER = "CPUExecutionProvider"


class CpuSession:
    """A model on the CPU provider.

    Raises JobError or DeviceError if the model can't be opened.
    """

    def __init__(self, model: Model, device: DeviceSpec) -> None:
        refuse_options("cpu", device.options)
        self.batch = batch_size(model, device.batch)
        self._model = model
        self._device = device
        self._one_thread = OneThread()
        self._session = open_on_cpu(session_bytes(model, self.batch), device.threads, model)
        (self._output,) = (o.name for o in self._session.get_outputs())

    def warm_up(self) -> Placement:
        """Run once; see `Session`."""
        self._run(warm_up_tiles(self._model, self.batch))
        return Placement(
            provider="cpu",
            device=self._device.id,
            runtime=str(check_runtime()),
            strict=self._device.strict,
            model_sha256=self._model.sha256,
            batch=self.batch,
        )

    def label(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        """Labels of up to `batch` tiles; see `Session`."""
        return self._run(filled(tiles, self.batch))[: len(tiles)]

    def close(self) -> None:
        """Give the memory back."""
        del self._session

    def _run(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        self._one_thread.check()
        try:
            (answer,) = self._session.run([self._output], {self._model.input_name: tiles})
        except Exception as error:
            raise DeviceError(f"{self._model.onnx_file}: run on cpu: {reason(error)}") from None
        return checked_labels(answer, self._model, self.batch)


def open_on_cpu(
    model_bytes: bytes, threads: int | None, model: Model
) -> onnxruntime.InferenceSession:
    """A session of the CPU provider; raises DeviceError."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = LOG_FATAL
    options.intra_op_num_threads = threads or 0
    options.inter_op_num_threads = 1
    # Waiting threads would burn the cores that the readers need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # An arena keeps the most that it ever needed, in blocks of powers of two.
    options.enable_cpu_mem_arena = False
    try:
        return onnxruntime.InferenceSession(model_bytes, sess_options=options, providers=[PROVIDER])
    except Exception as error:
        raise DeviceError(f"{model.onnx_file}: cannot be opened: {reason(error)}") from None
