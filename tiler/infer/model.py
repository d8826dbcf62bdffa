"""A model card checked against its ONNX graph, before anything starts."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import TensorProto

from tiler.errors import JobError
from tiler.infer.graph import digest, drop_weights, infer_output_shape, model_inputs
from tiler.job.card import LoadedCard

_LABEL_DTYPES = {
    getattr(TensorProto, name)
    for name in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")
}
_LOGIT_DTYPES = {TensorProto.FLOAT, TensorProto.FLOAT16}

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class Model:
    """An ONNX file that fits its card; `batch` is None where the graph leaves it open.

    `sha256` is that of the file as deployed; with external data, of the file and then the data
    files in the order of their names.
    """

    onnx_file: Path
    name: str
    sha256: str
    input_name: str
    output_name: str
    bands: int
    size_px: int
    batch: int | None
    logits: bool
    classes: int


def read_model(card: LoadedCard, size_px: int) -> Model:
    """Check a card against its graph, for tiles of `size_px` pixels.

    Raises JobError, naming the card, the key, what was found and what was expected.
    """
    return _Check(card, size_px).model()


class _Check:
    """One card and its graph; every method raises JobError."""

    def __init__(self, card: LoadedCard, size_px: int) -> None:
        self._card = card
        self._size_px = size_px
        self._graph_file = card.onnx_file
        self._proto = self._load()
        self._digest = self._sha256()
        drop_weights(self._proto)

    def model(self) -> Model:
        card = self._card.card
        input_name, batch = self._input()
        output_name, logits = self._output(input_name)
        return Model(
            onnx_file=self._graph_file,
            name=card.name,
            sha256=self._digest,
            input_name=input_name,
            output_name=output_name,
            bands=len(card.input.bands),
            size_px=self._size_px,
            batch=batch,
            logits=logits,
            classes=len(card.classes),
        )

    def _refuse(self, key: str, problem: str) -> JobError:
        return JobError(f"{self._card.path}: {key}: {problem}")

    def _load(self) -> onnx.ModelProto:
        file = self._graph_file
        try:
            proto = onnx.load(file, format="protobuf", load_external_data=False)
        except OSError as error:
            raise self._refuse("file", f"{file}: {error.strerror}") from None
        except DecodeError:
            raise self._refuse("file", f"{file} is not an ONNX file, or was cut short") from None
        if not proto.graph.node or not proto.opset_import:
            raise self._refuse("file", f"{file} is not an ONNX file: it holds no graph")
        return proto

    def _sha256(self) -> str:
        try:
            found = digest(self._graph_file)
        except OSError as error:
            problem = f"{self._graph_file}: its data {error.filename}: {error.strerror}"
            raise self._refuse("file", problem) from None
        wanted = self._card.card.sha256
        if wanted is not None and wanted.lower() != found:
            problem = (
                f"{self._graph_file} has {found[:12]}…, the card expects {wanted[:12].lower()}…. "
                "Use the file that the card was written for, or correct the card"
            )
            raise self._refuse("sha256", problem)
        return found

    def _input(self) -> tuple[str, int | None]:
        """Name of the graph's input, and its batch size."""
        inputs = model_inputs(self._proto)
        if len(inputs) != 1:
            names = ", ".join(f"'{i.name}'" for i in inputs) or "none"
            problem = f"{self._graph_file} has {len(inputs)} inputs ({names}); one is expected"
            raise self._refuse("file", problem)
        name, tensor = inputs[0].name, inputs[0].type.tensor_type
        said = f"input '{name}' of {self._graph_file}"
        wanted = self._card.card.input.name
        if wanted is not None and wanted != name:
            raise self._refuse(
                "input.name", f"{self._graph_file} has no input '{wanted}'; it has '{name}'"
            )
        if tensor.elem_type != TensorProto.FLOAT:
            dtype = _dtype_name(tensor.elem_type)
            raise self._refuse("file", f"{said} takes {dtype}; float32 is expected")
        shape = _shape(tensor)
        if shape is None or len(shape) != 4:
            found = "no shape" if shape is None else f"shape {_told(shape)}"
            problem = f"{said} has {found}; [batch, band, height, width] is expected"
            raise self._refuse("file", problem)
        batch, bands, height, width = shape
        expected = len(self._card.card.input.bands)
        if bands not in (None, expected):
            problem = f"{expected} bands are listed; {said} takes {bands}"
            raise self._refuse("input.bands", problem)
        size_px = self._size_px
        if height not in (None, size_px) or width not in (None, size_px):
            problem = (
                f"{said} takes tiles of {height or 'any'} x {width or 'any'} pixels; "
                f"tiling.size is {size_px}"
            )
            if height is not None and height == width:
                problem += f". Set tiling.size to {height}"
            raise self._refuse("file", problem)
        return name, batch

    def _output(self, input_name: str) -> tuple[str, bool]:
        """Name of the output that the card asks for, and whether it holds logits."""
        output = self._card.card.output
        logits = output.logits is not None
        key = "output.logits" if logits else "output.labels"
        name = output.logits or output.labels or ""
        infos = {o.name: o for o in self._proto.graph.output}
        if name not in infos:
            near = difflib.get_close_matches(name, list(infos), n=1, cutoff=0.0)
            has = ", ".join(f"'{n}'" for n in infos)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            raise self._refuse(
                key, f"{self._graph_file} has no output '{name}'; it has {has}{meant}"
            )
        tensor = infos[name].type.tensor_type
        said = f"output '{name}' of {self._graph_file}"
        if tensor.elem_type not in (_LOGIT_DTYPES if logits else _LABEL_DTYPES):
            dtype = _dtype_name(tensor.elem_type)
            wanted = "floating point" if logits else "integers"
            hint = "" if logits else ". If these are logits, say output: {logits: …}"
            raise self._refuse(key, f"{said} is {dtype}; {wanted} are expected{hint}")
        shape = _shape(tensor)
        if shape is None or None in shape:
            fixed = (1, len(self._card.card.input.bands), self._size_px, self._size_px)
            shape = infer_output_shape(self._proto, input_name, fixed, name) or shape
        # What is still open is judged by the warm-up run.
        if shape is not None:
            self._output_shape(key, said, shape, logits)
        return name, logits

    def _output_shape(self, key: str, said: str, shape: Shape, logits: bool) -> None:
        size_px, classes = self._size_px, len(self._card.card.classes)
        if logits:
            expected: list[Shape] = [(None, classes, size_px, size_px)]
        else:
            expected = [(None, size_px, size_px), (None, 1, size_px, size_px)]
        if any(_fits(shape, e) for e in expected):
            return
        if logits and len(shape) == 4 and shape[1] not in (None, classes):
            problem = f"{said} has {shape[1]} classes (shape {_told(shape)}); {classes} are listed"
            raise self._refuse("classes", problem)
        wanted = " or ".join(_told(e) for e in expected)
        raise self._refuse(key, f"{said} has shape {_told(shape)}; {wanted} is expected")


def _shape(tensor: onnx.TypeProto.Tensor) -> Shape | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)


def _fits(shape: Shape, expected: Shape) -> bool:
    return len(shape) == len(expected) and all(
        a is None or b is None or a == b for a, b in zip(shape, expected, strict=True)
    )


def _told(shape: Shape) -> str:
    return f"[{', '.join('N' if d is None else str(d) for d in shape)}]"


def _dtype_name(elem_type: int) -> str:
    name = str(TensorProto.DataType.Name(elem_type)).lower()
    return {"float": "float32", "double": "float64"}.get(name, name)
