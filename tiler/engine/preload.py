"""What each worker process does first; named to dask as a preload."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Leave signals to the run.

    A terminal or systemd sends them to the whole process group; workers that died of them
    would look like broken devices, and a part half done would be lost without need.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
