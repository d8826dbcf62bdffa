"""The environment that makes a process find the simulator, and the trace that comes back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.ascend_sim.build import HERE
from tests.ascend_sim.environment import SWITCHES, environment, without_switches
from tests.ascend_sim.trace import calls_of, read_trace

LIB = Path("/simulator")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [("devices", 2, "2"), ("sticky", True, "1"), ("guard", False, "0"), ("fault", "a=1", "a=1")],
)
def test_switch_becomes_a_variable(name: str, value: int | str, text: str) -> None:
    assert environment(LIB, {}, **{name: value})[f"ACLSIM_{name.upper()}"] == text


def test_unknown_switch_is_refused() -> None:
    with pytest.raises(ValueError, match="no such switch: device"):
        environment(LIB, {}, device=2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "/simulator"),
        ("/cuda:/other", "/simulator:/cuda:/other"),
        ("/cuda:/simulator", "/simulator:/cuda"),
    ],
)
def test_simulator_comes_first_on_the_search_path(before: str, after: str) -> None:
    assert environment(LIB, {"LD_LIBRARY_PATH": before})["LD_LIBRARY_PATH"] == after


def test_relative_folder_becomes_absolute() -> None:
    found = environment(Path("lib"), {})["LD_LIBRARY_PATH"]

    assert found == str(Path.cwd() / "lib")


def test_process_environment_is_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACLSIM_EXEC_MS", "20")

    assert environment(LIB)["ACLSIM_EXEC_MS"] == "20"


def test_switches_of_the_shell_can_be_left_out() -> None:
    base = {"PATH": "/bin", "ACLSIM_FAULT": "aclInit=1", "ASCEND_RT_VISIBLE_DEVICES": "1"}

    assert without_switches(base) == {"PATH": "/bin"}


def test_switches_are_those_that_the_sources_read() -> None:
    sources = "".join(path.read_text() for path in (HERE / "src").glob("*.cc"))

    assert set(re.findall(r'"ACLSIM_(\w+)"', sources)) == {name.upper() for name in SWITCHES}


@pytest.mark.parametrize("name", sorted(SWITCHES))
def test_switch_is_described(name: str) -> None:
    assert f"| `{name}` |" in (HERE / "README.md").read_text()


def test_trace_without_file_is_empty(tmp_path: Path) -> None:
    assert read_trace(tmp_path / "none") == []


def test_line_still_being_written_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text('{"fn":"aclInit","rc":0}\n{"fn":"aclrtMal')

    assert read_trace(path) == [{"fn": "aclInit", "rc": 0}]


def test_calls_of_one_function() -> None:
    trace: list[dict[str, Any]] = [{"fn": "a", "n": 1}, {"fn": "b"}, {"fn": "a", "n": 2}]

    assert [call["n"] for call in calls_of(trace, "a")] == [1, 2]
