"""Building the simulator, and running commands on it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.ascend_sim.build import (
    HERE,
    LIBRARIES,
    BuildError,
    build,
    hash_of_sources,
    why_not_buildable,
)

pytestmark = pytest.mark.skipif(why_not_buildable() is not None, reason=str(why_not_buildable()))

ROOT = HERE.parent.parent


def run_on_simulator(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.ascend_sim", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_build_makes_all_libraries_outside_of_the_sources(tmp_path: Path) -> None:
    before = sorted(HERE.rglob("*"))

    folder = build(tmp_path)

    assert all((folder / name).is_file() for name in LIBRARIES)
    assert sorted(HERE.rglob("*")) == before


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Puts a quick `make` in the place of the real one; tells how often it was called."""
    log = tmp_path / "builds"
    program = tmp_path / "bin" / "make"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
echo built >> {log}
sleep 0.2
for argument; do folder=${{argument#OUT=}}; done
cd "$folder" && touch {" ".join(LIBRARIES)}
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return lambda: log.read_text().count("built")


def test_libraries_of_the_same_sources_are_not_built_again(
    tmp_path: Path, builds: Callable[[], int]
) -> None:
    folder = build(tmp_path / "out")

    assert build(tmp_path / "out") == folder
    assert builds() == 1


def test_libraries_of_other_sources_are_built_again(
    tmp_path: Path, builds: Callable[[], int]
) -> None:
    (build(tmp_path) / "built-from").write_text("other sources")

    build(tmp_path)

    assert builds() == 2


def test_one_of_several_builders_builds(tmp_path: Path, builds: Callable[[], int]) -> None:
    # Each opens the lock file itself, so threads exclude each other as processes do.
    with ThreadPoolExecutor(3) as pool:
        folders = list(pool.map(build, [tmp_path / "out"] * 3))

    assert folders == [tmp_path / "out"] * 3
    assert builds() == 1


def test_default_folder_is_named_after_the_sources(
    tmp_path: Path, builds: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert build() == tmp_path / "scene-tiler-tests" / f"ascend_sim-{hash_of_sources()}"
    assert builds() == 1


def test_compiler_messages_are_in_the_error(tmp_path: Path, builds: Callable[[], int]) -> None:
    (tmp_path / "bin" / "make").write_text("#!/bin/sh\necho no such header >&2; exit 2\n")

    with pytest.raises(BuildError, match="no such header"):
        build(tmp_path)


def test_command_finds_simulator_and_switches() -> None:
    ran = run_on_simulator(
        "--devices", "3", "--fault", "aclInit=1", "--set", "exec_ms=20", "--", "env"
    )

    lines = ran.stdout.splitlines()
    assert {"ACLSIM_DEVICES=3", "ACLSIM_FAULT=aclInit=1", "ACLSIM_EXEC_MS=20"} <= set(lines)
    assert any(line.startswith("LD_LIBRARY_PATH=/") for line in lines)


def test_trace_file_is_absolute() -> None:
    ran = run_on_simulator("--trace", "trace.jsonl", "--", "env")

    assert f"ACLSIM_TRACE={ROOT / 'trace.jsonl'}" in ran.stdout.splitlines()


def test_exit_code_is_passed_through() -> None:
    assert run_on_simulator("--", "sh", "-c", "exit 7").returncode == 7


def test_options_after_the_dashes_are_the_commands() -> None:
    assert run_on_simulator("--", "echo", "--devices", "5").stdout == "--devices 5\n"


def test_command_that_does_not_exist() -> None:
    ran = run_on_simulator("--", "no-such-command")

    assert ran.returncode == 127
    assert "no-such-command: No such file or directory" in ran.stderr


@pytest.mark.parametrize(
    ("setting", "message"),
    [("exec_ms", "'exec_ms' is not NAME=VALUE"), ("speed=2", "no switch 'speed'")],
)
def test_setting_that_does_not_exist(setting: str, message: str) -> None:
    ran = run_on_simulator("--set", setting, "--", "true")

    assert ran.returncode == 2
    assert message in ran.stderr
