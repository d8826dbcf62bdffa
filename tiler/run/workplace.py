"""Where a run keeps what it has made and not yet published."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tiler.errors import JobError
from tiler.job.load import LoadedJob
from tiler.run.lock import hold


@contextmanager
def workplace(job: LoadedJob) -> Iterator[Path]:
    """The job's spool folder, ours alone while the block runs, and gone afterwards.

    It lies in `output.dir`, so that publishing a label map is a rename within a filesystem.

    Raises JobError if `output.dir` can't be written to, LockedError if another run has it.
    """
    hidden = job.output_dir / ".tiler"
    spool = hidden / job.job.name
    made = [p for p in (job.output_dir, *job.output_dir.parents) if not p.exists()]
    try:
        _make(job, hidden)
        with hold(hidden / f"{job.job.name}.lock"):
            # What a run that was killed has left.
            shutil.rmtree(spool, ignore_errors=True)
            _make(job, spool)
            try:
                yield spool
            finally:
                shutil.rmtree(spool, ignore_errors=True)
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
