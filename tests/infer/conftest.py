"""Model files and cards for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml

from tests.ascend_sim.fixtures import AscendEnv, ascend_env, ascend_lib  # noqa: F401
from tests.infer.cann_runner import CannRunner
from tests.infer.small_models import BANDS, CLASSES, conv_model
from tiler.job.card import LoadedCard, load_card

MakeOnnx = Callable[..., Path]
MakeCard = Callable[..., LoadedCard]


@pytest.fixture
def make_onnx(tmp_path: Path) -> MakeOnnx:
    """make_onnx(name="model.onnx", **options of conv_model): the path of a model file."""

    def make(name: str = "model.onnx", **options: Any) -> Path:
        path = tmp_path / name
        onnx.save(conv_model(**options), path)
        return path

    return make


@pytest.fixture
def run_cann(ascend_env: AscendEnv, tmp_path: Path) -> CannRunner:  # noqa: F811
    """run_cann(card, tiles=3, switches={...}, **device): a session on simulated devices."""
    return CannRunner(ascend_env, tmp_path)


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
    ) -> LoadedCard:
        card = {
            "version": 1,
            "name": "test model",
            "file": str(onnx_file),
            "sha256": sha256,
            "input": {"name": input_name, "bands": list(bands)},
            "output": {"logits": logits} if logits else {"labels": labels},
            "classes": [
                {"id": i, "name": f"class {i}", "color": f"#0000{i:02x}"} for i in range(classes)
            ],
        }
        path = tmp_path / f"{onnx_file.stem}.yaml"
        path.write_text(yaml.safe_dump(card))
        return load_card(path)

    return make
