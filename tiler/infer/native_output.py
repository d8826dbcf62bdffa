"""What native code writes to stderr, kept apart from what Python writes there."""

from __future__ import annotations

import fcntl
import io
import os
import sys
import tempfile
from pathlib import Path

_STDERR = 2
_caught: NativeOutput | None = None


class NativeOutput:
    """Catches file descriptor 2 of this process in a file, from now to the process's end.

    The cause of many failures of the Ascend runtime is told there and nowhere else. Python's own
    `sys.stderr` goes on to where it went before. `path` names the file, so that others can read
    a dead process's last words; without it, the file has no name.
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            self._file, name = tempfile.mkstemp(prefix="tiler-native-")
            Path(name).unlink()
        else:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        # Appending, so that emptying the file also moves its writers back to the start.
        fcntl.fcntl(self._file, fcntl.F_SETFL, os.O_APPEND)
        sys.stderr.flush()
        kept = os.dup(_STDERR)
        os.dup2(self._file, _STDERR)
        sys.stderr = io.TextIOWrapper(
            io.FileIO(kept, "w"), encoding="utf-8", errors="backslashreplace", write_through=True
        )

    def forget(self) -> None:
        """Drop what was written so far."""
        os.ftruncate(self._file, 0)

    def text(self) -> str:
        """All that was written since the last `forget`."""
        return os.pread(self._file, os.fstat(self._file).st_size, 0).decode("utf-8", "replace")


def native_output(path: Path | None = None) -> NativeOutput:
    """This process's native output; `path` counts the first time."""
    global _caught
    if _caught is None:
        _caught = NativeOutput(path)
    return _caught
