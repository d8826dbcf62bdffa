"""YAML files as mappings, or one line about what is wrong with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from tiler.errors import JobError

MOST_BYTES = 1_000_000
# Python refuses to print numbers of more than 4300 digits.
MOST_DIGITS = 1000


class _Loader(yaml.SafeLoader):
    """Plain data only, read by the core schema of YAML 1.2 (yaml.org/spec/1.2.2, 10.3.2).

    By that of 1.1, which PyYAML follows, `no` is false, 010 is 8, 1:30 is 90, 2024-01-01 is a
    date, and 1e-4 is text. Neither aliases nor tags nor a key given twice are taken.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _fault(
                event, f"*{event.anchor} is an alias, which is not allowed here; put {_STAR}"
            )
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise _fault(
                event, f"the tag {_tag_name(tag)} is not allowed; text with ! needs quotes"
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag != "tag:yaml.org,2002:str":
                shown = getattr(key_node, "value", None)
                told = f" '{shown}'" if isinstance(shown, str) else ""
                raise _fault(key_node, f"the key{told} is not text; put it in quotes")
            if key_node.value in seen:
                raise _fault(key_node, f"the key {key_node.value!r} stands twice")
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)

    def construct_whole_number(self, node: Any) -> int:
        text = str(self.construct_scalar(node))
        if len(text) > MOST_DIGITS:
            raise _fault(node, f"a number of {len(text)} digits is too long")
        return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


_STAR = "text that starts with * in quotes"
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
):
    _firsts = ["" if c == "\0" else c for c in _first]
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _firsts
    )
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_whole_number)


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds.

    Raises JobError if the file can't be read, is no YAML, or holds something else.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise JobError(f"{path}: cannot be read: {reason}") from None
    if len(content) > MOST_BYTES:
        raise JobError(f"{path}: is larger than {MOST_BYTES} bytes; expected a short YAML file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JobError(
            f"{path}: is not UTF-8 text (at byte {error.start}); expected a YAML file in UTF-8"
        ) from None
    loaded = parse_yaml(text, str(path))
    if not isinstance(loaded, dict):
        found = "nothing" if loaded is None else _kind(loaded)
        raise JobError(f"{path}: found {found}, expected keys and values, such as version: 1")
    return loaded


def parse_yaml(text: str, source: str) -> Any:
    """What YAML text stands for; `source` is what an error names.

    Raises JobError, with line and column, if it is no YAML.
    """
    try:
        return yaml.load(text, _Loader)
    except _NotAllowedError as error:
        raise JobError(f"{source}: {_where(error)}{_one_line(error.problem)}") from None
    except yaml.MarkedYAMLError as error:
        raise JobError(f"{source}: {_where(error)}is not YAML: {_problem(error)}") from None
    except yaml.YAMLError as error:
        reason = str(error).partition("\n")[0]
        raise JobError(f"{source}: is not YAML: {_one_line(reason)}") from None
    except RecursionError:
        raise JobError(f"{source}: is nested too deeply") from None


class _NotAllowedError(yaml.MarkedYAMLError):
    """YAML, but more than a job file may use."""


def _fault(at: Any, problem: str) -> _NotAllowedError:
    return _NotAllowedError(problem=problem, problem_mark=at.start_mark)


def _where(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "cannot be parsed"
    if "'\\t'" in problem:
        return "found a tab; indent with spaces"
    if "another document" in problem:
        return "found a second document (---); expected one"
    if "while scanning an alias" in (error.context or ""):
        return f"put {_STAR}"
    return _one_line(problem)


def _one_line(text: str | None) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text or "")


def _tag_name(tag: str) -> str:
    return "!!" + tag.removeprefix("tag:yaml.org,2002:") if tag.startswith("tag:") else tag


def _kind(value: Any) -> str:
    return {list: "a list", str: "text", bool: "true or false"}.get(type(value), "a number")
