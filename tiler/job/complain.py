"""What is wrong with a file, key by key, in words for its author."""

from __future__ import annotations

import difflib
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tiler.errors import JobError

M = TypeVar("M", bound=BaseModel)

# What pydantic calls wrong types, and what we say was expected.
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "keys and values",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
}


def validate(model: type[M], found: dict[str, Any], source: str) -> M:
    """`found` as a `model`; `source` is the file that it was read from.

    Raises JobError with a line for each fault.
    """
    try:
        return model.model_validate(found)
    except ValidationError as error:
        faults = [_line(model, fault) for fault in _telling(error)]
        raise JobError("\n".join(f"{source}: {line}" for line in dict.fromkeys(faults))) from None


def _telling(error: ValidationError) -> list[Any]:
    """The faults; where one of several forms was allowed, only what was wrong with the likeliest.

    Pydantic tells a fault for each form, with the form's own name in the place.
    """
    faults = error.errors(include_url=False)
    by_place: dict[tuple[Any, ...], Any] = {}
    for fault in faults:
        place = _place(fault)
        before = by_place.get(place)
        if before is None or len(fault["loc"]) > len(before["loc"]):
            by_place[place] = fault
    # A fault inside a value says more than one about the value as a whole.
    inner = [p for p in by_place if any(p != q and p[: len(q)] == q for q in by_place)]
    outer = {q for p in inner for q in by_place if q != p and p[: len(q)] == q}
    return [fault for place, fault in by_place.items() if place not in outer]


def _place(fault: Any) -> tuple[Any, ...]:
    """Keys and indexes of the file, without the names of pydantic's own forms."""
    return tuple(
        key
        for key in fault["loc"]
        if isinstance(key, int) or (not any(mark in key for mark in "[]()-") and key not in _FORMS)
    )


_FORMS = {"str", "int", "float", "bool", "constrained-int", "literal['all']"}


def _line(model: type[BaseModel], fault: Any) -> str:
    place, kind = _place(fault), fault["type"]
    key = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in place).lstrip(".")
    if kind == "extra_forbidden":
        return _unknown_key(model, place, key)
    if kind == "missing":
        return f"{key}: is missing"
    if kind == "value_error":
        told = str(fault["ctx"]["error"])
        if told.startswith("expected"):
            told = f"found {_shown(fault['input'])}, {told}"
        # A fault of a whole section may name the key within it.
        return f"{key}{told}" if told.startswith(".") else f"{key}: {told}"
    return f"{key}: found {_shown(fault['input'])}, expected {_expected(fault)}"


def _expected(fault: Any) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    if kind == "greater_than_equal":
        return f"{context['ge']} or more"
    if kind == "less_than_equal":
        return f"{context['le']} or less"
    if kind == "too_short":
        return f"at least {context['min_length']} entry"
    if kind == "string_too_short":
        return "some text"
    if kind == "string_pattern_mismatch":
        return f"text like {context['pattern']}"
    message = str(fault["msg"])
    return message[0].lower() + message[1:]


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _unknown_key(model: type[BaseModel], place: tuple[Any, ...], key: str) -> str:
    known = _keys(model, place[:-1])
    name = str(place[-1])
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    section = key.rpartition(".")[0]
    prefix = f"{section}: " if section else ""
    return f"{prefix}unknown key '{name}'{hint} Known: {', '.join(known)}"


def _keys(model: type[BaseModel], place: tuple[Any, ...]) -> list[str]:
    """The keys that the section at `place` may have."""
    current = model
    for key in place:
        if isinstance(key, int):
            continue
        annotation = current.model_fields[key].annotation
        current = next(m for m in _models(annotation))
    return list(current.model_fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for inner in getattr(annotation, "__args__", ()) for m in _models(inner)]
