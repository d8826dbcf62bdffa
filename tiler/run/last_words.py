"""What a worker that died had to say."""

from __future__ import annotations

from tiler.infer.open import last_words as native_cause
from tiler.infer.session import DeviceSpec


def last_words(device: DeviceSpec | None) -> str:
    """The cause in its native log, to be put behind a message; "" where there is none."""
    if device is None or device.native_log is None:
        return ""
    cause = native_cause(device.native_log)
    return f": {cause}" if cause else ""
