"""Fixtures of the tests that run true CANN sessions on the simulator."""

from tests.ascend_sim.fixtures import ascend_env, ascend_lib

__all__ = ["ascend_env", "ascend_lib"]
