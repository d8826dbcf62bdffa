"""The rules in configs/models/README.md, read anew in NumPy, against the ONNX file."""

from __future__ import annotations

import importlib.util
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import rasterio
from numpy.typing import NDArray

from tiler.infer.model import read_model
from tiler.job.card import load_card

ROOT = Path(__file__).parents[2]
CARD = ROOT / "configs" / "models" / "spectral-rules.yaml"
ONNX_FILE = ROOT / "configs" / "models" / "spectral-rules.onnx"
BUILDER = ROOT / "examples" / "models" / "build_spectral_rules.py"
SIZE_PX = 768
CLASS_NAMES = [
    "deep water",
    "shallow or turbid water",
    "snow and ice",
    "bare ground",
    "built-up",
    "sparse vegetation",
    "dense vegetation",
    "shadow",
]


def labels_by_the_rules(reflectance: NDArray[np.float32]) -> NDArray[np.int64]:
    """Labels [height, width] of reflectances [4, height, width]: blue, green, red, nir."""
    number = np.float32
    blue, green, red, nir = np.clip(reflectance, number(0), number(2))
    brightness = (((blue + green) + red) + nir) * number(0.25)
    ndvi = (nir - red) / np.maximum(nir + red, number(0.0001))
    ndwi = (green - nir) / np.maximum(green + nir, number(0.0001))
    rules = [
        ((brightness > number(0.40)) & ~(ndvi > number(0.2)), "snow and ice"),
        ((ndwi > 0) & (brightness < number(0.05)), "deep water"),
        (ndwi > 0, "shallow or turbid water"),
        (brightness < number(0.05), "shadow"),
        (ndvi > number(0.5), "dense vegetation"),
        (ndvi > number(0.2), "sparse vegetation"),
        (red > number(1.5) * blue, "bare ground"),
    ]
    return np.select(
        [condition for condition, _ in rules],
        [np.int64(CLASS_NAMES.index(name)) for _, name in rules],
        np.int64(CLASS_NAMES.index("built-up")),
    )


@pytest.fixture(scope="module")
def session() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(ONNX_FILE, providers=["CPUExecutionProvider"])


def labels_by_the_model(
    session: onnxruntime.InferenceSession, reflectance: NDArray[np.float32]
) -> NDArray[np.int64]:
    (labels,) = session.run(["labels"], {"input": reflectance[None]})
    assert labels.dtype == np.int64
    return labels[0, 0]


def tile_of(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """A tile [4, 768, 768] that begins with `pixels` [n, 4] and repeats them to the end."""
    return np.resize(pixels, (SIZE_PX * SIZE_PX, 4)).T.reshape(4, SIZE_PX, SIZE_PX).copy()


def test_random_reflectances_get_the_labels_of_the_rules(
    session: onnxruntime.InferenceSession,
) -> None:
    random = np.random.default_rng(0)
    dark_to_bright = random.uniform(0, 1, (1, SIZE_PX, SIZE_PX)) ** 2
    tile = (random.uniform(0, 1, (4, SIZE_PX, SIZE_PX)) * dark_to_bright).astype(np.float32)
    labels = labels_by_the_rules(tile)
    assert set(np.unique(labels)) == set(range(8))
    np.testing.assert_array_equal(labels_by_the_model(session, tile), labels)


def test_digital_numbers_get_the_labels_of_the_rules(
    session: onnxruntime.InferenceSession,
) -> None:
    stored = np.random.default_rng(1).integers(0, 3000, (4, SIZE_PX, SIZE_PX), dtype=np.uint16)
    tile = stored.astype(np.float32) * np.float32(0.0001)
    np.testing.assert_array_equal(labels_by_the_model(session, tile), labels_by_the_rules(tile))


def test_values_at_and_beside_the_thresholds_get_the_labels_of_the_rules(
    session: onnxruntime.InferenceSession,
) -> None:
    at = np.array([0, 1e-4, 0.02, 0.04, 0.05, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 1, 2], np.float32)
    beside = [np.nextafter(at, np.float32(side)) for side in (-1, 3)]
    values = np.unique(np.concatenate([at, *beside]))
    pixels = np.array(list(product(values, at, values, at)), np.float32)
    tile = tile_of(pixels)
    np.testing.assert_array_equal(labels_by_the_model(session, tile), labels_by_the_rules(tile))


def test_every_finite_input_gets_a_class(session: onnxruntime.InferenceSession) -> None:
    largest = float(np.finfo(np.float32).max)
    smallest = float(np.finfo(np.float32).smallest_subnormal)
    extremes = [0.0, -0.0, smallest, -smallest, -0.1, -1.0, 1e6, largest, -largest]
    tile = tile_of(np.array(list(product(extremes, repeat=4)), np.float32))
    labels = labels_by_the_model(session, tile)
    assert labels.max() < len(CLASS_NAMES)
    np.testing.assert_array_equal(labels, labels_by_the_rules(tile))


@pytest.mark.parametrize(
    ("reflectance", "name"),
    [
        ((0.044, 0.034, 0.016, 0.008), "deep water"),
        ((0.078, 0.108, 0.096, 0.052), "shallow or turbid water"),
        ((0.90, 0.89, 0.87, 0.78), "snow and ice"),
        ((0.080, 0.115, 0.165, 0.215), "bare ground"),
        ((0.120, 0.125, 0.135, 0.160), "built-up"),
        ((0.050, 0.090, 0.085, 0.205), "sparse vegetation"),
        ((0.022, 0.046, 0.024, 0.300), "dense vegetation"),
        ((0.012, 0.016, 0.021, 0.026), "shadow"),
        ((0.0, 0.0, 0.0, 0.0), "shadow"),
    ],
)
def test_a_typical_spectrum_gets_its_class(
    session: onnxruntime.InferenceSession, reflectance: tuple[float, ...], name: str
) -> None:
    tile = tile_of(np.array([reflectance], np.float32))
    assert set(np.unique(labels_by_the_model(session, tile))) == {CLASS_NAMES.index(name)}


def test_each_class_covers_a_hundredth_or_more_of_the_quickstart_scene() -> None:
    with rasterio.open(ROOT / "examples" / "scenes" / "quickstart.tif") as scene:
        stored = scene.read()
    labels = labels_by_the_rules(stored * np.float32(0.0001))[(stored != 0).any(axis=0)]
    assert np.bincount(labels, minlength=8).min() > 0.01 * labels.size


def test_the_card_fits_the_graph_and_names_the_classes() -> None:
    card = load_card(CARD)
    model = read_model(card, SIZE_PX)
    assert (model.bands, model.batch, model.logits) == (4, 1, False)
    assert model.sha256 == card.card.sha256
    assert [c.name for c in card.legend.classes] == CLASS_NAMES


def test_no_node_is_one_that_the_cann_provider_leaves_to_the_cpu() -> None:
    graph = onnx.load(ONNX_FILE).graph
    constants = {c.name for c in graph.initializer}
    taken = {"Add", "And", "Cast", "Clip", "Div", "Greater", "Less", "Max", "Mul", "Not", "Split"}
    taken |= {"Sub", "Where"}
    assert {node.op_type for node in graph.node} == taken
    # A node whose inputs are all constant goes to the CPU, whatever its operator.
    assert all(set(node.input) - constants for node in graph.node)


def test_the_builder_makes_the_file_that_is_checked_in() -> None:
    spec = importlib.util.spec_from_file_location("build_spectral_rules", BUILDER)
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    assert builder.build().SerializeToString(deterministic=True) == ONNX_FILE.read_bytes()
