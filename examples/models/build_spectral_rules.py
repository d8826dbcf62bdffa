"""Write configs/models/spectral-rules.onnx: land cover by fixed rules on four bands.

    python examples/models/build_spectral_rules.py [FILE]

The rules, with their sources, are in configs/models/README.md. The graph uses only operators
that the CANN provider takes, in their plainest form, and no node that is constant. The same
file comes out byte for byte on every machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

OPSET = 13
# The oldest IR version that goes with opset 13, so that old runtimes load the file too.
IR_VERSION = 7
SIZE_PX = 768
DEFAULT_FILE = Path(__file__).parents[2] / "configs" / "models" / "spectral-rules.onnx"

BRIGHTEST = 2.0
SMALLEST_SUM = 1e-4
SNOW_BRIGHTNESS = 0.40
DARK = 0.05
WATER_NDWI = 0.0
SPARSE_NDVI = 0.2
DENSE_NDVI = 0.5
SOIL_RED_TO_BLUE = 1.5

DEEP_WATER, SHALLOW_WATER, SNOW, BARE, BUILT_UP, SPARSE, DENSE, SHADOW = map(float, range(8))


class GraphWriter:
    """Nodes and constants of a graph in the making; each method answers a tensor's name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def number(self, value: float) -> str:
        """A float32 constant."""
        return self._constant(f"number_{value:g}", np.array([value], np.float32))

    def node(self, operator: str, inputs: list[str], name: str) -> str:
        """The output, called `name`, of an operator that has one."""
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name))
        return name

    def bands(self, image: str, names: list[str]) -> list[str]:
        """The channels of an image, one tensor [1, 1, height, width] each."""
        ones = self._constant("one_each", np.ones(len(names), np.int64))
        node = helper.make_node("Split", [image, ones], names, name="bands", axis=1)
        self.nodes.append(node)
        return names

    def clip(self, tensor: str, low: float, high: float, name: str) -> str:
        bounds = [
            self._constant(f"bound_{bound:g}", np.array(bound, np.float32)) for bound in (low, high)
        ]
        return self.node("Clip", [tensor, *bounds], name)

    def normalized_difference(self, a: str, b: str, name: str) -> str:
        """(a - b) / (a + b), and 0 where both are 0."""
        difference = self.node("Sub", [a, b], f"{name}_difference")
        total = self.node("Add", [a, b], f"{name}_sum")
        divisor = self.node("Max", [total, self.number(SMALLEST_SUM)], f"{name}_divisor")
        return self.node("Div", [difference, divisor], name)

    def choose(self, condition: str, label: float, otherwise: str, name: str) -> str:
        """`label` where the condition holds, else what `otherwise` says."""
        return self.node("Where", [condition, self.number(label), otherwise], name)

    def _constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = numpy_helper.from_array(value, name)
        return name


def build() -> onnx.ModelProto:
    """The model: "input" float32 [1, 4, 768, 768] (blue, green, red, nir as reflectances) to
    "labels" int64 [1, 1, 768, 768]."""
    graph = GraphWriter()
    reflectance = graph.clip("input", 0.0, BRIGHTEST, "reflectance")
    blue, green, red, nir = graph.bands(reflectance, ["blue", "green", "red", "nir"])
    label = write_rules(graph, blue, green, red, nir)
    cast = helper.make_node("Cast", [label], ["labels"], name="labels", to=TensorProto.INT64)
    graph.nodes.append(cast)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "spectral_rules",
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 4, SIZE_PX, SIZE_PX])],
            [helper.make_tensor_value_info("labels", TensorProto.INT64, [1, 1, SIZE_PX, SIZE_PX])],
            list(graph.constants.values()),
        ),
        producer_name="scene-tiler",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def write_rules(graph: GraphWriter, blue: str, green: str, red: str, nir: str) -> str:
    """The label of each pixel as float32, by the rules in configs/models/README.md."""
    visible = graph.node("Add", [graph.node("Add", [blue, green], "blue_green"), red], "visible")
    total = graph.node("Add", [visible, nir], "total")
    brightness = graph.node("Mul", [total, graph.number(0.25)], "brightness")
    ndvi = graph.normalized_difference(nir, red, "ndvi")
    ndwi = graph.normalized_difference(green, nir, "ndwi")

    bright = graph.node("Greater", [brightness, graph.number(SNOW_BRIGHTNESS)], "is_bright")
    dark = graph.node("Less", [brightness, graph.number(DARK)], "is_dark")
    green_at_all = graph.node("Greater", [ndvi, graph.number(SPARSE_NDVI)], "is_green")
    very_green = graph.node("Greater", [ndvi, graph.number(DENSE_NDVI)], "is_very_green")
    wet = graph.node("Greater", [ndwi, graph.number(WATER_NDWI)], "is_wet")
    soil_red = graph.node("Mul", [blue, graph.number(SOIL_RED_TO_BLUE)], "soil_red")
    reddish = graph.node("Greater", [red, soil_red], "is_reddish")
    not_green = graph.node("Not", [green_at_all], "is_not_green")
    snowy = graph.node("And", [bright, not_green], "is_snow")

    # The last rule first: each `choose` goes before all those above it.
    land = graph.node(
        "Where", [reddish, graph.number(BARE), graph.number(BUILT_UP)], "bare_or_built_up"
    )
    land = graph.choose(green_at_all, SPARSE, land, "or_sparse_vegetation")
    land = graph.choose(very_green, DENSE, land, "or_dense_vegetation")
    land = graph.choose(dark, SHADOW, land, "or_shadow")
    water = graph.node(
        "Where", [dark, graph.number(DEEP_WATER), graph.number(SHALLOW_WATER)], "deep_or_shallow"
    )
    surface = graph.node("Where", [wet, water, land], "or_water")
    return graph.choose(snowy, SNOW, surface, "or_snow")


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FILE
    file.write_bytes(build().SerializeToString(deterministic=True))
    print(file)
