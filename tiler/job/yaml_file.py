"""YAML files as mappings, or one line about what is wrong with them."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from tiler.errors import JobError

MOST_BYTES = 1_000_000


class _StrictLoader(yaml.SafeLoader):
    """Safe, and without the two surprises of YAML: duplicate keys and aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable) or key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {str(key)!r} stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds.

    Raises JobError if the file can't be read, is no YAML, or holds something else.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise JobError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise JobError(f"{path}: is larger than {MOST_BYTES} bytes; expected a short YAML file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JobError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    loaded = parse_yaml(text, str(path))
    if not isinstance(loaded, dict):
        found = "nothing" if loaded is None else f"a {_kind(loaded)}"
        raise JobError(f"{path}: found {found}, expected keys and values (version: 1 …)")
    return {str(key): value for key, value in loaded.items()}


def parse_yaml(text: str, source: str) -> Any:
    """What YAML text stands for; `source` is what an error names.

    Raises JobError, with line and column, if it is no YAML.
    """
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        raise JobError(f"{source}:{where} {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise JobError(f"{source}: is not YAML that can be read: {reason}") from None


def _kind(value: Any) -> str:
    return {list: "list", str: "text", bool: "true/false value"}.get(type(value), "single value")
