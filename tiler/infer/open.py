"""Sessions by the provider's name."""

from __future__ import annotations

from pathlib import Path

from tiler.errors import DeviceError
from tiler.infer.model import Model
from tiler.infer.runtime import check_runtime
from tiler.infer.session import DeviceSpec, Session


def open_session(model: Model, device: DeviceSpec) -> Session:
    """Open a model on a device; only `warm_up` proves that it runs there.

    Raises DeviceError with the cause, JobError if the model doesn't suit what was asked for.
    """
    check_runtime(device.provider)
    # Imported when needed: ONNX Runtime must not be loaded before it was checked.
    if device.provider == "cpu":
        from tiler.infer.cpu import CpuSession

        return CpuSession(model, device)
    if device.provider == "cuda":
        from tiler.infer.cuda import CudaSession

        return CudaSession(model, device)
    if device.provider == "cann":
        from tiler.infer.cann import CannSession

        return CannSession(model, device)
    raise DeviceError(f"device.provider: {device.provider!r} is none of cann, cuda, cpu")


def worker_environment(provider: str) -> dict[str, str]:
    """What the environment of a process that holds a device must say before it starts."""
    if provider == "cann":
        from tiler.infer.ascend import WORKER_ENVIRONMENT

        return WORKER_ENVIRONMENT
    return {}


def last_words(native_log: Path) -> str | None:
    """Why a process died, by the `native_log` that it left; None if that doesn't tell."""
    from tiler.infer.ascend_errors import first_cause

    try:
        return first_cause(native_log.read_text(errors="replace"))
    except OSError:
        return None


def count_devices(provider: str) -> int:
    """How many devices there are; the CPU is one."""
    if provider == "cuda":
        from tiler.infer.cuda import count_cuda_devices

        return count_cuda_devices()
    if provider == "cann":
        from tiler.infer.ascend import count_ascend_devices

        return count_ascend_devices()
    return 1
