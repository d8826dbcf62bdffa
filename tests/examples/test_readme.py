"""What README.md says, checked where a machine can."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiler import errors
from tiler.cli.main import cli
from tiler.job.card import load_card
from tiler.job.load import load_job

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def block(name: str) -> str:
    """The fenced block between the markers called `name`."""
    found = re.search(f"<!-- {name} -->\n```\\w+\n(.*?)```\n<!-- /{name} -->", README, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", ["quickstart-command", "test-command"])
def test_a_set_up_command_is_one_line(name: str) -> None:
    assert block(name).count("\n") == 1


def test_the_example_job_and_card_are_valid(tmp_path: Path) -> None:
    (tmp_path / "land-cover.onnx").touch()
    (tmp_path / "land-cover.yaml").write_text(block("example-card"))
    (tmp_path / "job.yaml").write_text(block("example-job"))
    job = load_job(tmp_path / "job.yaml", environ={"HOME": "/home/somebody"})
    assert len(load_card(job.model_card).legend.classes) == 2


def test_the_example_job_shows_the_defaults_or_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(block("example-job"))
    job = load_job(tmp_path / "job.yaml", environ={"HOME": "/home/somebody"}).job
    for section in (job.tiling, job.run, job.output):
        for key, value in section.model_dump(exclude_unset=True).items():
            default = type(section).model_fields[key].default
            assert (key, value) in {(key, default), ("overlap", 128), ("dir", "${HOME}/labels")}


def test_every_command_and_option_is_told() -> None:
    for name, command in cli.commands.items():
        assert f"`tiler {name} " in README
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("--") and option != "--scan":
                    assert f"`{option}" in README


def test_every_exit_code_is_told() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+)", README, re.MULTILINE)}
    codes = {
        error.exit_code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.TilerError)
    }
    assert {*codes, 0, 130} <= told


def test_every_link_leads_to_a_file() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists()
