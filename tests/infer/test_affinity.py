"""A worker is bound to the CPUs near its device, where the system tells which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tiler.infer.affinity import bind_near, cpus_near, parse_cpus

TOPOLOGY = """
           NPU0       NPU1       NPU10      CPU Affinity
NPU0       X          HCCS       HCCS       {cpu}
NPU1       HCCS       X          HCCS       0-23,48-71
NPU10      HCCS       HCCS       X          100000-100003
"""


@pytest.fixture(autouse=True)
def _all_cpus_afterwards() -> object:
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def npu_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """A command that shows device 0 near the first CPU that we may use; that CPU."""
    cpu = min(os.sched_getaffinity(0))
    script = tmp_path / "npu-smi"
    script.write_text(f"#!/bin/sh\ncat <<'END'{TOPOLOGY.format(cpu=cpu)}END\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return cpu


def test_the_devices_own_row_counts() -> None:
    assert cpus_near(TOPOLOGY, 1) == "0-23,48-71"
    assert cpus_near(TOPOLOGY, 10) == "100000-100003"
    assert cpus_near(TOPOLOGY, 7) == ""
    assert cpus_near("npu-smi: unknown option", 0) == ""


def test_lists_of_cpus_are_read() -> None:
    assert parse_cpus("0-2,7,9-10") == {0, 1, 2, 7, 9, 10}
    assert parse_cpus("") == set()


def test_the_process_is_bound(npu_smi: int) -> None:
    assert bind_near(0) == str(npu_smi)
    assert os.sched_getaffinity(0) == {npu_smi}


def test_cpus_that_the_process_may_not_use_bind_nothing(npu_smi: int) -> None:
    before = os.sched_getaffinity(0)
    assert bind_near(10) is None
    assert os.sched_getaffinity(0) == before


def test_visible_devices_are_renumbered(npu_smi: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "10,0")
    assert bind_near(1) == str(npu_smi)


def test_without_the_command_nothing_is_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bind_near(0) is None
