"""One holder at a time, and the next one is told who it is."""

import multiprocessing
import os
import signal
import socket
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from tiler.errors import LockedError
from tiler.run.lock import hold


def hold_for_long(path: Path, held: Event) -> None:
    with hold(path):
        held.set()
        signal.pause()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[BaseProcess]:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    process = context.Process(target=hold_for_long, args=(tmp_path / "lock", held))
    process.start()
    assert held.wait(30)
    yield process
    process.kill()
    process.join()


def test_a_second_one_is_told_who_holds_it(tmp_path: Path, holder: BaseProcess) -> None:
    with pytest.raises(LockedError) as error, hold(tmp_path / "lock"):
        pass
    assert f"process {holder.pid} on {socket.gethostname()}, since 20" in str(error.value)


def test_the_lock_of_a_holder_that_was_killed_is_free(tmp_path: Path, holder: BaseProcess) -> None:
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with hold(tmp_path / "lock"):
        pass


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with hold(tmp_path / "lock"):
        pass
    assert list(tmp_path.iterdir()) == []
