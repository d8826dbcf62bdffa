"""Binds a worker to the CPUs that are near its device."""

from __future__ import annotations

import os
import re
import subprocess

_TIMEOUT_S = 10


def bind_near(device_id: int) -> str | None:
    """Bind this process, and the threads that it will start, to the CPUs near an Ascend device.

    Returns them as npu-smi lists them; None, and nothing is bound, where it doesn't tell.
    """
    try:
        done = subprocess.run(
            ["npu-smi", "info", "-t", "topo"],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    listed = cpus_near(done.stdout, _physical(device_id))
    cpus = parse_cpus(listed) & os.sched_getaffinity(0)
    if not cpus:
        return None
    os.sched_setaffinity(0, cpus)
    return listed


def cpus_near(topology: str, number: int) -> str:
    """The last column of a device's row in npu-smi's table of links; "" if it isn't there."""
    if "CPU Affinity" not in topology:
        return ""
    row = re.search(rf"^\s*NPU{number}\s.*?(\d[\d,-]*)\s*$", topology, re.MULTILINE)
    return row[1] if row else ""


def parse_cpus(listed: str) -> set[int]:
    """Numbers of a list such as 0-23,48-71."""
    cpus: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", listed):
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def _physical(device_id: int) -> int:
    """The device's number on the host: ASCEND_RT_VISIBLE_DEVICES renumbers from 0."""
    visible = re.findall(r"\d+", os.environ.get("ASCEND_RT_VISIBLE_DEVICES", ""))
    return int(visible[device_id]) if device_id < len(visible) else device_id
