"""Whatever a file holds, it is taken or told of: one line for each fault, and nothing else."""

from __future__ import annotations

import string
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.job.files import CARD, JOB
from tiler.errors import JobError
from tiler.job.card import Card, load_card
from tiler.job.complain import validate
from tiler.job.load import load_job
from tiler.job.model import Job
from tiler.job.schema import json_schema

# Words that YAML, Python or the checks give a meaning of their own.
WORDS = st.sampled_from(
    [
        *("str", "int", "float", "all", "any", "cpu", "labels", "[key]", "list[int]", "a.b"),
        *("constrained-int", "function-wrap[check()]", "{stem}", "${X}", "~x", "*", "a\nb", "\x85"),
        *("\u2028", "\0", "\ud800", "#123", "é", ""),
    ]
)


def known_keys() -> list[str]:
    schemas = [json_schema("job"), json_schema("model")]
    parts = [part for schema in schemas for part in (schema, *schema["$defs"].values())]
    return sorted({key for part in parts for key in part["properties"]})


keys = st.sampled_from(known_keys()) | WORDS | st.text(max_size=5)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400)])
    | st.floats()
    | WORDS
    | st.text(max_size=10)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def places(content: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a nested mapping."""
    inner = content.items() if isinstance(content, dict) else ()
    inner = enumerate(content) if isinstance(content, list) else inner
    for key, value in inner:
        yield (*place, key)
        yield from places(value, (*place, key))


@st.composite
def damaged(draw: st.DrawFn, content: dict[str, Any]) -> dict[str, Any]:
    """A right file of which a few values were replaced, removed or added."""
    found: Any = yaml.safe_load(yaml.safe_dump(content))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(places(found))))
        section = found
        for key in place[:-1]:
            section = section[key]
        what = draw(st.sampled_from(["replace", "remove", "add"]))
        if what == "replace" or isinstance(section, list):
            section[place[-1]] = draw(values)
        elif what == "remove" and len(found) > 1:
            del section[place[-1]]
        else:
            section[draw(keys)] = draw(values)
    return dict(found)


def taken_or_told(read: Callable[[], Any], source: str) -> None:
    try:
        read()
    except JobError as error:
        told = str(error)
        # splitlines knows more line ends than \n: none of them may come from the file.
        assert told.splitlines() == told.split("\n")
        for line in told.split("\n"):
            assert line.startswith(f"{source}: ")
            assert len(line) < 700
            assert "pydantic" not in line
            assert "Input should" not in line


@pytest.mark.parametrize("model", [Job, Card])
@given(content=st.dictionaries(keys, values, max_size=6))
def test_any_mapping(model: type[Job] | type[Card], content: dict[str, Any]) -> None:
    taken_or_told(lambda: validate(model, {**content, "version": 1}, "x.yaml"), "x.yaml")


@given(damaged(JOB))
def test_any_damaged_job(content: dict[str, Any]) -> None:
    taken_or_told(lambda: validate(Job, content, "x.yaml"), "x.yaml")


@given(damaged(CARD))
def test_any_damaged_card(content: dict[str, Any]) -> None:
    taken_or_told(lambda: validate(Card, content, "x.yaml"), "x.yaml")


@given(
    content=st.binary(max_size=100)
    | st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass"))
    | st.text("ab01:-[]{}*&!?|>'\"#%@,~<= \n\t", max_size=60).map(str.encode)
    | damaged(JOB).map(lambda c: yaml.safe_dump(c).encode())
)
def test_any_file(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.yaml"
        path.write_bytes(content)
        taken_or_told(lambda: load_job(path), str(path))
        taken_or_told(lambda: load_card(path), str(path))


@given(
    st.builds("{}={}".format, keys, st.text(max_size=20))
    | st.builds(
        "{}={}".format,
        st.sampled_from(["scenes.include", "tiling", "output.name", "device.ids", "model.x"]),
        st.text(string.punctuation + "a1 \n", max_size=20),
    )
    | st.text(max_size=20)
)
def test_any_override(override: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.yaml"
        path.write_text(yaml.safe_dump(JOB))
        try:
            load_job(path, [override], {})
        except JobError as error:
            for line in str(error).splitlines():
                assert line.startswith((f"{path}: ", f"--set {override!r}: "))
