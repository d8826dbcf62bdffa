"""What a model card may say, what follows from it, and what is said of faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.job.files import CARD, card_faults, card_lines, changed, load_a_card, without
from tiler.job.card import Answer, Card, CardClass, Input, load_card
from tiler.pixels.legend import LabelClass
from tiler.pixels.prepare import Normalisation

CARD_KEYS = "version, name, file, sha256, input, output, classes"
INPUT_KEYS = "name, bands, scale, offset, mean, std"
PER_BAND = "expected a number, or a list of numbers, one for each band"


def test_a_short_card_means_all_its_defaults(tmp_path: Path) -> None:
    loaded = load_a_card(tmp_path)
    assert loaded.path == tmp_path / "card.yaml"
    assert loaded.onnx_file == tmp_path / "water.onnx"
    assert loaded.card == Card(
        version=1,
        name="water",
        file="water.onnx",
        sha256=None,
        input=Input(name=None, bands=["green", "nir"], scale=1.0, offset=0.0, mean=None, std=None),
        output=Answer(labels="labels", logits=None),
        classes=[
            CardClass(id=0, name="land", color="#c8955a"),
            CardClass(id=1, name="water", color="#4fa8d8"),
        ],
    )
    assert loaded.normalisation.is_identity


@pytest.mark.parametrize(
    ("numbers", "formula"),
    [
        ({"scale": 1e-4}, lambda dn: dn * 1e-4),
        ({"scale": [2, 3]}, lambda dn: dn * [2, 3]),
        ({"offset": -0.1}, lambda dn: dn - 0.1),
        ({"mean": [5, 7]}, lambda dn: dn - [5, 7]),
        ({"mean": 5, "std": [2, 4]}, lambda dn: (dn - 5) / [2, 4]),
        ({"std": 0.5}, lambda dn: dn / 0.5),
        (
            {"scale": 1e-4, "offset": [0.1, -0.1], "mean": [0.3, 0.4], "std": [0.2, 0.1]},
            lambda dn: (dn * 1e-4 + [0.1, -0.1] - [0.3, 0.4]) / [0.2, 0.1],
        ),
        ({"mean": None, "std": None}, lambda dn: dn),
    ],
)
def test_numbers_are_for_all_bands_or_one_for_each(
    tmp_path: Path, numbers: dict[str, Any], formula: Any
) -> None:
    content = changed(CARD, {f"input.{key}": value for key, value in numbers.items()})
    found: Normalisation = load_a_card(tmp_path, content).normalisation
    dn = np.array([1234.0, 567.0])
    np.testing.assert_allclose(dn * found.gain + found.bias, formula(dn), rtol=1e-12)


def test_colours_are_three_numbers(tmp_path: Path) -> None:
    content = changed(CARD, {"classes.0.color": "#0aF", "classes.1.color": "#08306B"})
    assert load_a_card(tmp_path, content).legend.classes == (
        LabelClass(0, "land", (0x00, 0xAA, 0xFF)),
        LabelClass(1, "water", (0x08, 0x30, 0x6B)),
    )


def test_ids_of_labels_may_be_any(tmp_path: Path) -> None:
    content = changed(CARD, {"classes.0.id": 65_534, "classes.1.id": 7})
    legend = load_a_card(tmp_path, content).legend
    assert ([c.id for c in legend.classes], legend.nodata) == ([65_534, 7], 65_535)


def test_a_card_for_logits(tmp_path: Path) -> None:
    content = changed(CARD, {"output": {"logits": "scores"}})
    assert load_a_card(tmp_path, content).card.output.logits == "scores"


@pytest.mark.parametrize("sha256", ["0" * 63 + "a", "AB" * 32])
def test_a_checksum_is_64_hexadecimal_digits(tmp_path: Path, sha256: str) -> None:
    assert load_a_card(tmp_path, changed(CARD, {"sha256": sha256})).card.sha256 == sha256


def test_a_card_of_thousands_of_classes_is_read(tmp_path: Path) -> None:
    classes = [{"id": i, "name": f"c{i}", "color": "#123"} for i in range(3000)]
    legend = load_a_card(tmp_path, changed(CARD, {"classes": classes})).legend
    assert legend.dtype == np.uint16


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"classses": []}, f"unknown key 'classses'; did you mean 'classes'? Known: {CARD_KEYS}"),
        (
            {"input.band": []},
            f"input: unknown key 'band'; did you mean 'bands'? Known: {INPUT_KEYS}",
        ),
        (
            {"bands": ["a"]},
            f"unknown key 'bands'; did you mean 'input.bands'? Known: {CARD_KEYS}",
        ),
        (
            {"classes.1.colour": "#123"},
            "classes[1]: unknown key 'colour'; did you mean 'color'? Known: id, name, color",
        ),
        ({"output.label": "x"}, "output: unknown key 'label'; did you mean 'labels'? "
         "Known: labels, logits"),
        # Bands.
        ({"input.bands": []}, "input.bands: found [], expected at least one entry"),
        (
            {"input.bands": "nir"},
            "input.bands: found 'nir', expected a list, such as [a, b]",
        ),
        ({"input.bands": ["nir", 4]}, "input.bands[1]: found 4, expected text; put it in "
         "quotes"),
        ({"input.bands": ["nir", " "]}, "input.bands[1]: found ' ', expected a line of text"),
        (
            {"input.bands": ["nir", "red", "nir"]},
            "input.bands: found 'nir' and 'nir', expected another name for each band",
        ),
        (
            {"input.bands": ["B04", "red", "b4"]},
            "input.bands: found 'B04' and 'b4', expected another name for each band",
        ),
        # Numbers.
        ({"input.scale": "0.1"}, f"input.scale: found '0.1', {PER_BAND}"),
        ({"input.scale": None}, f"input.scale: found nothing, {PER_BAND}"),
        ({"input.offset": True}, f"input.offset: found true, {PER_BAND}"),
        ({"input.mean": [1, "x"]}, f"input.mean: found [1, 'x'], {PER_BAND}"),
        ({"input.mean": float("nan")}, f"input.mean: found nan, {PER_BAND}"),
        ({"input.std": [1, float("inf")]}, f"input.std: found [1, inf], {PER_BAND}"),
        (
            {"input.mean": [1, 2, 3]},
            "input.mean: found 3 numbers, expected one, or 2: one for each band",
        ),
        ({"input.scale": []}, "input.scale: found 0 numbers, expected one, or 2: one for each "
         "band"),
        ({"input.std": 0}, "input.std: found 0.0, expected more than 0"),
        ({"input.std": [1, -2]}, "input.std: found -2.0, expected more than 0"),
        (
            {"input.scale": 1e38, "input.std": [1, 0.01]},
            "input: scale, offset, mean and std of band 'nir' give numbers that float32 can't hold",
        ),
        # Output.
        ({"output": {}}, "output: found neither of labels and logits, expected one, with the name "
         "of the output"),
        ({"output.logits": "x"}, "output: found both of labels and logits, expected one, with the "
         "name of the output"),
        ({"output": "labels"}, "output: found 'labels', expected keys and values (labels, logits)"),
        ({"output.labels": ""}, "output.labels: found '', expected some text"),
        # Classes.
        ({"classes": []}, "classes: found [], expected at least one entry"),
        ({"classes": ["water"]}, "classes[0]: found 'water', expected keys and values "
         "(id, name, color)"),
        ({"classes.1.id": 0}, "classes: id 0 stands twice, expected once"),
        ({"classes.1.name": "land"}, "classes: name 'land' stands twice, expected once"),
        ({"classes.1.id": -1}, "classes[1].id: found -1, expected 0 or more"),
        ({"classes.1.id": 65_535}, "classes[1].id: found 65535, expected 65534 or less"),
        ({"classes.1.id": "1"}, "classes[1].id: found '1', expected a whole number"),
        ({"classes.1.name": False}, "classes[1].name: found false, expected text; put it "
         "in quotes"),
        ({"classes.1.name": "a\nb"}, "classes[1].name: found 'a\\nb', expected a line of text"),
        *(
            ({"classes.1.color": color}, f"classes[1].color: found {said}, expected a colour in "
             'quotes, such as "#08306b"')
            for color, said in (
                *((None, "nothing"), ("red", "'red'"), ("#12345", "'#12345'"), (123, "123")),
                *(("#gggggg", "'#gggggg'"), ("#123\n", "'#123\\n'"), ([1, 2, 3], "[1, 2, 3]")),
            )
        ),
        (
            {"output": {"logits": "x"}, "classes.1.id": 2},
            "classes: found ids [0, 2], expected 0 to 1 in order: with output.logits, an id is a "
            "channel of the logits",
        ),
        # The rest.
        ({"name": ""}, "name: found '', expected a line of text"),
        ({"file": ""}, "file: found '', expected some text"),
        *(
            ({"sha256": sha256}, f"sha256: found {said}, expected the file's SHA-256 in quotes: "
             "64 hexadecimal digits")
            for sha256, said in (("abc", "'abc'"), ("", "''"), (12, "12"))
        ),
        ({"version": 2}, "version: found 2; this tiler reads version: 1"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_for_its_author(
    tmp_path: Path, changes: dict[str, Any], line: str
) -> None:
    assert card_faults(tmp_path, changed(CARD, changes)) == card_lines(line)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("version", "version: is missing; this tiler reads version: 1"),
        ("name", "name: is missing; expected: the model's name"),
        ("file", "file: is missing; expected: the ONNX file, relative to the card"),
        (
            "input",
            "input: is missing; expected: what the model reads: bands, scale, offset, mean, std",
        ),
        (
            "input.bands",
            "input.bands: is missing; expected: names of the bands, in the model's order",
        ),
        (
            "output",
            "output: is missing; expected: what the model answers: {labels: NAME} or "
            "{logits: NAME}",
        ),
        ("classes", "classes: is missing; expected: the classes, each with id, name and color"),
    ],
)
def test_what_is_missing_is_described(tmp_path: Path, key: str, line: str) -> None:
    assert card_faults(tmp_path, without(CARD, key)) == card_lines(line)


def test_several_faults_are_several_lines(tmp_path: Path) -> None:
    wrong = changed(
        CARD, {"input.mean": "x", "classes.0.color": "red", "classes.1.id": -1, "file": 3}
    )
    assert card_faults(tmp_path, wrong) == card_lines(
        "file: found 3, expected text; put it in quotes",
        f"input.mean: found 'x', {PER_BAND}",
        "classes[0].color: found 'red', expected a colour in quotes, such as \"#08306b\"",
        "classes[1].id: found -1, expected 0 or more",
    )


def test_an_unquoted_colour_is_a_remark_and_told_so(tmp_path: Path) -> None:
    text = (
        "version: 1\nname: m\nfile: water.onnx\ninput: {bands: [a]}\noutput: {labels: y}\n"
        "classes:\n  - id: 0\n    name: a\n    color: #08306b\n"
    )
    assert card_faults(tmp_path, text) == card_lines(
        'classes[0].color: found nothing, expected a colour in quotes, such as "#08306b"'
    )


def test_a_class_called_no_is_called_no(tmp_path: Path) -> None:
    text = (
        "version: 1\nname: m\nfile: water.onnx\ninput: {bands: [a], scale: 1e-4}\n"
        "output: {labels: y}\nclasses: [{id: 010, name: no, color: '#123'}]\n"
    )
    loaded = load_a_card(tmp_path, text)
    assert loaded.legend.classes == (LabelClass(10, "no", (0x11, 0x22, 0x33)),)
    assert loaded.normalisation.gain == (1e-4,)


def test_the_cards_of_this_project_are_right() -> None:
    cards = sorted(Path(__file__).parents[2].glob("configs/models/*.yaml"))
    assert cards
    for card in cards:
        assert load_card(card).path == card
