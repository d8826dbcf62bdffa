"""Files that are there whole or not at all, also after a power cut."""

from __future__ import annotations

import os
from pathlib import Path

from tiler.errors import SceneError


def write_whole(target: Path, content: bytes | memoryview) -> None:
    """Write a file under a temporary name beside `target`, then give it its name.

    Raises SceneError, naming the folder, if the disk is full or the folder can't be written.
    """
    # The process id keeps two workers apart that were given the same work, one after a timeout.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync(target.parent)
    except OSError as error:
        raise unwritable(target, error) from error


def sync(path: Path) -> None:
    """Have the kernel put a file, or the names in a folder, on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unwritable(target: Path, error: Exception | str) -> SceneError:
    """The error to raise where `target` can't be written; it names the file's folder."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SceneError(
        f"{target.parent}: {target.name} cannot be written: {reason}. "
        "Free some space, or give another folder"
    )
