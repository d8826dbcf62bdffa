"""One run per job: a second one is told who holds it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from tiler.errors import LockedError


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file `path` while the block runs.

    The kernel drops the lock when its holder dies, however it dies; the file then stays behind
    and does no harm.

    Raises LockedError, which names the holder, if another process has it.
    """
    descriptor = _lock(path)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, json.dumps(_myself()).encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock(path: Path) -> int:
    """An open descriptor of the locked file."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise LockedError(f"another run holds this job: {_holder(path)} ({path})") from None
        if _is_still(path, descriptor):
            return descriptor
        # The holder before us removed the file between our opening and our locking it: what we
        # hold has no name any more, and a third run would not see it.
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _myself() -> dict[str, str | int]:
    since = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {"host": socket.gethostname(), "pid": os.getpid(), "since": since}


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text())
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    except (OSError, ValueError, KeyError):
        return "a process that has just started"
