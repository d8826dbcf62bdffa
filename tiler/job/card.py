"""Model cards: what a model reads, what it answers, and what the answers mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictInt, StrictStr, field_validator, model_validator

from tiler.errors import JobError
from tiler.job.complain import validate
from tiler.job.model import Number, Section
from tiler.job.yaml_file import read_mapping
from tiler.pixels.legend import LabelClass, Legend
from tiler.pixels.prepare import Normalisation


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


Finite = Annotated[Number, AfterValidator(_finite)]
PerBand = Finite | list[Finite]


class Input(Section):
    """The model's input: (DN * scale + offset - mean) / std, float32, NCHW."""

    name: StrictStr | None = Field(default=None, description="The graph's input; null: its one.")
    bands: list[StrictStr] = Field(
        min_length=1, description="Names of the bands, in the model's order."
    )
    scale: PerBand = Field(default=1.0, description="Factor, for all bands or one for each.")
    offset: PerBand = Field(default=0.0, description="Added after scale.")
    mean: PerBand | None = Field(default=None, description="Subtracted after offset.")
    std: PerBand | None = Field(default=None, description="Divided by, last.")

    @field_validator("bands")
    @classmethod
    def _distinct(cls, bands: list[str]) -> list[str]:
        if len({b.strip().casefold() for b in bands}) < len(bands) or not all(
            map(str.strip, bands)
        ):
            raise ValueError("expected a different name for each band")
        return bands

    @model_validator(mode="after")
    def _fits_the_bands(self) -> Input:
        for key in ("scale", "offset", "mean", "std"):
            value = getattr(self, key)
            if isinstance(value, list) and len(value) != len(self.bands):
                raise ValueError(
                    f".{key}: found {len(value)} numbers, expected one, or {len(self.bands)}: "
                    "one for each band"
                )
        std = self.std if isinstance(self.std, list) else [self.std]
        if 0 in std:
            raise ValueError(".std: found 0, by which nothing can be divided")
        return self

    def each(self, key: str, default: float) -> list[float]:
        """A per-band number, written out for every band."""
        value = getattr(self, key)
        if isinstance(value, list):
            return value
        return [default if value is None else value] * len(self.bands)


class Answer(Section):
    """What the model answers: labels, or logits whose largest one is taken."""

    labels: StrictStr | None = Field(default=None, description="Output that holds class ids.")
    logits: StrictStr | None = Field(
        default=None, description="Output with a channel for each class, in the order of classes."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Answer:
        if (self.labels is None) == (self.logits is None):
            raise ValueError("expected one of labels and logits, with the output's name")
        return self


class CardClass(Section):
    """A class of the label map."""

    id: Annotated[StrictInt, Field(ge=0, le=65534)] = Field(description="Its value in the map.")
    name: StrictStr = Field(min_length=1, description="Its name, as QGIS shows it.")
    color: StrictStr = Field(
        pattern=r"^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", description="Its colour: #rrggbb."
    )


class Card(Section):
    """A model card."""

    version: Literal[1] = Field(description="The format of this file.")
    name: StrictStr = Field(min_length=1, description="The model's name.")
    file: StrictStr = Field(min_length=1, description="The ONNX file, relative to the card.")
    sha256: Annotated[StrictStr, Field(pattern=r"^[0-9a-fA-F]{64}$")] | None = Field(
        default=None, description="SHA-256 of the ONNX file; checked where given."
    )
    input: Input
    output: Answer
    classes: list[CardClass] = Field(min_length=1, description="The classes, with their colours.")

    @field_validator("classes")
    @classmethod
    def _distinct(cls, classes: list[CardClass]) -> list[CardClass]:
        for key in ("id", "name"):
            values = [getattr(c, key) for c in classes]
            twice = [v for v in values if values.count(v) > 1]
            if twice:
                raise ValueError(f"{key} {twice[0]!r} stands twice")
        return classes

    @model_validator(mode="after")
    def _logits_count_from_zero(self) -> Card:
        ids = [c.id for c in self.classes]
        if self.output.logits is not None and ids != list(range(len(ids))):
            raise ValueError(
                f"classes: found ids {ids[:8]}, expected 0 to {len(ids) - 1} in order: with "
                "output.logits, an id is a channel of the logits"
            )
        return self


@dataclass(frozen=True)
class LoadedCard:
    """A card, and what follows from it. `path` is the card; `onnx_file` is absolute."""

    path: Path
    card: Card
    onnx_file: Path
    legend: Legend
    normalisation: Normalisation


def load_card(path: Path) -> LoadedCard:
    """Read a model card. Raises JobError with a line for each fault."""
    card = validate(Card, read_mapping(path), str(path))
    onnx_file = (path.absolute().parent / Path(card.file).expanduser()).absolute()
    if not onnx_file.is_file():
        raise JobError(f"{path}: file: {onnx_file} is no file. Give the ONNX file of this model")
    numbers = card.input
    return LoadedCard(
        path=path,
        card=card,
        onnx_file=onnx_file,
        legend=Legend(tuple(LabelClass(c.id, c.name, _rgb(c.color)) for c in card.classes)),
        normalisation=Normalisation.of(
            numbers.each("scale", 1.0),
            numbers.each("offset", 0.0),
            numbers.each("mean", 0.0),
            numbers.each("std", 1.0),
        ),
    )


def _rgb(color: str) -> tuple[int, int, int]:
    digits = color[1:] if len(color) == 7 else "".join(2 * d for d in color[1:])
    red, green, blue = (int(digits[i : i + 2], 16) for i in (0, 2, 4))
    return red, green, blue
