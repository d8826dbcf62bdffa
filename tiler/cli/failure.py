"""Errors as their reader needs them: one line for a user's mistake, a traceback for a bug."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable

from tiler.cli.terminal import Terminal
from tiler.errors import InterruptedRunError, TilerError
from tiler.run.report import RunReport


def exit_code_of(command: Callable[[], int], terminal: Terminal) -> int:
    """Run a command; its exit code, or that of the error that ended it.

    An error is told on stderr, and with --json in the one object on stdout as well. A bug of
    ours goes on as an exception after that.
    """
    started = time.monotonic()

    def tell(error: str) -> None:
        if terminal.as_json:
            report = RunReport(run=None, elapsed_s=time.monotonic() - started, error=error)
            print(json.dumps(report.as_json()))

    try:
        _refuse_foreign_tiler()
        return command()
    except TilerError as error:
        if terminal.debug:
            traceback.print_exc()
        told = _told(error)
        print("\n".join(f"tiler: {line}" for line in told.splitlines()), file=sys.stderr)
        tell(told)
        return error.exit_code
    except Exception as error:
        tell(f"internal error: {error!r}")
        raise


def _told(error: TilerError) -> str:
    if isinstance(error, InterruptedRunError):
        return "interrupted before anything was started"
    return str(error)


def _refuse_foreign_tiler() -> None:
    from tiler.infer.runtime import check_foreign_tiler

    check_foreign_tiler()
