"""What is taken for YAML, and what is said of files that hold something else."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.job.files import faults, job_lines, load
from tiler.errors import JobError
from tiler.job.load import load_job
from tiler.job.yaml_file import MOST_BYTES, parse_yaml, read_mapping


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # The core schema of YAML 1.2: what looks like text is text.
        *(("no", "no"), ("yes", "yes"), ("on", "on"), ("Off", "Off"), ("y", "y")),
        *(("2024-01-01", "2024-01-01"), ("12:30", "12:30"), ("1_000", "1_000"), ("=", "=")),
        *(("<<", "<<"), ("0b11", "0b11"), ("1.2.3", "1.2.3"), ("-", [None]), ("+", "+")),
        *(("'1'", "1"), ('"true"', "true"), ("nan", "nan"), ("inf", "inf"), (".", ".")),
        # And numbers are numbers.
        *(("1e-4", 1e-4), ("1E3", 1000.0), ("-.5", -0.5), ("1.", 1.0), ("+3", 3), ("-0", 0)),
        *(("010", 10), ("09", 9), ("0o17", 15), ("0x1F", 31), ("-.inf", -math.inf)),
        *(("true", True), ("False", False), ("null", None), ("~", None), ("", None)),
        ("{a: [1, b]}", {"a": [1, "b"]}),
    ],
)
def test_plain_values_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    found = parse_yaml(text, "job.yaml")
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_written_with_a_dot() -> None:
    assert math.isnan(parse_yaml(".nan", "job.yaml"))


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(b"\xef\xbb\xbfversion: 1\n")
    assert read_mapping(path) == {"version": 1}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        *(
            (empty, "found nothing, expected keys and values, such as version: 1")
            for empty in ("", "\n", "# only a remark\n", "---\n", "null\n", "~\n")
        ),
        ("- a\n- b\n", "found a list, expected keys and values, such as version: 1"),
        ("hello\n", "found text, expected keys and values, such as version: 1"),
        ("3\n", "found a number, expected keys and values, such as version: 1"),
        ("true\n", "found true or false, expected keys and values, such as version: 1"),
        (b"name: \xe9t\xe9\n", "is not UTF-8 text (at byte 6); expected a YAML file in UTF-8"),
        (
            "version: 1".encode("utf-16"),
            "is not UTF-8 text (at byte 0); expected a YAML file in UTF-8",
        ),
        (
            b"II*\0\x08\0\0\0",
            "is not YAML: unacceptable character #x0000: special characters are not allowed",
        ),
        ("a: 1\na: 2\n", "line 2, column 1: the key 'a' stands twice"),
        ("a:\n  b: 1\n  c: 2\n  b: 3\n", "line 4, column 3: the key 'b' stands twice"),
        ("a: [{b: 1, b: 2}]\n", "line 1, column 12: the key 'b' stands twice"),
        ("a: 1\n'a': 2\n", "line 2, column 1: the key 'a' stands twice"),
        ("1: a\n", "line 1, column 1: the key '1' is not text; put it in quotes"),
        ("true: a\n", "line 1, column 1: the key 'true' is not text; put it in quotes"),
        ("{[a]: b}\n", "line 1, column 2: the key is not text; put it in quotes"),
        (
            "a: &x 1\nb: *x\n",
            "line 2, column 4: *x is an alias, which is not allowed here; "
            "put text that starts with * in quotes",
        ),
        (
            "a: &x [*x]\n",
            "line 1, column 8: *x is an alias, which is not allowed here; "
            "put text that starts with * in quotes",
        ),
        ("a: *.tif\n", "line 1, column 5: is not YAML: put text that starts with * in quotes"),
        ("a: [**/*.tif]\n", "line 1, column 6: is not YAML: put text that starts with * in quotes"),
        (
            "a: !!python/object/apply:os.system [ls]\n",
            "line 1, column 4: the tag !!python/object/apply:os.system is not allowed; "
            "text with ! needs quotes",
        ),
        (
            "a: !!bool perhaps\n",
            "line 1, column 4: the tag !!bool is not allowed; text with ! needs quotes",
        ),
        (
            "a: !local b\n",
            "line 1, column 4: the tag !local is not allowed; text with ! needs quotes",
        ),
        ("a:\n\tb: 1\n", "line 2, column 1: is not YAML: found a tab; indent with spaces"),
        ("a: b: c\n", "line 1, column 5: is not YAML: mapping values are not allowed here"),
        (
            "a: 1\n---\nb: 2\n",
            "line 2, column 1: is not YAML: found a second document (---); expected one",
        ),
        (
            "a: [1, 2\n",
            "line 2, column 1: is not YAML: expected ',' or ']', but got '<stream end>'",
        ),
        (f"a: {'9' * 5000}\n", "line 1, column 4: a number of 5000 digits is too long"),
        (f"a: 0x{'f' * 5000}\n", "line 1, column 4: a number of 5002 digits is too long"),
        ("a: " + "[" * 5000, "is nested too deeply"),
        ("a: " + "{b: " * 5000, "is nested too deeply"),
        ("#" * (MOST_BYTES + 1), "is larger than 1000000 bytes; expected a short YAML file"),
    ],
)
def test_what_is_no_mapping_in_yaml_is_told_in_one_line(
    tmp_path: Path, content: str | bytes, line: str
) -> None:
    assert faults(tmp_path, content) == job_lines(line)


def test_an_alias_bomb_does_not_go_off(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30)
    )
    (line,) = faults(tmp_path, bomb)
    assert line.startswith("job.yaml: line 2, column 10: *a0 is an alias")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "no.yaml"
    with pytest.raises(JobError) as error:
        load_job(path)
    assert str(error.value) == f"{path}: cannot be read: No such file or directory"


def test_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(JobError) as error:
        load_job(tmp_path)
    assert str(error.value) == f"{tmp_path}: cannot be read: Is a directory"


def test_a_name_that_no_file_can_have_is_told() -> None:
    with pytest.raises(JobError, match="cannot be read: embedded null byte"):
        read_mapping(Path("job\0.yaml"))


def test_the_file_is_named_as_the_user_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text("version: 3\n")
    with pytest.raises(JobError) as error:
        load_job(Path("job.yaml"))
    assert str(error.value).startswith("job.yaml: version: ")


def test_text_in_any_script_is_kept(tmp_path: Path) -> None:
    job = load(
        tmp_path,
        "version: 1\nname: Küste\nscenes: {include: ['场景/*.tif']}\nmodel: m.yaml\n"
        "device: {provider: cpu}\noutput: {dir: out}\n",
    )
    assert (job.job.name, job.include) == ("Küste", (f"{tmp_path}/场景/*.tif",))
