"""What a job file may say."""

from __future__ import annotations

import re
import string
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from tiler.job.forms import Number, Section, expected

DEFAULT_OVERLAP_PX = 128
# Larger tiles than any device holds; a slip of the hand must not ask for a terabyte.
LARGEST_TILE_PX = 16_384
NAME_FIELDS = ("stem", "parent", "ext")

# A folder and a lock file bear this name; 60 characters are at most 240 bytes of the 255 that
# file names may have.
JobName = Annotated[
    StrictStr,
    Field(pattern=r"^[^-\s/\\.\x00-\x1f][^\s/\\\x00-\x1f]{0,59}$"),
    expected("up to 60 characters without spaces and slashes, not starting with . or -"),
]
Band = Annotated[
    Annotated[StrictInt, Field(ge=1)] | Annotated[StrictStr, Field(min_length=1)],
    expected("a band's index (1 is the first) or its name"),
]
Nodata = Annotated[
    float, Field(strict=True), expected("a number (not-a-number is written .nan, infinity .inf)")
]
DeviceId = Annotated[StrictInt, Field(ge=0)]


def _distinct(ids: Literal["all"] | list[int]) -> Literal["all"] | list[int]:
    if ids != "all" and len(set(ids)) < len(ids):
        raise ValueError("expected each device once")
    return ids


DeviceIds = Annotated[
    Literal["all"] | Annotated[list[DeviceId], Field(min_length=1)],
    expected("a list of device ids, such as [0, 1], or all"),
    AfterValidator(_distinct),
]
OptionValue = Annotated[
    StrictStr | StrictBool | StrictInt | StrictFloat, expected("text, a number, true or false")
]


class Scenes(Section):
    """Which scenes are labelled, and how their pixels are read."""

    include: list[StrictStr] = Field(
        min_length=1,
        description="Scenes: files, folders or globs (** too), relative to the job file.",
    )
    exclude: list[StrictStr] = Field(
        default=[],
        description="Files, folders or globs to leave out; one without a slash is compared with "
        "file names, wherever they lie.",
    )
    bands: Annotated[list[Band], Field(min_length=1)] | None = Field(
        default=None,
        description="Bands to read, in the model's order: 1-based indexes or names. "
        "null: by the names in the model card.",
    )
    nodata: Nodata | None = Field(
        default=None, description="The value of invalid pixels, instead of the file's own."
    )
    invalid: Literal["all", "any"] = Field(
        default="all",
        description="A pixel is invalid where all its bands are invalid, or where any is.",
    )


class Tiling(Section):
    """How scenes are cut into tiles. One of overlap, margin and stride says how tiles overlap."""

    size: Annotated[StrictInt, Field(ge=1, le=LARGEST_TILE_PX)] = Field(
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
    def _one_says_how_tiles_overlap(self) -> Tiling:
        given = [k for k in ("overlap", "margin", "stride") if getattr(self, k) is not None]
        if len(given) > 1:
            raise ValueError(f"found {' and '.join(given)}; expected one of them")
        if not 0 <= self.overlap_px < self.size:
            raise ValueError(self._leaves_no_stride(given[0] if given else None))
        return self

    def _leaves_no_stride(self, given: str | None) -> str:
        # A tile that is five sixths overlap already costs 36 times its labels.
        most_px = self.size * 5 // 6
        if given == "stride":
            found = f".stride: {self.stride} is larger than"
            least, most, suits = self.size - most_px, self.size, self.size - DEFAULT_OVERLAP_PX
        elif given == "margin":
            found = f".margin: {self.margin} is not less than half of"
            least, most, suits = 0, most_px // 2, DEFAULT_OVERLAP_PX // 2
        else:
            default = "" if given else " (the default)"
            found = f".overlap: {self.overlap_px}{default} is not smaller than"
            least, most, suits = 0, most_px, DEFAULT_OVERLAP_PX
        advice = f"{least} to {most}" if least < most else str(most)
        if least <= suits <= most:
            advice += f"; {suits} suits most models"
        return f"{found} tiling.size ({self.size}). Use {advice}."

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


class Device(Section):
    """Where the model runs: one worker process per id."""

    provider: Literal["cann", "cuda", "cpu"] = Field(
        description="cann (Ascend NPU), cuda (NVIDIA GPU) or cpu. Never another than this one."
    )
    ids: DeviceIds = Field(
        default=[0], description="Device ids, or `all` for every one that is found."
    )
    threads: Annotated[StrictInt, Field(ge=1, le=1024)] | None = Field(
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

    dir: StrictStr = Field(
        min_length=1, description="Folder of the label maps, relative to the job file."
    )
    name: StrictStr = Field(
        default="{stem}_labels.tif",
        description="File name of a label map; {stem}, {parent} and {ext} are the scene's.",
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
        known = ", ".join(f"{{{f}}}" for f in NAME_FIELDS)
        try:
            pieces = list(string.Formatter().parse(name))
        except ValueError:
            raise ValueError(
                f"expected braces in pairs, around one of {known}; a brace itself is {{{{ or }}}}"
            ) from None
        for _, field, spec, conversion in pieces:
            if field is not None and (field not in NAME_FIELDS or spec or conversion):
                raise ValueError(f"expected no other fields than {known}")
        if not re.fullmatch(r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*\.tif", name):
            raise ValueError("expected a file name, without folders, that ends in .tif")
        return name


class Run(Section):
    """How the work is cut and carried on."""

    tiles_per_part: Annotated[StrictInt, Field(ge=1, le=1024)] = Field(
        default=64, description="Tiles of one task; it bounds a worker's memory."
    )
    retries: Annotated[StrictInt, Field(ge=0, le=100)] = Field(
        default=2, description="Times that a part is tried again after its worker died."
    )
    tile_timeout_s: Annotated[Number, Field(gt=0)] = Field(
        default=120.0, description="Longest time for one run of the model; then its worker dies."
    )
    start_timeout_s: Annotated[Number, Field(gt=0)] = Field(
        default=3600.0, description="Longest time for opening a session, compiling included."
    )
    on_change: Literal["redo", "fail"] = Field(
        default="redo",
        description="What to do where a label map is there that was made from something else.",
    )


class Job(Section):
    """A job: which scenes, by which model, on which devices, to which label maps."""

    version: Literal[1] = Field(description="The format of this file.")
    name: JobName = Field(default="", description="Name of the job; default: the file's stem.")
    scenes: Scenes = Field(description="Which scenes are labelled (include), and how.")
    model: StrictStr = Field(min_length=1, description="The model card, relative to the job file.")
    tiling: Tiling = Field(
        default_factory=Tiling, description="Tile size, and how far neighbours overlap, in pixels."
    )
    device: Device = Field(description="Where the model runs: provider (cann, cuda, cpu) and ids.")
    output: Output = Field(description="The label maps: dir, name, compress.")
    run: Run = Field(default_factory=Run, description="How the work is cut into tasks.")
