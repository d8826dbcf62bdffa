"""Where a run keeps what it has made and not yet published."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tiler.errors import JobError
from tiler.job.load import LoadedJob
from tiler.run.lock import hold


@dataclass(frozen=True)
class Spool:
    """A job's folder for the parts of scenes, one folder a scene."""

    path: Path

    def keep_only(self, names: set[str]) -> None:
        """Remove what belongs to scenes that are done, or have changed."""
        for folder in self.path.iterdir():
            if folder.name not in names:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def workplace(job: LoadedJob) -> Iterator[Spool]:
    """The job's spool, ours alone while the block runs.

    It lies in `output.dir`, so that publishing a label map is a rename within a filesystem. What
    is in it when a run ends, however it ends, is there for the next one; an empty one goes.

    Raises JobError if `output.dir` can't be written to, LockedError if another run has this job
    or writes label maps of the same names.
    """
    hidden = job.output_dir / ".tiler"
    pattern = hashlib.sha256(job.job.output.name.encode()).hexdigest()[:12]
    spool = hidden / job.job.name
    made = [p for p in (job.output_dir, *job.output_dir.parents) if not p.exists()]
    try:
        _make(job, hidden)
        with hold(hidden / f"{job.job.name}.lock"), hold(hidden / f"names-{pattern}.lock"):
            _make(job, spool)
            try:
                yield Spool(spool)
            finally:
                with suppress(OSError):
                    spool.rmdir()
    finally:
        with suppress(OSError):
            for folder in (hidden, *made):
                folder.rmdir()


def _make(job: LoadedJob, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobError(
            f"{job.path}: output.dir: {folder} cannot be made: {error.strerror}. "
            "Choose a folder that this user may write to"
        ) from None
