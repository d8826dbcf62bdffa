"""The `tiler` command.

The layers below are imported inside the commands, so that `tiler --help` needs none of them.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Literal

import click

from tiler.cli.failure import exit_code_of
from tiler.cli.terminal import Terminal

JOB = click.argument("job", type=click.Path(path_type=Path))
SET = click.option(
    "--set",
    "overrides",
    metavar="KEY.PATH=VALUE",
    multiple=True,
    help="Override a key of the job file; may be given several times.",
)
SCENE = click.option(
    "--scene",
    "only",
    metavar="GLOB",
    multiple=True,
    help="Only scenes whose file name or path matches.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object to stdout.")
QUIET = click.option("--quiet", is_flag=True, help="Only errors on stderr.")
DEBUG = click.option("--debug", is_flag=True, help="Tracebacks and debug messages.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="scene-tiler", prog_name="tiler")
def cli() -> None:
    """Label maps of whole satellite scenes, tile by tile, on Ascend NPUs."""


@cli.command()
@JOB
@SET
@SCENE
@click.option("--force", is_flag=True, help="Label scenes again that are done.")
@click.option("--dry-run", is_flag=True, help="Show the plan and stop, as `tiler plan` does.")
@JSON
@QUIET
@DEBUG
def run(
    job: Path,
    overrides: tuple[str, ...],
    only: tuple[str, ...],
    force: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Label the scenes of a job file.

    Exit codes: 0 all done; 1 some scene failed, the others are published; 2 the job, model card
    or command line is wrong; 3 the device or environment is unfit; 75 another run holds the job;
    130 or 143 interrupted.
    """
    if dry_run:
        return show_plan(job, overrides, only, True, as_json, quiet, debug)
    terminal = Terminal(as_json, quiet, debug)

    def label() -> int:
        from tiler.run.checked import check_job
        from tiler.run.run import run_job

        with terminal.progress() as progress:
            report = run_job(check_job(job, overrides, only), progress, force)
        if as_json:
            print(json.dumps(report.as_json()))
        elif not quiet:
            print("\n".join(report.lines()))
        return report.exit_code

    return exit_code_of(label, terminal)


@cli.command()
@JOB
@SET
@SCENE
@click.option(
    "--scan/--no-scan",
    default=True,
    help="Read the scenes to count the tiles without a valid pixel; --no-scan is faster.",
)
@JSON
@QUIET
@DEBUG
def plan(
    job: Path,
    overrides: tuple[str, ...],
    only: tuple[str, ...],
    scan: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Show what a job would do: scenes, tiles, cores, padding, skipped tiles, bytes."""
    return show_plan(job, overrides, only, scan, as_json, quiet, debug)


def show_plan(
    job: Path,
    overrides: tuple[str, ...],
    only: tuple[str, ...],
    scan: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Print the plan; 1 if some scene can't be planned."""

    def survey_all() -> int:
        from tiler.cli.plan_text import plan_lines
        from tiler.run.checked import check_job
        from tiler.run.survey import plan_as_json, survey

        checked = check_job(job, overrides, only)
        surveys = [survey(checked, scene, scan) for scene in checked.scenes]
        if as_json:
            print(json.dumps(plan_as_json(checked, surveys)))
        else:
            print("\n".join(plan_lines(checked, surveys)))
        return int(any(s.error is not None for s in surveys))

    return exit_code_of(survey_all, Terminal(as_json, quiet, debug))


@cli.command()
@click.argument("what", type=click.Choice(["job", "model"]))
def schema(what: Literal["job", "model"]) -> int:
    """Print the JSON Schema of job files or model cards, for editors."""
    from tiler.job.schema import json_schema

    print(json.dumps(json_schema(what), indent=2))
    return 0


def _open_standard_streams() -> None:
    """Have something behind descriptors 0 to 2 where the caller closed them.

    The next file to be opened would get the free number, and whatever a library writes to its
    "stderr" would end up in a label map.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    _open_standard_streams()
    # A file name may hold bytes that are no text; it must be printable all the same.
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        code = cli.main(arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    return code if isinstance(code, int) else 0
