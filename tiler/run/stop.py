"""Being told to stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tiler.errors import InterruptedRunError as Stopped

__all__ = ["Stopped", "stop_on_signals"]


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise Stopped at the first SIGINT or SIGTERM; a second one ends the process at once."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        raise Stopped(number)

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
