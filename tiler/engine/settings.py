"""dask's settings, for a run that must not be in anybody's way."""

from __future__ import annotations

from typing import Any

SETTINGS: dict[str, Any] = {
    # A death is the death of the task in flight; whether to try again is decided by the run.
    "distributed.scheduler.allowed-failures": 0,
    # Compiling a model can hold the GIL for minutes: silence is no death.
    "distributed.scheduler.worker-ttl": None,
    # Each task is for one worker by name.
    "distributed.scheduler.work-stealing": False,
    # Nothing is served over HTTP (the server itself can't be switched off; it stays on loopback).
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
    # A statistical profiler per worker takes CPU time that the readers need.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    # Never "forkserver" or "fork": neither a session nor GDAL survives it.
    "distributed.worker.multiprocessing-method": "spawn",
    # Pixels never travel through the scheduler; what does is small and of this run.
    "distributed.comm.compression": None,
}
