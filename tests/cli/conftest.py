"""Fixtures of the runs, for the commands."""

from tests.run.conftest import folder

__all__ = ["folder"]
