"""Pytest fixtures for tests that run true CANN sessions on the simulator.

    from tests.ascend_sim.fixtures import ascend_env, ascend_lib  # noqa: F401

in a conftest makes them known. Where something is missing, tests that use them are skipped and say
why. ASCEND_SIM_REQUIRED=1 makes that a failure, for a CI job that is there to run them.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ascend_sim.build import build, why_not_buildable
from tests.ascend_sim.environment import SwitchValue, environment, without_switches

AscendEnv = Callable[..., dict[str, str]]

_PROVIDER = "libonnxruntime_providers_cann.so"


def provider_folder() -> Path | None:
    """The folder with the CANN provider of the installed ONNX Runtime; None if it has none."""
    package = importlib.util.find_spec("onnxruntime")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent / "capi"
    return folder if (folder / _PROVIDER).is_file() else None


def _why_no_sessions() -> str | None:
    if provider_folder() is None:
        return "the onnxruntime-cann wheel is not installed"
    return why_not_buildable()


@pytest.fixture(scope="session")
def ascend_lib() -> Path:
    """The folder with the simulator's libraries, built when needed."""
    reason = _why_no_sessions()
    if reason is not None and os.environ.get("ASCEND_SIM_REQUIRED") == "1":
        pytest.fail(f"no simulated Ascend: {reason}")
    if reason is not None:
        pytest.skip(f"no simulated Ascend: {reason}")
    return build()


@pytest.fixture
def ascend_env(ascend_lib: Path, tmp_path: Path) -> AscendEnv:
    """A callable that gives the environment of a subprocess: `ascend_env(devices=1, sticky=True)`.

    The trace is the file that ACLSIM_TRACE names in it, in the test's own folder. Switches that
    the shell around the tests has set do not reach the subprocess.
    """

    def make(**switches: SwitchValue) -> dict[str, str]:
        switches.setdefault("trace", tmp_path / "ascend_trace.jsonl")
        return environment(ascend_lib, without_switches(os.environ), **switches)

    return make
