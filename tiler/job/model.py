"""What a job file may say."""

from __future__ import annotations

import re
import string
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

DEFAULT_OVERLAP_PX = 128
NAME_FIELDS = ("stem", "parent", "ext")

Index = Annotated[StrictInt, Field(ge=1)]
OptionValue = StrictStr | StrictBool | StrictInt | StrictFloat


def _number(value: Any) -> Any:
    """YAML's booleans are no numbers, though Python's are."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("expected a number")
    return value


Number = Annotated[float, BeforeValidator(_number)]


class Section(BaseModel):
    """A mapping of the file: nothing but known keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Scenes(Section):
    """Which scenes are labelled, and how their pixels are read."""

    include: list[StrictStr] = Field(
        min_length=1,
        description="Files, folders or globs (** too), relative to the job file.",
    )
    exclude: list[StrictStr] = Field(
        default=[], description="Files, folders or globs to leave out."
    )
    bands: list[Index | StrictStr] | None = Field(
        default=None,
        description="Bands to read, in the model's order: 1-based indexes or names. "
        "null: by the names in the model card.",
    )
    nodata: Number | None = Field(
        default=None, description="The value of invalid pixels, instead of the file's own."
    )
    invalid: Literal["all", "any"] = Field(
        default="all",
        description="A pixel is invalid where all its bands are invalid, or where any is.",
    )


class Tiling(Section):
    """How scenes are cut into tiles. One of overlap, margin and stride says how tiles overlap."""

    size: Annotated[StrictInt, Field(ge=1)] = Field(
        default=768, description="Side of a tile in pixels; the model's input."
    )
    overlap: Annotated[StrictInt, Field(ge=0)] | None = Field(
        default=None, description="Pixels that two neighbours share (default 128)."
    )
    margin: Annotated[StrictInt, Field(ge=0)] | None = Field(
        default=None, description="Pixels of context on each side: half the overlap."
    )
    stride: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="Pixels from one tile to the next: size less overlap."
    )

    @model_validator(mode="after")
    def _leaves_a_stride(self) -> Tiling:
        given = [k for k in ("overlap", "margin", "stride") if getattr(self, k) is not None]
        if len(given) > 1:
            raise ValueError(
                f"{' and '.join(given)} are given; expected one of overlap, margin, stride"
            )
        if not 0 <= self.overlap_px < self.size:
            key = given[0] if given else "overlap"
            found = getattr(self, key) if given else self.overlap_px
            # A sixth of a tile on each side is the most that pays.
            most = self.size * 5 // 6
            scale = {"overlap": 1, "margin": 2}
            if key == "stride":
                raise ValueError(
                    f".stride: {found} is larger than tiling.size ({self.size}). "
                    f"Use {self.size - most} to {self.size}"
                )
            limit = "smaller than" if key == "overlap" else "less than half of"
            suits = DEFAULT_OVERLAP_PX // scale[key]
            advice = f"; {suits} suits most models" if suits <= most // scale[key] else ""
            raise ValueError(
                f".{key}: {found} is not {limit} tiling.size ({self.size}). "
                f"Use 0 to {most // scale[key]}{advice}."
            )
        return self

    @property
    def size_px(self) -> int:
        """Side of a tile."""
        return self.size

    @property
    def overlap_px(self) -> int:
        """Pixels that two neighbours share."""
        if self.overlap is not None:
            return self.overlap
        if self.margin is not None:
            return 2 * self.margin
        if self.stride is not None:
            return self.size - self.stride
        return DEFAULT_OVERLAP_PX

    @property
    def margin_px(self) -> int:
        """Context on each side of a core inside a scene."""
        return self.overlap_px // 2

    @property
    def stride_px(self) -> int:
        """From one tile's start to the next one's."""
        return self.size - self.overlap_px


def _distinct(ids: Any) -> Any:
    if isinstance(ids, list) and len(set(ids)) < len(ids):
        raise ValueError("a device is named twice")
    return ids


class Device(Section):
    """Where the model runs: one worker process per id."""

    provider: Literal["cann", "cuda", "cpu"] = Field(
        description="cann (Ascend NPU), cuda (NVIDIA GPU) or cpu. Never another than this one."
    )
    ids: Annotated[
        Literal["all"]
        | Annotated[
            list[Annotated[StrictInt, Field(ge=0)]], Field(min_length=1), AfterValidator(_distinct)
        ],
        Field(default=[0], description="Device ids, or `all` for every one that is found."),
    ]
    threads: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="CPU threads of each worker; null: the cores, shared out."
    )
    batch: Annotated[StrictInt, Field(ge=1, le=1024)] = Field(
        default=1, description="Tiles in one run of the model."
    )
    strict: StrictBool = Field(
        default=True, description="Refuse a model of which a node would run elsewhere."
    )
    options: dict[str, OptionValue] = Field(
        default={}, description="Options of the ONNX Runtime provider."
    )
    cache_dir: StrictStr | None = Field(
        default=None, description="Folder for compiled models; null: the user's cache folder."
    )
    parity: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=0.98,
        description="Least share of the warm-up's labels that must equal the cpu provider's; "
        "null: not compared.",
    )


class Output(Section):
    """The label maps."""

    dir: StrictStr = Field(min_length=1, description="Their folder, relative to the job file.")
    name: StrictStr = Field(
        default="{stem}_labels.tif",
        description="File name; {stem}, {parent} and {ext} are those of the scene.",
    )
    compress: Literal["zstd", "deflate", "lzw", "none"] = Field(
        default="zstd", description="Compression of the label map."
    )
    quicklook: StrictBool = Field(
        default=False, description="Also write a PNG of each label map beside it."
    )

    @field_validator("name")
    @classmethod
    def _is_a_file_name(cls, name: str) -> str:
        try:
            fields = [f for _, f, _, _ in string.Formatter().parse(name) if f is not None]
        except ValueError as error:
            raise ValueError(f"found '{name}': {error}") from None
        unknown = [f for f in fields if f not in NAME_FIELDS]
        if unknown:
            known = ", ".join(f"{{{f}}}" for f in NAME_FIELDS)
            raise ValueError(f"unknown field {{{unknown[0]}}} in '{name}'; known: {known}")
        if not re.fullmatch(r"[^/\0\\.][^/\0\\]*\.tif", name):
            raise ValueError(f"found '{name}', expected a file name that ends in .tif")
        return name


class Run(Section):
    """How the work is cut and carried on."""

    tiles_per_part: Annotated[StrictInt, Field(ge=1, le=1024)] = Field(
        default=64, description="Tiles of one task; it bounds a worker's memory."
    )


class Job(Section):
    """A job: which scenes, by which model, on which devices, to which label maps."""

    version: Literal[1] = Field(description="The format of this file.")
    name: StrictStr = Field(
        default="",
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$|^$",
        description="Name of the job; default: the file's stem.",
    )
    scenes: Scenes
    model: StrictStr = Field(min_length=1, description="The model card, relative to the job file.")
    tiling: Tiling = Tiling()
    device: Device
    output: Output
    run: Run = Run()
