"""Worker processes on this host, and tasks for them by name."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import dask
from distributed import Client, Future, Nanny, Scheduler, SpecCluster, get_worker
from distributed.scheduler import KilledWorker

from tiler.engine.settings import SETTINGS
from tiler.errors import TilerError

LOOPBACK = "127.0.0.1"
# One address for nobody: a free port of loopback only (dask's default is 8787 on all).
NO_DASHBOARD = f"{LOOPBACK}:0"
TOPIC = "tiler"


class WorkerDiedError(Exception):
    """A worker process ended in the middle of a task."""


@dataclass(frozen=True)
class WorkerSpec:
    """One worker process: its name, its threads, and what is added to its environment."""

    name: str
    threads: int = 1
    resource: str = "NPU"
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    """The end of a task: its value, or the error that it raised."""

    key: Any
    worker: str
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True)
class Told:
    """What a task said while it ran (see `tell`)."""

    message: Any


class Engine:
    """Worker processes, each guarded by a nanny that restarts it when it dies.

    Use as a context manager. Tasks are plain functions, given to a worker by its name; their
    ends arrive through `next_event`, in the order in which they happen. `scratch` is the folder
    for the workers' own files.
    """

    def __init__(self, workers: Sequence[WorkerSpec], scratch: Path) -> None:
        self._workers = workers
        self._scratch = scratch
        self._events: queue.SimpleQueue[Finished | Told] = queue.SimpleQueue()
        self._futures: set[Future] = set()

    def __enter__(self) -> Engine:
        self._settings = dask.config.set(SETTINGS)
        self._settings.__enter__()
        quiet = logging.CRITICAL
        scheduler = {"host": LOOPBACK, "port": 0, "dashboard": False}
        self._cluster = SpecCluster(
            workers={w.name: {"cls": Nanny, "options": self._options(w)} for w in self._workers},
            scheduler={
                "cls": Scheduler,
                "options": {**scheduler, "dashboard_address": NO_DASHBOARD},
            },
            silence_logs=quiet,
        )
        self._client = Client(self._cluster, set_as_default=False)
        self._client.subscribe_topic(TOPIC, self._told)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._futures.clear()
        self._client.close()
        self._cluster.close()
        self._settings.__exit__(None, None, None)

    def submit(self, worker: str, key: Any, function: Callable[..., Any], *args: Any) -> None:
        """Give a task to a worker; `key` comes back with its end."""
        spec = next(w for w in self._workers if w.name == worker)
        future = self._client.submit(
            _run,
            function,
            *args,
            workers=[worker],
            allow_other_workers=False,
            resources={spec.resource: 1},
            pure=False,
        )
        self._futures.add(future)
        future.add_done_callback(lambda done: self._done(key, worker, done))

    def next_event(self) -> Finished | Told:
        """The next end of a task, or message of one; waits for it."""
        return self._events.get()

    def call(self, worker: str, function: Callable[..., Any], *args: Any) -> Any:
        """Run one task while no other is under way, and return its value or raise its error."""
        self.submit(worker, None, function, *args)
        while not isinstance(event := self.next_event(), Finished):
            pass
        if event.error is not None:
            raise event.error
        return event.value

    def _options(self, worker: WorkerSpec) -> dict[str, Any]:
        return {
            "nthreads": worker.threads,
            "resources": {worker.resource: worker.threads},
            "env": dict(worker.environment),
            "host": LOOPBACK,
            "local_directory": str(self._scratch),
            # Memory is bounded by what a part holds, not by a guard that pauses workers.
            "memory_limit": None,
            "dashboard": False,
            "dashboard_address": None,
            "preload": ["tiler.engine.preload"],
            "silence_logs": logging.CRITICAL,
        }

    def _told(self, event: tuple[float, Any]) -> None:
        self._events.put(Told(event[1]["message"]))

    def _done(self, key: Any, worker: str, future: Future) -> None:
        self._futures.discard(future)
        if future.cancelled():
            return
        error = future.exception()
        if isinstance(error, KilledWorker):
            error = WorkerDiedError(f"worker {worker} died")
        value = None if error is not None else future.result()
        self._events.put(Finished(key, worker, value, error))


def _run(function: Callable[..., Any], *args: Any) -> Any:
    """Call a task's function; what it raises must be able to travel."""
    try:
        return function(*args)
    except TilerError as error:
        told = error
    # Its cause may be one of GDAL's or ORT's, which can't be pickled; the line says it all.
    told.__cause__ = told.__context__ = None
    raise told


def tell(message: Any) -> None:
    """Say something to the run, from within a task."""
    get_worker().log_event(TOPIC, {"message": message})
