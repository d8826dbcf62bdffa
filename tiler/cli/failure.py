"""Errors as their reader needs them: one line for a user's mistake, a traceback for a bug."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from tiler.cli.terminal import Terminal
from tiler.errors import InterruptedRunError, TilerError


class Failure:
    """How a command ended, if it did not end by itself."""

    exit_code = 1


@contextmanager
def told_in_one_line(terminal: Terminal) -> Iterator[Failure]:
    """Tell errors of the user's on stderr, and with --json in the one object on stdout.

    A bug of ours goes on as an exception, after the object was printed.
    """
    failure = Failure()
    started = time.monotonic()
    try:
        _refuse_foreign_tiler()
        yield failure
    except TilerError as error:
        failure.exit_code = error.exit_code
        if isinstance(error, InterruptedRunError):
            told = "interrupted before anything was started"
        else:
            told = str(error)
        if terminal.debug:
            traceback.print_exc()
        print(f"tiler: {told}", file=sys.stderr)
        _print_json(terminal, started, told)
    except Exception as error:
        _print_json(terminal, started, f"internal error: {error!r}")
        raise


def _refuse_foreign_tiler() -> None:
    from tiler.infer.runtime import check_foreign_tiler

    check_foreign_tiler()


def _print_json(terminal: Terminal, started: float, told: str) -> None:
    if terminal.as_json:
        from tiler.run.report import RunReport

        report = RunReport(run=None, elapsed_s=time.monotonic() - started, error=told)
        print(json.dumps(report.as_json()))
