"""Compiled models, kept so that no later run compiles again.

The provider names the compiled file after the graph's inputs and outputs and looks for it in the
working directory. Neither weights nor options, chip or versions are in the name, so that a file
left by another model would silently be run instead. Here each has a folder of its own.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tiler.errors import DeviceError
from tiler.infer.graph import sha256_of

_DONE = "done.json"


def cache_folder(asked: Path | None) -> Path:
    """Where compiled models are kept: `device.cache_dir`, or the user's cache folder."""
    if asked is not None:
        return asked
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # Relative ones are to be ignored, as the XDG Base Directory Specification says.
    if caches.is_absolute():
        return caches / "tiler"
    try:
        return Path.home() / ".cache" / "tiler"
    except RuntimeError:
        raise DeviceError("no home folder for compiled models; set device.cache_dir") from None


def cache_key(made_of: Mapping[str, object]) -> str:
    """A name for all that decides what a compiled model is."""
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()


class CompiledModel:
    """One key's folder, while its lock is held; see `compiled_model`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def is_whole(self) -> bool:
        """Whether the folder holds exactly what was sealed."""
        try:
            sealed = json.loads((self.folder / _DONE).read_text())
        except (OSError, ValueError):
            return False
        return bool(sealed) and sealed == self._digests()

    def clear(self) -> None:
        """Throw away what is there; raises DeviceError if it can't be."""
        try:
            shutil.rmtree(self.folder)
            self.folder.mkdir(mode=0o700)
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def seal(self) -> dict[str, str]:
        """Mark the folder as done; SHA-256 of the compiled models by file name.

        Raises DeviceError if it can't be marked.
        """
        part = self.folder / f"{_DONE}.part"
        try:
            digests = self._digests()
            part.write_text(json.dumps(digests))
            part.replace(self.folder / _DONE)
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        return digests

    @contextmanager
    def as_working_directory(self) -> Iterator[None]:
        """The folder as the process's working directory, where the provider looks and writes."""
        before = os.open(".", os.O_RDONLY)
        try:
            os.chdir(self.folder)
            yield
        finally:
            os.fchdir(before)
            os.close(before)

    def _digests(self) -> dict[str, str]:
        return {file.name: sha256_of([file]) for file in sorted(self.folder.glob("*.om"))}


@contextmanager
def compiled_model(cache_dir: Path, key: str) -> Iterator[CompiledModel]:
    """The folder of a key, ours alone while the block runs; other processes wait.

    Raises DeviceError if the cache can't be written to.
    """
    folder = cache_dir / "om" / key
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (cache_dir / "om" / f"{key}.lock").open("w")
    except OSError as error:
        raise _unwritable(folder, error) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield CompiledModel(folder)


def _unwritable(folder: Path, error: OSError) -> DeviceError:
    return DeviceError(
        f"device.cache_dir: {folder} cannot be written: {error.strerror}. "
        "Choose a folder with space that this user may write to"
    )
