"""Runs any command on the simulated devices: python -m tests.ascend_sim [options] -- COMMAND ..."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.ascend_sim.build import BuildError, build
from tests.ascend_sim.environment import PREFIX, SWITCHES, SwitchValue, environment

# As a shell says it.
_EXIT_NOT_FOUND = 127
_EXIT_NOT_EXECUTABLE = 126


def main(arguments: Sequence[str]) -> None:
    """Become the command; returns only by SystemExit, when that is not possible."""
    options = _parser().parse_args(arguments)
    try:
        lib = build()
    except BuildError as error:
        raise SystemExit(f"ascend_sim: {error}") from error
    sys.stdout.flush()
    variables = environment(lib, **_switches(options))
    try:
        # In place of this process: signals and the exit code then need no passing on.
        os.execvpe(options.command[0], options.command, variables)
    except OSError as error:
        print(f"ascend_sim: {options.command[0]}: {error.strerror}", file=sys.stderr)
        missing = isinstance(error, FileNotFoundError)
        raise SystemExit(_EXIT_NOT_FOUND if missing else _EXIT_NOT_EXECUTABLE) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.ascend_sim",
        description="Run a command on simulated Ascend devices; its exit code is passed through.",
        epilog="The switches are described in tests/ascend_sim/README.md.",
    )
    parser.add_argument("--devices", type=int, metavar="N", help="how many devices there are")
    parser.add_argument("--fault", metavar="SPEC", help="such as task.exec@1:5=hang")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="a JSON line for each call")
    parser.add_argument(
        "--set",
        type=_switch,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="others",
        help="any other switch, such as exec_ms=20; may be repeated",
    )
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what to run, after --")
    return parser


def _switch(text: str) -> tuple[str, str]:
    """A switch as given on the command line: exec_ms=20 or ACLSIM_EXEC_MS=20."""
    name, equals, value = text.partition("=")
    name = name.upper().removeprefix(PREFIX).lower()
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    if name not in SWITCHES:
        raise argparse.ArgumentTypeError(
            f"no switch {name!r}; there are {', '.join(sorted(SWITCHES))}"
        )
    return name, value


def _switches(options: argparse.Namespace) -> dict[str, SwitchValue]:
    switches: dict[str, SwitchValue] = dict(options.others)
    if options.devices is not None:
        switches["devices"] = options.devices
    if options.fault is not None:
        switches["fault"] = options.fault
    if options.trace is not None:
        # The command may change its folder.
        switches["trace"] = options.trace.absolute()
    return switches


if __name__ == "__main__":
    main(sys.argv[1:])
