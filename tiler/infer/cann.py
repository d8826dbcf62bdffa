"""Strict sessions on Ascend NPUs: the whole model on the device, with the right weights, proven."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from tiler.errors import DeviceError
from tiler.infer.affinity import bind_near
from tiler.infer.ascend import Ascend
from tiler.infer.cann_failure import creation_failure, described, has_cpu_nodes, run_failure
from tiler.infer.cann_operators import placements
from tiler.infer.cann_options import LEVEL, LEVELS, ONCE_PER_PROCESS, cann_options
from tiler.infer.labels import OneThread, batch_size, checked_labels, filled, warm_up_tiles
from tiler.infer.model import Model
from tiler.infer.native_output import native_output
from tiler.infer.om_cache import CompiledModel, cache_folder, cache_key, compiled_model
from tiler.infer.ort import session_bytes, without_retry
from tiler.infer.parity import measure_parity
from tiler.infer.proof import NodeRun, count_by_provider, not_on, read_profile
from tiler.infer.runtime import check_runtime
from tiler.infer.session import DeviceSpec, Placement

PROVIDER = "CANNExecutionProvider"
_VERBOSE, _ERRORS = 0, 3

_NoRetrySession = without_retry(onnxruntime.InferenceSession)

# What this process's one device and its compiler were set to, once and for all.
_claimed: tuple[int, dict[str, str | None]] | None = None


class CannSession:
    """A model on an Ascend device.

    The provider parses, compiles and loads at the first run, so that only `warm_up` shows
    whether it can. Raises DeviceError, or JobError where the model doesn't suit the job.
    """

    def __init__(self, model: Model, device: DeviceSpec) -> None:
        self.batch = batch_size(model, device.batch)
        self._model = model
        self._device = device
        self._name = f"cann device {device.id}"
        self._one_thread = OneThread()
        if "torch_npu" in sys.modules:
            raise DeviceError(
                f"{self._name}: torch_npu is loaded in this process and holds the Ascend runtime. "
                "Uninstall it from this environment, or set TORCH_DEVICE_BACKEND_AUTOLOAD=0"
            )
        self._options = cann_options(device.options, onnxruntime.__version__)
        self._ascend = Ascend()
        _claim_process(device.id, self._options)
        self._cpus = bind_near(device.id)
        self._native = native_output(device.native_log)
        self._bytes = session_bytes(model, self.batch)
        self._scratch = tempfile.TemporaryDirectory(prefix="tiler-")
        self._session = self._open()

    def warm_up(self) -> Placement:
        """Compile or load, run once, and prove what ran where; see `Session`."""
        tiles = warm_up_tiles(self._model, self.batch)
        cache = cache_folder(self._device.cache_dir)
        with compiled_model(cache, self._cache_key()) as compiled:
            labels = self._first_run(tiles, compiled)
            runs = read_profile(Path(self._session.end_profiling()))
            elsewhere = self._prove(runs)
            digests = compiled.seal()
        parity = measure_parity(self._model, self._bytes, tiles, labels, self._name, self._device)
        # As large as all weights, and not needed any more.
        self._bytes = b""
        return Placement(
            provider="cann",
            device=self._device.id,
            runtime=str(check_runtime("cann")),
            strict=self._device.strict,
            model_sha256=self._model.sha256,
            batch=self.batch,
            nodes=count_by_provider(runs),
            elsewhere=elsewhere,
            options={**self._session.get_provider_options()[PROVIDER], LEVEL: self._options[LEVEL]},
            versions=self._ascend.versions(),
            compiled=digests,
            parity=parity,
            cpus=self._cpus,
        )

    def label(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        """Labels of up to `batch` tiles; see `Session`."""
        return self._run(filled(tiles, self.batch))[: len(tiles)]

    def close(self) -> None:
        """Give the device's memory back."""
        del self._session
        self._scratch.cleanup()

    def _open(self) -> onnxruntime.InferenceSession:
        self._native.forget()
        try:
            session = self._create(self._device.strict, _ERRORS)
        except Exception as error:
            if has_cpu_nodes(error):
                why = self._not_the_devices(self._nodes_on_cpu())
            else:
                why = creation_failure(error, self._native.text(), self._ascend)
            raise DeviceError(self._told(why)) from None
        if session.get_providers()[:1] != [PROVIDER]:
            raise DeviceError(self._told("ONNX Runtime made a session without the CANN provider"))
        return session

    def _create(self, strict: bool, severity: int) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = severity
        options.graph_optimization_level = getattr(
            onnxruntime.GraphOptimizationLevel, LEVELS[self._options[LEVEL]]
        )
        # Nothing is computed here in a strict session.
        options.intra_op_num_threads = 1 if strict else self._device.threads or 0
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(self._scratch.name) / "warm-up")
        if strict:
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        provider = {k: v for k, v in self._options.items() if k != LEVEL}
        provider["device_id"] = str(self._device.id)
        return _NoRetrySession(self._bytes, sess_options=options, providers=[(PROVIDER, provider)])

    def _nodes_on_cpu(self) -> list[NodeRun]:
        """Which nodes the provider did not take: the refusal itself doesn't name them."""
        self._native.forget()
        session = self._create(strict=False, severity=_VERBOSE)
        del session
        log = self._native.text()
        self._native.forget()
        return [n for n in placements(log) if n.provider != PROVIDER]

    def _cache_key(self) -> str:
        shape = [self.batch, self._model.bands, self._model.size_px, self._model.size_px]
        return cache_key(
            {
                "model": hashlib.sha256(self._bytes).hexdigest(),
                "input": shape,
                "options": self._options,
                "strict": self._device.strict,
                "runtime": str(check_runtime("cann")),
                "soc": self._ascend.soc(),
                "toolkit": self._ascend.toolkit(),
            }
        )

    def _first_run(
        self, tiles: NDArray[np.float32], compiled: CompiledModel
    ) -> NDArray[np.integer[Any]]:
        if compiled.is_whole():
            try:
                with compiled.as_working_directory():
                    return self._run(tiles)
            except DeviceError as error:
                # What was saved is there, byte for byte, and still can't be loaded: the one
                # failure that compiling again may mend.
                if "aclmdlLoadFromFile" not in str(error):
                    raise
                self._session = self._open()
        compiled.clear()
        with compiled.as_working_directory():
            return self._run(tiles)

    def _run(self, tiles: NDArray[np.float32]) -> NDArray[np.integer[Any]]:
        """One copy to the device, one back, of the labels only.

        A new OrtValue for each: the provider can't write into one that lies on the device. Its
        arena gives the same memory again, so that nothing grows.
        """
        self._one_thread.check()
        self._native.forget()
        (output,) = (o.name for o in self._session.get_outputs())
        try:
            value = onnxruntime.OrtValue.ortvalue_from_numpy(tiles, "cann", self._device.id)
            binding = self._session.io_binding()
            binding.bind_ortvalue_input(self._model.input_name, value)
            binding.bind_output(output, "cann", self._device.id)
            self._session.run_with_iobinding(binding)
            (answer,) = binding.get_outputs()
            labels: NDArray[Any] = answer.numpy()
        except Exception as error:
            folded = self._options[LEVEL] != "disable"
            why = run_failure(error, self._native.text(), self._ascend, self._bytes, folded)
            raise DeviceError(self._told(why)) from None
        return checked_labels(labels, self._model, self.batch)

    def _prove(self, runs: list[NodeRun]) -> tuple[str, ...]:
        """What did not run on the device; raises DeviceError if that may not be."""
        elsewhere = not_on(PROVIDER, runs)
        if self._device.strict:
            if not runs:
                raise DeviceError(self._told("the profile shows no node, so nothing is proven"))
            if elsewhere:
                raise DeviceError(self._told(self._not_the_devices(elsewhere)))
            if len(runs) > 1 and self._options["enable_cann_graph"] == "1":
                raise DeviceError(self._told(f"the model was cut into {len(runs)} pieces"))
        return described(elsewhere, onnx.load_from_string(self._bytes))

    def _not_the_devices(self, nodes: list[NodeRun]) -> str:
        told = described(nodes, onnx.load_from_string(self._bytes))
        return (
            f"nodes that are not on the device: {'; '.join(told) or 'ONNX Runtime names none'}. "
            "Export the model without them, or set device.strict: false"
        )

    def _told(self, problem: str) -> str:
        return f"{self._name}: {self._model.onnx_file}: {problem}"


def _claim_process(device_id: int, options: dict[str, str]) -> None:
    """Raises DeviceError if this process was set up for another device or compiler options.

    With two devices in a process buffers land on the wrong one, and the options of the second
    session never reach the compiler.
    """
    global _claimed
    claim = (device_id, {name: options.get(name) for name in ONCE_PER_PROCESS})
    if _claimed not in (None, claim):
        assert _claimed is not None
        raise DeviceError(
            f"cann device {device_id}: this process already serves device {_claimed[0]} with "
            f"{_claimed[1]}; each device and each setting needs a process of its own"
        )
    _claimed = claim
