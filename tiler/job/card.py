"""Model cards: what a model reads, what it answers, and what the answers mean."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StrictInt, StrictStr, field_validator, model_validator

from tiler.errors import JobError
from tiler.job.complain import shown, validate
from tiler.job.forms import Finite, Section, Title, expected
from tiler.job.paths import absolute_path
from tiler.job.yaml_file import read_mapping
from tiler.pixels.band_names import plain
from tiler.pixels.legend import LabelClass, Legend
from tiler.pixels.prepare import Normalisation

LARGEST_ID = 65_534

PerBand = Annotated[
    Finite | list[Finite], expected("a number, or a list of numbers, one for each band")
]
Color = Annotated[
    StrictStr,
    Field(pattern=r"^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
    expected('a colour in quotes, such as "#08306b"'),
]
Sha256 = Annotated[
    StrictStr,
    Field(pattern=r"^[0-9a-fA-F]{64}$"),
    expected("the file's SHA-256 in quotes: 64 hexadecimal digits"),
]


def _repeated(values: Iterable[Any]) -> list[Any]:
    return [value for value, times in Counter(values).items() if times > 1]


class Input(Section):
    """The model's input: (DN * scale + offset - mean) / std, float32, NCHW."""

    name: StrictStr | None = Field(default=None, description="The graph's input; null: its one.")
    bands: list[Title] = Field(
        min_length=1, description="Names of the bands, in the model's order."
    )
    scale: PerBand = Field(default=1.0, description="Factor, for all bands or one for each.")
    offset: PerBand = Field(default=0.0, description="Added after scale.")
    mean: PerBand | None = Field(default=None, description="Subtracted after offset.")
    std: PerBand | None = Field(default=None, description="Divided by, last.")

    @field_validator("bands")
    @classmethod
    def _distinct(cls, bands: list[str]) -> list[str]:
        for twice in _repeated(map(plain, bands)):
            alike = [shown(b) for b in bands if plain(b) == twice]
            raise ValueError(f"found {' and '.join(alike)}, expected another name for each band")
        return bands

    @model_validator(mode="after")
    def _fits_the_bands(self) -> Input:
        count = len(self.bands)
        for key in ("scale", "offset", "mean", "std"):
            value = getattr(self, key)
            if isinstance(value, list) and len(value) != count:
                raise ValueError(
                    f".{key}: found {len(value)} numbers, expected one, or {count}: one for each "
                    "band"
                )
        for std in self.each("std", 1.0):
            if std <= 0:
                raise ValueError(f".std: found {std}, expected more than 0")
        gain, bias = np.array([self.normalisation.gain, self.normalisation.bias])
        with np.errstate(over="ignore"):
            fits = np.isfinite(gain.astype(np.float32)) & np.isfinite(bias.astype(np.float32))
        if not fits.all():
            band = shown(self.bands[int(np.argmin(fits))])
            raise ValueError(
                f"scale, offset, mean and std of band {band} give numbers that float32 can't hold"
            )
        return self

    @property
    def normalisation(self) -> Normalisation:
        """What turns the file's numbers into the model's."""
        return Normalisation.of(
            self.each("scale", 1.0),
            self.each("offset", 0.0),
            self.each("mean", 0.0),
            self.each("std", 1.0),
        )

    def each(self, key: str, default: float) -> list[float]:
        """A per-band number, written out for every band."""
        value = getattr(self, key)
        if isinstance(value, list):
            return value
        return [default if value is None else value] * len(self.bands)


class Answer(Section):
    """What the model answers: labels, or logits whose largest one is taken."""

    labels: StrictStr | None = Field(
        default=None, min_length=1, description="Output that holds class ids."
    )
    logits: StrictStr | None = Field(
        default=None,
        min_length=1,
        description="Output with a channel for each class, in the order of classes.",
    )

    @model_validator(mode="after")
    def _is_one(self) -> Answer:
        if (self.labels is None) == (self.logits is None):
            found = "neither" if self.labels is None else "both"
            raise ValueError(
                f"found {found} of labels and logits, expected one, with the name of the output"
            )
        return self


class CardClass(Section):
    """A class of the label map."""

    id: Annotated[StrictInt, Field(ge=0, le=LARGEST_ID)] = Field(
        description="The class's value in the map."
    )
    name: Title = Field(description="The class's name, as QGIS shows it.")
    color: Color = Field(description='The class\'s colour, in quotes: "#rrggbb".')


class Card(Section):
    """A model card."""

    version: Literal[1] = Field(description="The format of this file.")
    name: Title = Field(description="The model's name.")
    file: StrictStr = Field(min_length=1, description="The ONNX file, relative to the card.")
    sha256: Sha256 | None = Field(
        default=None, description="SHA-256 of the ONNX file; checked where given."
    )
    input: Input = Field(description="What the model reads: bands, scale, offset, mean, std.")
    output: Answer = Field(description="What the model answers: {labels: NAME} or {logits: NAME}.")
    classes: list[CardClass] = Field(
        min_length=1, description="The classes, each with id, name and color."
    )

    @field_validator("classes")
    @classmethod
    def _distinct(cls, classes: list[CardClass]) -> list[CardClass]:
        for key in ("id", "name"):
            for twice in _repeated(getattr(c, key) for c in classes):
                raise ValueError(f"{key} {shown(twice)} stands twice, expected once")
        return classes

    @model_validator(mode="after")
    def _logits_count_from_zero(self) -> Card:
        ids = [c.id for c in self.classes]
        if self.output.logits is not None and ids != list(range(len(ids))):
            raise ValueError(
                f".classes: found ids {shown(ids)}, expected 0 to {len(ids) - 1} in order: with "
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
    try:
        onnx_file = Path(absolute_path(card.file, path.parent, os.environ))
    except ValueError as error:
        raise JobError(f"{path}: file: {error}") from None
    if not os.path.isfile(onnx_file):  # noqa: PTH113
        raise JobError(
            f"{path}: file: {onnx_file} is no file. Give the ONNX file, relative to the card"
        )
    return LoadedCard(
        path=path,
        card=card,
        onnx_file=onnx_file,
        legend=Legend(tuple(LabelClass(c.id, c.name, _rgb(c.color)) for c in card.classes)),
        normalisation=card.input.normalisation,
    )


def _rgb(color: str) -> tuple[int, int, int]:
    digits = color[1:] if len(color) == 7 else "".join(2 * d for d in color[1:])
    red, green, blue = (int(digits[i : i + 2], 16) for i in (0, 2, 4))
    return red, green, blue
