"""A device that doesn't answer costs its worker its life."""

from __future__ import annotations

import faulthandler
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tiler.infer.session import DeviceSpec


@dataclass(frozen=True)
class Watch:
    """How long a session may take to open, and one run of its model, in seconds; where the stack
    of a worker that took longer is written to."""

    start_timeout_s: float
    tile_timeout_s: float
    stack_file: Path


@contextmanager
def watched(timeout_s: float, stack_file: Path) -> Iterator[None]:
    """End this process, leaving its stack in `stack_file`, if the block takes too long.

    A native thread keeps the time: a call that hangs with the GIL held is ended as well.
    """
    with stack_file.open("w") as file:
        faulthandler.dump_traceback_later(timeout_s, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def where_it_hung(watch: Watch) -> str | None:
    """What a worker did when its time was up; None if that is not why it died."""
    try:
        stack = watch.stack_file.read_text(errors="replace")
    except OSError:
        return None
    threads = [t for t in re.split(r"\n(?=Thread |Current thread )", stack) if "_here" in t]
    frames = re.findall(r'File "([^"]*)", line (\d+) in (\S+)', threads[0]) if threads else []
    if not stack.strip():
        return None
    if not frames:
        return "device hung"
    file, line, function = frames[0]
    return f"device hung in {function} ({Path(file).name}, line {line})"


def last_words(device: DeviceSpec, watch: Watch) -> str:
    """Why a device's worker died, as far as it left a trace of it; "" if it did not."""
    from tiler.infer.open import last_words as native_cause

    hung = where_it_hung(watch)
    native = native_cause(device.native_log) if device.native_log is not None else None
    watch.stack_file.unlink(missing_ok=True)
    return ": ".join(said for said in (hung, native) if said)
