"""What is wrong with a file, key by key, in words for its author."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from tiler.errors import JobError

M = TypeVar("M", bound=BaseModel)
# Keys and list indexes, from the file's top.
Place = tuple[str | int, ...]

FORMAT_VERSION = 1
_MOST_SHOWN = 60
# What pydantic calls wrong types, and what we say was expected.
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list, such as [a, b]",
    "dict_type": "keys and values",
    "string_unicode": "text that is UTF-8",
    "string_too_short": "some text",
    # Of Title; other patterns have words of their own.
    "string_pattern_mismatch": "a line of text",
}


def validate(model: type[M], found: dict[str, Any], source: str) -> M:
    """`found` as a `model`; `source` is the file that it was read from.

    Raises JobError with a line for each fault.
    """
    version = found.get("version")
    if type(version) is not int or version != FORMAT_VERSION:
        what = "is missing" if version is None else f"found {shown(version)}"
        raise JobError(f"{source}: version: {what}; this tiler reads version: {FORMAT_VERSION}")
    try:
        return model.model_validate(found)
    except ValidationError as error:
        faults = [_line(model, fault) for fault in error.errors(include_url=False)]
        raise JobError("\n".join(f"{source}: {line}" for line in dict.fromkeys(faults))) from None


def shown(value: Any) -> str:
    """A value as its author would write it, on one line and shortened."""
    text = _yaml(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _yaml(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(k)}: {_yaml(v)}' for k, v in value.items())}}}"
    return repr(value)


def _key(key: str | int) -> str:
    return str(key) if re.fullmatch(r"[\w-]+", str(key)) else repr(key)


def _path(place: Place) -> str:
    return "".join(f"[{k}]" if isinstance(k, int) else f".{_key(k)}" for k in place).lstrip(".")


def _line(model: type[BaseModel], fault: Any) -> str:
    place, kind, found = fault["loc"], fault["type"], fault["input"]
    if kind == "extra_forbidden":
        return _unknown_key(model, place)
    key = _path(place)
    if kind == "missing":
        return f"{key}: is missing; expected: {_description(_field(model, place))}"
    if kind != "value_error":
        return f"{key}: found {shown(found)}, expected {_expected(model, fault)}"
    told = str(fault["ctx"]["error"])
    if told.startswith("expected"):
        return f"{key}: found {shown(found)}, {told}"
    # A fault of a whole section may name the key within it.
    return f"{key}{told}".lstrip(".") if told.startswith(".") else f"{key}: {told}"


def _expected(model: type[BaseModel], fault: Any) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "string_type":
        quotes = isinstance(fault["input"], (bool, int, float))
        return "text; put it in quotes" if quotes else "text"
    if kind in ("model_type", "model_attributes_type"):
        return f"keys and values ({', '.join(_section(model, fault['loc']).model_fields)})"
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    if kind == "greater_than_equal":
        return f"{context['ge']} or more"
    if kind == "less_than_equal":
        return f"{context['le']} or less"
    if kind == "greater_than":
        return f"more than {context['gt']:g}"
    if kind == "too_short":
        return "at least one entry"
    message = str(fault["msg"])
    return message[0].lower() + message[1:]


def _unknown_key(model: type[BaseModel], place: Place) -> str:
    name = str(place[-1])
    section = _section(model, place[:-1])
    known = list(section.model_fields)
    elsewhere = [path for path in _paths(model) if path.rpartition(".")[2] == name]
    near = elsewhere or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    prefix = f"{_path(place[:-1])}: " if len(place) > 1 else ""
    return f"{prefix}unknown key {shown(name)}{hint} Known: {', '.join(known)}"


def _description(field: FieldInfo) -> str:
    text = field.description or "a value"
    return text[0].lower() + text[1:].rstrip(".")


def _field(model: type[BaseModel], place: Place) -> FieldInfo:
    return _section(model, place[:-1]).model_fields[str(place[-1])]


def _section(model: type[BaseModel], place: Place) -> type[BaseModel]:
    """The section at `place`."""
    for key in place:
        if isinstance(key, str):
            model = next(_models(model.model_fields[key].annotation))
    return model


def _paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """All keys, with those that they lie under."""
    for key, field in model.model_fields.items():
        yield prefix + key
        for section in _models(field.annotation):
            yield from _paths(section, f"{prefix}{key}.")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models(inner)
