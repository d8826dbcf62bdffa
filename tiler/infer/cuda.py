"""Strict sessions on CUDA: every node on the device, proven by the warm-up run's profile."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiler.errors import DeviceError
from tiler.infer.labels import OneThread, batch_size, checked_labels, filled, warm_up_tiles
from tiler.infer.model import Model
from tiler.infer.ort import LOG_FATAL, reason, refuse_options, session_bytes, without_retry
from tiler.infer.parity import measure_parity
from tiler.infer.proof import NodeRun, count_by_provider, not_on, read_profile
from tiler.infer.runtime import check_runtime
from tiler.infer.session import DeviceSpec, Placement

PROVIDER = "CUDAExecutionProvider"


class CudaSession:
    """A model on a CUDA device. `ort` is the module `onnxruntime`.

    Raises JobError or DeviceError if it can't be opened there.
    """

    def __init__(self, model: Model, device: DeviceSpec, ort: Any = None) -> None:
        refuse_options("cuda", device.options)
        self.batch = batch_size(model, device.batch)
        self._model = model
        self._device = device
        self._name = f"cuda device {device.id}"
        self._ort = ort or _onnxruntime()
        self._one_thread = OneThread()
        self._bytes = session_bytes(model, self.batch)
        self._scratch = tempfile.TemporaryDirectory(prefix="tiler-")
        self._session = self._open()
        (self._output,) = (o.name for o in self._session.get_outputs())

    def warm_up(self) -> Placement:
        """Run once and prove by the profile where each node ran; see `Session`."""
        tiles = warm_up_tiles(self._model, self.batch)
        labels = self._run(tiles)
        runs = read_profile(Path(self._session.end_profiling()))
        self._scratch.cleanup()
        elsewhere = not_on(PROVIDER, runs)
        if self._device.strict:
            self._check_placement(runs, elsewhere)
        parity = measure_parity(self._model, self._bytes, tiles, labels, self._name, self._device)
        # As large as all weights, and not needed any more.
        self._bytes = b""
        return Placement(
            provider="cuda",
            device=self._device.id,
            runtime=str(check_runtime()),
            strict=self._device.strict,
            model_sha256=self._model.sha256,
            batch=self.batch,
            nodes=count_by_provider(runs),
            elsewhere=tuple(map(str, elsewhere)),
            options=self._session.get_provider_options().get(PROVIDER, {}),
            parity=parity,
        )

    def label(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        """Labels of up to `batch` tiles; see `Session`."""
        return self._run(filled(tiles, self.batch))[: len(tiles)]

    def close(self) -> None:
        """Give the device's memory back."""
        del self._session

    def _open(self) -> Any:
        options = self._ort.SessionOptions()
        options.log_severity_level = LOG_FATAL
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(self._scratch.name) / "warm-up")
        if self._device.strict:
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        # TF32 keeps 10 bits of a float32's 23, without being asked.
        providers = [(PROVIDER, {"device_id": str(self._device.id), "use_tf32": "0"})]
        try:
            session = without_retry(self._ort.InferenceSession)(
                self._bytes, sess_options=options, providers=providers
            )
        except Exception as error:
            raise DeviceError(self._told(f"cannot be opened: {reason(error)}")) from None
        if PROVIDER not in session.get_providers():
            raise DeviceError(self._told("cannot be opened: ONNX Runtime fell back to the CPU"))
        return session

    def _run(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        """One copy to the device, one back, of the labels only."""
        self._one_thread.check()
        try:
            binding = self._session.io_binding()
            value = self._ort.OrtValue.ortvalue_from_numpy(tiles, "cuda", self._device.id)
            binding.bind_ortvalue_input(self._model.input_name, value)
            binding.bind_output(self._output, "cuda", self._device.id)
            self._session.run_with_iobinding(binding)
            (answer,) = binding.get_outputs()
            labels: NDArray[Any] = answer.numpy()
        except Exception as error:
            raise DeviceError(self._told(f"run failed: {reason(error)}")) from None
        return checked_labels(labels, self._model, self.batch)

    def _check_placement(self, runs: list[NodeRun], elsewhere: list[NodeRun]) -> None:
        if not runs:
            raise DeviceError(self._told("the profile shows no node, so nothing is proven"))
        if elsewhere:
            shown = "; ".join(map(str, elsewhere[:5]))
            more = f" and {len(elsewhere) - 5} more" if len(elsewhere) > 5 else ""
            raise DeviceError(self._told(f"nodes that are not on the device: {shown}{more}"))

    def _told(self, problem: str) -> str:
        return f"{self._name}: {self._model.onnx_file}: {problem}"


def count_cuda_devices() -> int:
    """How many CUDA devices the driver shows."""
    return len(list(Path("/proc/driver/nvidia/gpus").glob("*")))


def _onnxruntime() -> Any:
    import onnxruntime

    return onnxruntime
