"""A call that hangs ends its process, and says where it hung."""

import subprocess
import sys
from pathlib import Path

from tiler.run.watchdog import Watch, watched, where_it_hung


def hang(stack_file: Path, holding_the_gil: bool) -> int:
    """The exit code of a process whose task hangs."""
    # ctypes.PyDLL keeps the GIL, as ONNX Runtime's copies to a device do.
    library = "PyDLL" if holding_the_gil else "CDLL"
    program = (
        "import ctypes, pathlib, sys\n"
        "from tiler.run.watchdog import watched\n"
        f"def copy_to_device(): ctypes.{library}(None).sleep(60)\n"
        "def label_here():\n"
        "    with watched(0.5, pathlib.Path(sys.argv[1])): copy_to_device()\n"
        "label_here()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(stack_file)], timeout=50)
    return done.returncode


def test_a_hang_ends_the_process_and_names_the_call(tmp_path: Path) -> None:
    for holding_the_gil in (False, True):
        watch = Watch(1, 1, tmp_path / f"stack-{holding_the_gil}")
        assert hang(watch.stack_file, holding_the_gil) == 1
        told = where_it_hung(watch)
        assert told is not None
        assert told.startswith("device hung in copy_to_device (")


def test_a_block_that_is_quick_enough_leaves_no_trace(tmp_path: Path) -> None:
    watch = Watch(1, 1, tmp_path / "stack")
    with watched(30, watch.stack_file):
        pass
    assert where_it_hung(watch) is None


def test_a_worker_that_died_of_something_else_did_not_hang(tmp_path: Path) -> None:
    assert where_it_hung(Watch(1, 1, tmp_path / "never written")) is None
