"""The JSON Schema that editors complete and check job files and model cards with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from tests.job.files import CARD, JOB
from tiler.job.card import Card
from tiler.job.model import Job
from tiler.job.schema import json_schema

What = Literal["job", "model"]
ROOT = Path(__file__).parents[2]
# The examples that the project's plan promised to take.
PROMISED: dict[What, str] = {
    "job": """
version: 1
name: quickstart
scenes:
  include: ["../examples/scenes/*.tif"]
  exclude: []
  bands: null
  nodata: null
  invalid: all
model: ../configs/models/spectral-rules.yaml
tiling: {size: 768, overlap: 128, margin: 64, stride: 640}
device: {provider: cpu, ids: [0]}
output:
  dir: ../out/quickstart
  name: "{stem}_labels.tif"
  compress: zstd
""",
    "model": """
version: 1
name: spectral-rules
file: spectral-rules.onnx
sha256: null
input: {bands: [blue, green, red, nir], scale: 0.0001, offset: 0.0, mean: null, std: null}
output: {labels: labels, logits: logits}
classes: [{id: 0, name: deep water, color: "#08306b"}]
""",
}


def sections(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The root and all that it refers to, by name."""
    yield "", schema
    yield from schema["$defs"].items()


def resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    reference = part.get("$ref")
    if reference is None:
        return part
    found = schema["$defs"][reference.removeprefix("#/$defs/")]
    assert isinstance(found, dict)
    return found


def unknown_keys(
    schema: dict[str, Any], part: dict[str, Any], value: Any, place: str = ""
) -> list[str]:
    """Keys of a file that its schema does not know."""
    part = resolved(schema, part)
    if isinstance(value, list) and "items" in part:
        return [
            key
            for i, entry in enumerate(value)
            for key in unknown_keys(schema, part["items"], entry, f"{place}[{i}]")
        ]
    if not isinstance(value, dict) or "properties" not in part:
        return []
    known = part["properties"]
    return [f"{place}.{key}" for key in value if key not in known] + [
        key
        for name, inner in value.items()
        if name in known
        for key in unknown_keys(schema, known[name], inner, f"{place}.{name}")
    ]


@pytest.mark.parametrize("what", ["job", "model"])
def test_it_says_which_schema_it_is_and_of_what(what: What) -> None:
    schema = json_schema(what)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == {"job": "Job file of tiler", "model": "Model card of tiler"}[what]
    assert schema["type"] == "object"


@pytest.mark.parametrize("what", ["job", "model"])
def test_it_is_json(what: What) -> None:
    assert json.loads(json.dumps(json_schema(what), allow_nan=False)) == json_schema(what)


@pytest.mark.parametrize("what", ["job", "model"])
def test_all_that_it_refers_to_is_there(what: What) -> None:
    schema = json_schema(what)
    references = set()

    def visit(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                references.add(part["$ref"])
            part = list(part.values())
        if isinstance(part, list):
            for inner in part:
                visit(inner)

    visit(schema)
    assert references == {f"#/$defs/{name}" for name in schema["$defs"]}


@pytest.mark.parametrize("what", ["job", "model"])
def test_every_key_has_a_description(what: What) -> None:
    schema = json_schema(what)
    for name, section in sections(schema):
        assert section.get("description"), name
        for key, value in section["properties"].items():
            assert value.get("description"), f"{name}.{key}"


@pytest.mark.parametrize("what", ["job", "model"])
def test_no_section_takes_other_keys(what: What) -> None:
    for name, section in sections(json_schema(what)):
        assert section["type"] == "object", name
        assert section["additionalProperties"] is False, name


@pytest.mark.parametrize(
    ("what", "required"),
    [
        ("job", {"version", "scenes", "model", "device", "output"}),
        ("model", {"version", "name", "file", "input", "output", "classes"}),
    ],
)
def test_what_has_no_default_is_required(what: What, required: set[str]) -> None:
    assert set(json_schema(what)["required"]) == required


@pytest.mark.parametrize("what", ["job", "model"])
def test_it_knows_all_keys_that_were_promised(what: What) -> None:
    schema = json_schema(what)
    assert unknown_keys(schema, schema, yaml.safe_load(PROMISED[what])) == []


def test_it_knows_all_keys_of_the_files_in_this_project() -> None:
    schema = json_schema("job")
    jobs = sorted(ROOT.glob("jobs/*.yaml"))
    assert jobs
    for job in jobs:
        assert unknown_keys(schema, schema, yaml.safe_load(job.read_text())) == [], job
    schema = json_schema("model")
    for card in ROOT.glob("configs/models/*.yaml"):
        assert unknown_keys(schema, schema, yaml.safe_load(card.read_text())) == [], card


def test_it_shows_what_a_value_may_be() -> None:
    job = json_schema("job")["$defs"]
    assert job["Device"]["properties"]["provider"]["enum"] == ["cann", "cuda", "cpu"]
    size = job["Tiling"]["properties"]["size"]
    assert (size["type"], size["minimum"], size["default"]) == ("integer", 1, 768)
    ids = job["Device"]["properties"]["ids"]["anyOf"]
    assert ids[0]["const"] == "all"
    assert ids[1] == {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
    card = json_schema("model")["$defs"]
    assert card["CardClass"]["properties"]["color"]["pattern"].startswith("^#")
    scale = card["Input"]["properties"]["scale"]["anyOf"]
    assert scale == [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]


def test_the_small_files_of_these_tests_are_right() -> None:
    Job.model_validate(JOB)
    Card.model_validate(CARD)
