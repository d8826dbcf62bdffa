"""A card that does not fit its graph is refused before anything starts, in one line."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from tests.infer.conftest import MakeCard, MakeOnnx
from tests.infer.small_models import CLASSES, SIZE_PX, conv_model
from tiler.errors import JobError
from tiler.infer.graph import sha256_of
from tiler.infer.model import read_model
from tiler.job.card import LoadedCard


def refusal(card: LoadedCard, size_px: int = SIZE_PX) -> str:
    with pytest.raises(JobError) as caught:
        read_model(card, size_px)
    told = str(caught.value)
    assert told.startswith(f"{card.path}: ")
    assert "\n" not in told
    return told


def test_a_card_that_fits_gives_the_model(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    file = make_onnx()
    model = read_model(make_card(file), SIZE_PX)
    assert (model.input_name, model.output_name) == ("image", "labels")
    assert (model.bands, model.size_px, model.batch) == (4, SIZE_PX, 1)
    assert (model.logits, model.classes) == (False, CLASSES)
    assert model.sha256 == sha256_of([file])


def test_open_dimensions_are_accepted(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    file = make_onnx(size="side", batch="batch")
    model = read_model(make_card(file), 48)
    assert (model.size_px, model.batch) == (48, None)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_labels_may_have_a_class_axis_of_one(
    make_onnx: MakeOnnx, make_card: MakeCard, keepdims: int
) -> None:
    read_model(make_card(make_onnx(keepdims=keepdims)), SIZE_PX)


@pytest.mark.parametrize("content", [b"", b"II*\0 not a model", b"\x08"])
def test_a_file_that_is_no_onnx_file(tmp_path: Path, make_card: MakeCard, content: bytes) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(content)
    assert "is not an ONNX file" in refusal(make_card(file))


def test_a_file_cut_short(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    file = make_onnx()
    file.write_bytes(file.read_bytes()[:-40])
    assert "cut short" in refusal(make_card(file))


def test_a_file_that_went_away(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    card = make_card(make_onnx())
    card.onnx_file.unlink()
    assert "No such file" in refusal(card)


def test_another_file_than_the_card_was_written_for(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    file = make_onnx()
    told = refusal(make_card(file, sha256="ab" * 32))
    assert "sha256" in told
    assert "abababababab…" in told
    assert f"{sha256_of([file])[:12]}…" in told


def test_the_digest_may_be_written_in_capitals(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    file = make_onnx()
    read_model(make_card(file, sha256=sha256_of([file]).upper()), SIZE_PX)


def test_an_output_that_is_not_there_and_the_nearest_that_is(
    make_onnx: MakeOnnx, make_card: MakeCard
) -> None:
    told = refusal(make_card(make_onnx(), labels="label"))
    assert "output.labels" in told
    assert "did you mean 'labels'?" in told


def test_an_input_name_that_is_not_there(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    told = refusal(make_card(make_onnx(), input_name="pixels"))
    assert "input.name" in told
    assert "has no input 'pixels'; it has 'image'" in told


def test_several_inputs(tmp_path: Path, make_card: MakeCard) -> None:
    model = conv_model()
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1]))
    onnx.save(model, tmp_path / "two.onnx")
    assert "has 2 inputs ('image', 'mask')" in refusal(make_card(tmp_path / "two.onnx"))


def test_weights_listed_among_the_inputs_are_no_inputs(tmp_path: Path, make_card: MakeCard) -> None:
    model = conv_model()
    model.ir_version = 3
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [5, 4, 3, 3]))
    onnx.save(model, tmp_path / "old.onnx")
    read_model(make_card(tmp_path / "old.onnx"), SIZE_PX)


def test_an_input_that_is_not_float32(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    told = refusal(make_card(make_onnx(dtype=TensorProto.FLOAT16)))
    assert "takes float16; float32 is expected" in told


def test_an_input_without_four_dimensions(tmp_path: Path, make_card: MakeCard) -> None:
    model = conv_model()
    model.graph.input[0].type.tensor_type.shape.dim.pop()
    onnx.save(model, tmp_path / "flat.onnx")
    assert "[batch, band, height, width] is expected" in refusal(make_card(tmp_path / "flat.onnx"))


def test_another_number_of_bands(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    told = refusal(make_card(make_onnx(bands=3)))
    assert "input.bands: 4 bands are listed" in told
    assert "takes 3" in told


def test_another_tile_size(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    told = refusal(make_card(make_onnx(size=32)), 64)
    assert "takes tiles of 32 x 32 pixels; tiling.size is 64. Set tiling.size to 32" in told


@pytest.mark.parametrize("size", [SIZE_PX, "side"])
def test_labels_smaller_than_the_tile(
    make_onnx: MakeOnnx, make_card: MakeCard, size: int | str
) -> None:
    file = make_onnx(size=SIZE_PX, stride=4)
    if size == "side":
        model = onnx.load(file)
        for info in (model.graph.input[0], model.graph.output[0]):
            for dim in list(info.type.tensor_type.shape.dim)[-2:]:
                dim.dim_param = "side"
        onnx.save(model, file)
    told = refusal(make_card(file))
    assert "has shape [1, 4, 4]" in told
    assert "[N, 16, 16]" in told


def test_labels_that_are_not_integers(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    told = refusal(make_card(make_onnx(outputs=("logits", "labels")), labels="logits"))
    assert "is float32; integers are expected" in told
    assert "output: {logits: …}" in told


def test_logits_with_another_number_of_classes(make_onnx: MakeOnnx, make_card: MakeCard) -> None:
    told = refusal(make_card(make_onnx(outputs=("logits",)), logits="logits", classes=8))
    assert "classes: " in told
    assert "has 5 classes (shape [1, 5, 16, 16]); 8 are listed" in told


def test_weights_beside_the_file_count_in_its_digest(tmp_path: Path, make_card: MakeCard) -> None:
    file = tmp_path / "apart.onnx"
    onnx.save(
        conv_model(), file, save_as_external_data=True, location="apart.bin", size_threshold=0
    )
    model = read_model(make_card(file), SIZE_PX)
    assert model.sha256 == sha256_of([file, tmp_path / "apart.bin"])


def test_weights_that_are_missing(tmp_path: Path, make_card: MakeCard) -> None:
    file = tmp_path / "apart.onnx"
    onnx.save(
        conv_model(), file, save_as_external_data=True, location="apart.bin", size_threshold=0
    )
    (tmp_path / "apart.bin").unlink()
    assert "apart.bin: No such file" in refusal(make_card(file))
