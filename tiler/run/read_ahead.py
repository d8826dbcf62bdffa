"""Work done ahead in a thread, so that a device needn't wait for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True)
class _End:
    error: BaseException | None


@contextmanager
def read_ahead(items: Generator[T, None, None], depth: int) -> Iterator[Iterator[T]]:
    """Iterate over `items` in a thread of its own, at most `depth` items ahead.

    An error raised by `items` is raised where they are consumed. When the block is left early
    the thread ends after the item that it is at.
    """
    ready: queue.Queue[_Item[T] | _End] = queue.Queue(depth)
    left = threading.Event()

    def produce() -> None:
        error: BaseException | None = None
        try:
            with closing(items):
                for item in items:
                    ready.put(_Item(item))
                    if left.is_set():
                        break
        except BaseException as raised:  # handed to the consumer, whatever it is
            error = raised
        ready.put(_End(error))

    def consume() -> Iterator[T]:
        while isinstance(entry := ready.get(), _Item):
            yield entry.value
        if entry.error is not None:
            raise entry.error

    thread = threading.Thread(target=produce, name="read-ahead", daemon=True)
    thread.start()
    try:
        yield consume()
    finally:
        left.set()
        while thread.is_alive():
            try:
                ready.get(timeout=0.05)
            except queue.Empty:
                continue
        thread.join()
