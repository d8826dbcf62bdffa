"""The environment of a process that is to find the simulator instead of a real runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

SwitchValue = str | int | float | bool | Path

PREFIX = "ACLSIM_"

# All that the sources read, in lower case and without the prefix.
SWITCHES = frozenset(
    {
        "build_ms",
        "build_reject",
        "devices",
        "exec_ms",
        "fault",
        "guard",
        "lost_file",
        "mem_bytes",
        "nocompute",
        "noise",
        "opt",
        "ort_lib",
        "preinit",
        "save_ms",
        "soc",
        "sticky",
        "threads",
        "trace",
    }
)


def environment(
    lib: Path, base: Mapping[str, str] | None = None, /, **switches: SwitchValue
) -> dict[str, str]:
    """`base` (this process's environment unless given) with the simulator and its switches set.

    `devices=2` sets ACLSIM_DEVICES to 2; True and False become 1 and 0. It is for a process yet to
    be started: the loader reads LD_LIBRARY_PATH once, so setting it in os.environ has no effect.

    Raises ValueError for a switch that does not exist, which would otherwise do nothing.
    """
    unknown = switches.keys() - SWITCHES
    if unknown:
        raise ValueError(
            f"no such switch: {', '.join(sorted(unknown))}. There are {', '.join(sorted(SWITCHES))}"
        )
    variables = dict(os.environ if base is None else base)
    variables["LD_LIBRARY_PATH"] = _with_folder_first(lib, variables.get("LD_LIBRARY_PATH", ""))
    for name, value in switches.items():
        variables[PREFIX + name.upper()] = _text(value)
    return variables


def without_switches(base: Mapping[str, str]) -> dict[str, str]:
    """`base` without anything that steers the simulator or chooses devices."""
    return {
        name: value
        for name, value in base.items()
        if not name.startswith(PREFIX) and name != "ASCEND_RT_VISIBLE_DEVICES"
    }


def _with_folder_first(folder: Path, search_path: str) -> str:
    # Absolute, because a relative one stops working when the process changes its folder.
    first = str(folder.absolute())
    others = [entry for entry in search_path.split(":") if entry and entry != first]
    return ":".join([first, *others])


def _text(value: SwitchValue) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
