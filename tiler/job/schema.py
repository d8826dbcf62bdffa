"""JSON Schema of job files and model cards, for editors."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from tiler.job.card import Card
from tiler.job.model import Job

_MODELS: dict[str, tuple[type[BaseModel], str]] = {
    "job": (Job, "Job file of tiler"),
    "model": (Card, "Model card of tiler"),
}


def json_schema(what: Literal["job", "model"]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of job files or of model cards."""
    model, title = _MODELS[what]
    schema = model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}
