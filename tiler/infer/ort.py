"""The small part of ONNX Runtime's Python interface that all providers need."""

from __future__ import annotations

import re
from typing import Any

from tiler.errors import DeviceError, JobError
from tiler.infer.graph import LARGEST_BYTES, digest, labelling_model
from tiler.infer.model import Model

# Fatal errors only: what goes wrong is raised, and told once.
LOG_FATAL = 4


def session_bytes(model: Model, batch: int) -> bytes:
    """The model as a session gets it: one input of fixed shape, one output of labels.

    The same model and batch always give the same bytes.

    Raises JobError if the file can't be read any more or is another one by now, or if the whole
    is too large for protobuf.
    """
    shape = (batch, model.bands, model.size_px, model.size_px)
    try:
        proto = labelling_model(
            model.onnx_file, model.input_name, shape, model.output_name, model.logits
        )
        # After loading, so that no other file can slip in between.
        found = digest(model.onnx_file)
    except OSError as error:
        raise JobError(f"{model.onnx_file}: {error.strerror or error}") from None
    if found != model.sha256:
        raise JobError(
            f"{model.onnx_file} has changed since the run began: its SHA-256 was "
            f"{model.sha256[:12]}…, now it is {found[:12]}…. Run again"
        )
    if proto.ByteSize() > LARGEST_BYTES:
        raise JobError(f"{model.onnx_file}: models above 2 GB, weights included, are not supported")
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def reason(error: BaseException) -> str:
    """ONNX Runtime's own words in one line, without its prefix of name and number."""
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ", "", str(error))
    return re.sub(r"\s+", " ", text).strip() or type(error).__name__


def refuse_options(provider: str, options: Any) -> None:
    """Raises DeviceError if options are given to a provider that takes none."""
    if options:
        names = ", ".join(options)
        raise DeviceError(f"device.options: {names}: provider {provider} takes no options")


def without_retry(session_class: Any) -> Any:
    """A subclass of `InferenceSession` without the wrapper's second try on the CPU.

    From 1.23 on `enable_fallback=0` would do; 1.22 ignores it and switches the retry on inside
    its constructor, so that this hook is the first place to switch it off again.
    """

    class NoRetrySession(session_class):  # type: ignore[misc]
        def _create_inference_session(self, *args: Any, **kwargs: Any) -> None:
            self.disable_fallback()
            super()._create_inference_session(*args, **kwargs)

    return NoRetrySession
