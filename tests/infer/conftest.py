"""Model files and cards for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import pytest

from tests.infer.small_models import BANDS, CLASSES, conv_model

MakeOnnx = Callable[..., Path]
MakeCard = Callable[..., Any]


@pytest.fixture
def make_onnx(tmp_path: Path) -> MakeOnnx:
    """make_onnx(name="model.onnx", **options of conv_model): the path of a model file."""

    def make(name: str = "model.onnx", **options: Any) -> Path:
        path = tmp_path / name
        onnx.save(conv_model(**options), path)
        return path

    return make


@pytest.fixture
def make_card(tmp_path: Path) -> MakeCard:
    """make_card(onnx_file, ...): a loaded card for a model file."""

    def make(
        onnx_file: Path,
        bands: Sequence[str] = BANDS,
        labels: str | None = "labels",
        logits: str | None = None,
        classes: int = CLASSES,
        sha256: str | None = None,
        input_name: str | None = None,
    ) -> Any:
        card = SimpleNamespace(
            name="test model",
            sha256=sha256,
            input=SimpleNamespace(name=input_name, bands=list(bands)),
            output=SimpleNamespace(labels=None if logits else labels, logits=logits),
            classes=list(range(classes)),
        )
        return SimpleNamespace(path=tmp_path / "card.yaml", card=card, onnx_file=onnx_file)

    return make
