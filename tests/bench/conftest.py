"""Fixtures of the runs, for the benches."""

from tests.run.conftest import folder

__all__ = ["folder"]
