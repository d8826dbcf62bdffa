"""Worker processes do what they are told, and their deaths are noticed."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tiler.engine.cluster import Engine, Finished, Told, WorkerDiedError, WorkerSpec, tell
from tiler.errors import SceneError


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    workers = [
        WorkerSpec("device 0", environment={"TILER_TEST": "of device 0"}),
        WorkerSpec("device 1"),
        WorkerSpec("host", threads=2, resource="HOST"),
    ]
    with Engine(workers, tmp_path_factory.mktemp("scratch")) as engine:
        yield engine


def pid() -> int:
    return os.getpid()


def variable(name: str) -> str | None:
    return os.environ.get(name)


def folder() -> str:
    return str(Path.cwd())


def fail(text: str) -> None:
    raise ValueError(text)


class UnpicklableError(Exception):
    def __reduce__(self) -> str:
        raise TypeError("stays here")


def fail_because_of_gdal() -> None:
    try:
        raise UnpicklableError
    except UnpicklableError as error:
        raise SceneError("scene.tif: cannot be read") from error


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def talk(text: str) -> None:
    tell(text)


def survive_signals() -> bool:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    time.sleep(0.1)
    return True


def test_each_worker_is_a_process_of_its_own(engine: Engine) -> None:
    pids = {engine.call(name, pid) for name in ("device 0", "device 1", "host")}
    assert len(pids | {os.getpid()}) == 4


def test_a_worker_keeps_its_process(engine: Engine) -> None:
    assert engine.call("device 0", pid) == engine.call("device 0", pid)


def test_a_worker_has_its_own_environment(engine: Engine) -> None:
    assert engine.call("device 0", variable, "TILER_TEST") == "of device 0"
    assert engine.call("device 1", variable, "TILER_TEST") is None


def test_workers_stay_in_the_users_folder(engine: Engine) -> None:
    assert engine.call("device 0", folder) == str(Path.cwd())


def test_an_error_of_a_task_is_raised_as_it_was(engine: Engine) -> None:
    with pytest.raises(ValueError, match="no such thing"):
        engine.call("device 0", fail, "no such thing")


def test_a_users_error_arrives_though_its_cause_cannot_travel(engine: Engine) -> None:
    with pytest.raises(SceneError, match=r"scene\.tif: cannot be read"):
        engine.call("device 0", fail_because_of_gdal)


def test_ends_of_tasks_come_with_their_key_and_worker(engine: Engine) -> None:
    engine.submit("device 1", ("part", 7), pid)
    event = engine.next_event()
    assert isinstance(event, Finished)
    assert (event.key, event.worker) == (("part", 7), "device 1")


def test_a_task_can_say_something_while_it_runs(engine: Engine) -> None:
    engine.submit("device 0", None, talk, "half way")
    events = [engine.next_event(), engine.next_event()]
    assert Told("half way") in events


def test_signals_sent_to_the_whole_group_leave_workers_alone(engine: Engine) -> None:
    before = engine.call("device 0", pid)
    assert engine.call("device 0", survive_signals)
    assert engine.call("device 0", pid) == before


def test_the_death_of_a_worker_ends_its_task_and_the_next_one_has_a_new_process(
    engine: Engine,
) -> None:
    before = engine.call("device 0", pid)
    with pytest.raises(WorkerDiedError, match="device 0"):
        engine.call("device 0", die)
    assert engine.call("device 0", pid) != before


def test_a_task_given_to_a_worker_that_is_just_restarting_waits_for_it(engine: Engine) -> None:
    os.kill(engine.call("device 1", pid), signal.SIGKILL)
    time.sleep(0.1)
    assert engine.call("device 1", pid) > 0


def test_only_loopback_is_listened_on(engine: Engine) -> None:
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = [c.laddr.ip for p in processes for c in p.net_connections() if c.status == "LISTEN"]
    assert set(listening) == {"127.0.0.1"}


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    with Engine([WorkerSpec("device 0")], tmp_path) as engine:
        process = psutil.Process(engine.call("device 0", pid))
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
