"""Starts session_program.py, so that a hang or a crash is only that process's."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ascend_sim.trace import read_trace

PROGRAM = Path(__file__).with_name("session_program.py")

# Generous: a busy machine must not fail a test. Nothing waits that long unless it hangs.
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Ended:
    """What a session process left behind."""

    exit_code: int  # minus the signal's number for one that a signal ended
    facts: list[dict[str, Any]]  # what it said, a line each
    errors: str

    @property
    def fact(self) -> dict[str, Any]:
        """The one thing it said."""
        assert len(self.facts) == 1, f"said {self.facts}, and on standard error:\n{self.errors}"
        return self.facts[0]


def run_session(env: dict[str, str], folder: Path, scenario: str, *options: str) -> Ended:
    """Run a scenario in `folder`, where the provider keeps its compiled models."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), scenario, *options],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    # The provider prints banners of its own.
    facts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return Ended(done.returncode, facts, done.stderr)


def start_session(env: dict[str, str], folder: Path, scenario: str) -> subprocess.Popen[bytes]:
    """Start a scenario that is expected never to end; its output is dropped."""
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), scenario],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def trace_of(env: dict[str, str]) -> list[dict[str, Any]]:
    """The trace of the processes that ran in this environment."""
    return read_trace(Path(env["ACLSIM_TRACE"]))


def wait_for_call(env: dict[str, str], function: str) -> None:
    """Wait until the trace has a call of this name."""
    deadline = time.monotonic() + TIMEOUT_S
    while not any(call["fn"] == function for call in trace_of(env)):
        assert time.monotonic() < deadline, f"no {function} in the trace after {TIMEOUT_S} s"
        time.sleep(0.05)
