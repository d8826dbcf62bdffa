"""Builds the simulator's libraries, once for each state of its sources."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
LIBRARIES = ("libascendcl.so", "libacl_op_compiler.so", "libfmk_onnx_parser.so")

# Written last, so that a folder that has it has whole libraries of the sources it names.
_STAMP = "built-from"


class BuildError(Exception):
    """The compiler refused the sources; the message holds what it said."""


def why_not_buildable() -> str | None:
    """What this machine lacks for a build, in words for a person; None where nothing is missing."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return f"the simulator is for x86_64 Linux, this is {platform.machine()} {sys.platform}"
    for program in ("g++", "make"):
        if shutil.which(program) is None:
            return f"the simulator needs {program} to be built, which is not installed"
    return None


def hash_of_sources() -> str:
    """A short hash of all that decides what is built."""
    digest = hashlib.sha256()
    for path in [HERE / "Makefile", *sorted((HERE / "src").glob("*.[ch]*"))]:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where `build` puts the libraries unless told otherwise; other sources, another folder."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "scene-tiler-tests" / f"ascend_sim-{hash_of_sources()}"


def build(out_dir: Path | None = None) -> Path:
    """Build the libraries unless they are there already; the absolute path of their folder.

    May be called by several processes at once: one builds, the others wait for it.

    Raises BuildError if they cannot be built.
    """
    folder = (out_dir or cache_folder()).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    sources = hash_of_sources()
    with _locked(folder / "lock"):
        if not _is_built(folder, sources):
            _make(folder)
            (folder / _STAMP).write_text(sources)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file; the kernel lets go of it however the holder ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_built(folder: Path, sources: str) -> bool:
    stamp = folder / _STAMP
    if not stamp.is_file() or stamp.read_text() != sources:
        return False
    return all((folder / name).is_file() for name in LIBRARIES)


def _make(folder: Path) -> None:
    missing = why_not_buildable()
    if missing:
        raise BuildError(missing)
    # The hash decides, not file times: a checkout can make changed sources look old. So --always.
    command = ["make", "--always-make", "--jobs=2", "-C", str(HERE), f"OUT={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)} failed:\n{done.stderr}")
