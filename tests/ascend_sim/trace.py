"""Reads the trace of a process: one JSON object for each call of the runtime."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# The kinds of aclrtMemcpy, as they stand in the trace.
HOST_TO_DEVICE = 1
DEVICE_TO_HOST = 2


def read_trace(path: Path) -> list[dict[str, Any]]:
    """All calls so far, in the order in which they ended; none if there is no file yet.

    A call has at least `t` (seconds of the monotonic clock), `pid`, `tid`, `fn` (the entry point,
    task.exec, FAULT or WARN) and `rc` (the code it answered).
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    # A last line without its end is still being written.
    return [json.loads(line) for line in lines if line.endswith("\n")]


def calls_of(trace: Iterable[dict[str, Any]], function: str) -> list[dict[str, Any]]:
    """The calls of one entry point."""
    return [call for call in trace if call["fn"] == function]
