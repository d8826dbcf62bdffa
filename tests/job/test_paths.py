"""Paths in job files and cards: relative to the file, `~`, `${VARIABLE}`, links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.job.files import CARD, JOB, changed, faults, job_lines, load, load_a_card, write
from tiler.errors import JobError
from tiler.job.card import load_card
from tiler.job.load import load_job

ELSEWHERE = changed(
    JOB,
    {
        "scenes.include": ["../scenes/**/*.tif", "/data/[ab]?.tif", "./a.tif"],
        "scenes.exclude": ["../scenes/old/", "*_cloudy.tif"],
        "model": "../configs/card.yaml",
        "output.dir": "../out/./x",
        "device.cache_dir": "cache",
    },
)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("working_directory", ["", "jobs", "/"])
def test_paths_are_relative_to_the_job_file_wherever_the_command_is_given(
    tmp_path: Path, jobs: Path, monkeypatch: pytest.MonkeyPatch, working_directory: str
) -> None:
    write(jobs / "job.yaml", ELSEWHERE)
    monkeypatch.chdir(tmp_path / working_directory)
    named = Path(os.path.relpath(jobs / "job.yaml"))
    job = load_job(named)
    assert job.path == named
    assert job.model_card == tmp_path / "configs" / "card.yaml"
    assert job.output_dir == tmp_path / "out" / "x"
    assert job.include == (f"{tmp_path}/scenes/**/*.tif", "/data/[ab]?.tif", f"{jobs}/a.tif")
    assert job.exclude == (f"{tmp_path}/scenes/old/", f"{jobs}/*_cloudy.tif")
    assert job.cache_dir == jobs / "cache"


def test_a_linked_job_file_counts_where_the_link_lies(tmp_path: Path, jobs: Path) -> None:
    write(jobs / "job.yaml", ELSEWHERE)
    (tmp_path / "deep" / "today").mkdir(parents=True)
    link = tmp_path / "deep" / "today" / "job.yaml"
    link.symlink_to(jobs / "job.yaml")
    assert load_job(link).output_dir == tmp_path / "deep" / "out" / "x"


def test_two_dots_behind_a_linked_folder_lead_where_the_system_leads(
    tmp_path: Path, jobs: Path
) -> None:
    write(jobs / "job.yaml", ELSEWHERE)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "link").symlink_to(jobs)
    job = load_job(tmp_path / "deep" / "link" / "job.yaml")
    assert job.output_dir.parent.resolve() == tmp_path / "out"
    assert Path(job.include[0].partition("**")[0]).resolve() == tmp_path / "scenes"


def test_a_link_without_two_dots_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    job = load(tmp_path, changed(JOB, {"output.dir": "link/out"}))
    assert job.output_dir == tmp_path / "link" / "out"


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    job = load(tmp_path, changed(JOB, {"output.dir": "~/out", "model": "a~/b.yaml"}))
    assert job.output_dir == Path("/home/ada/out")
    assert job.model_card == tmp_path / "a~" / "b.yaml"


def test_the_home_of_nobody_is_told(tmp_path: Path) -> None:
    wrong = changed(JOB, {"output.dir": "~no-such-user/out"})
    assert faults(tmp_path, wrong) == job_lines(
        "output.dir: found '~no-such-user/out', but no such user has a home folder. "
        "Write the path out"
    )


def test_variables_are_filled_in_all_paths(tmp_path: Path) -> None:
    content = changed(
        JOB,
        {
            "scenes.include": ["${DATA}/${YEAR}/*.tif", "x/${YEAR}[${YEAR}].tif"],
            "scenes.exclude": ["${DATA}/old"],
            "model": "${MODELS}/card.yaml",
            "output.dir": "out-${YEAR}",
            "device.cache_dir": "${ DATA }/cache",
        },
    )
    environ = {"DATA": "/data", "YEAR": "2026", "MODELS": "../models"}
    job = load(tmp_path, content, environ=environ)
    assert job.include == ("/data/2026/*.tif", f"{tmp_path}/x/2026[2026].tif")
    assert job.exclude == ("/data/old",)
    assert job.model_card == tmp_path.parent / "models" / "card.yaml"
    assert job.output_dir == tmp_path / "out-2026"
    assert job.cache_dir == Path("/data/cache")


def test_variables_are_filled_in_paths_only(tmp_path: Path) -> None:
    job = load(tmp_path, changed(JOB, {"device.options": {"a": "${X}"}, "name": "${X}"}))
    assert (job.job.name, job.job.device.options) == ("${X}", {"a": "${X}"})


def test_a_dollar_without_braces_is_a_dollar(tmp_path: Path) -> None:
    job = load(tmp_path, changed(JOB, {"output.dir": "$X/$$"}), environ={"X": "y"})
    assert job.output_dir == tmp_path / "$X" / "$$"


def test_every_variable_that_is_not_set_is_told(tmp_path: Path) -> None:
    wrong = changed(
        JOB, {"output.dir": "${OUT}/x", "scenes.include": ["a.tif", "${DATA}/*"], "model": "${}"}
    )
    rest = "is not set. Set it, or write the path out"
    assert faults(tmp_path, wrong, environ={"DATA": ""}) == job_lines(
        f"model: the environment variable '' {rest}",
        f"output.dir: the environment variable 'OUT' {rest}",
        f"scenes.include[1]: the environment variable 'DATA' {rest}",
    )


def test_a_path_with_a_nul_character_is_told(tmp_path: Path) -> None:
    wrong = changed(JOB, {"model": "a\0.yaml"})
    assert faults(tmp_path, wrong) == job_lines("model: a path can't hold a NUL character")


def test_the_onnx_file_is_relative_to_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAME", "water")
    (tmp_path / "cards").mkdir()
    (tmp_path / "water.onnx").touch()
    card = write(tmp_path / "cards" / "card.yaml", changed(CARD, {"file": "../${NAME}.onnx"}))
    monkeypatch.chdir(tmp_path / "cards")
    assert load_card(card).onnx_file == tmp_path / "water.onnx"
    assert load_card(Path("card.yaml")).onnx_file == tmp_path / "water.onnx"


@pytest.mark.parametrize("file", ["gone.onnx", ".", "x" * 300])
def test_an_onnx_file_that_is_none_is_told(tmp_path: Path, file: str) -> None:
    with pytest.raises(JobError) as error:
        load_a_card(tmp_path, changed(CARD, {"file": file}))
    where = os.path.normpath(tmp_path / file)
    assert str(error.value) == (
        f"{tmp_path}/card.yaml: file: {where} is no file. Give the ONNX file, relative to the card"
    )
