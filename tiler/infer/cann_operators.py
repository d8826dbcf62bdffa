"""Which operators the CANN provider takes, and why it leaves a node to the CPU."""

from __future__ import annotations

import re

import onnx
from onnx import TensorProto, shape_inference

from tiler.infer.graph import ONNX_DOMAINS
from tiler.infer.proof import NodeRun

# The provider's own list, the same in ONNX Runtime 1.22 to 1.24. Up to 1.23 a graph is cut at
# nodes that are not on it; 1.24 gives the compiler everything, unless enable_cann_subgraph is on.
LISTED = frozenset(
    """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    BitShift Cast Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv ConvTranspose Cos
    Cosh CumSum DepthToSpace Det Div Dropout Elu Equal Erf Exp Expand EyeLike Flatten Floor Gather
    GatherElements GatherND Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater
    GreaterOrEqual Hardmax HardSigmoid HardSwish Identity InstanceNormalization LeakyRelu Less
    LessOrEqual Log LogSoftmax LpNormalization LpPool LRN LSTM MatMul Max MaxPool MaxRoiPool
    MaxUnpool Mean MeanVarianceNormalization Min Mod Mul Multinomial Neg NonMaxSuppression NonZero
    Not OneHot Or Pad Pow PRelu RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal
    ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign Round Scatter
    ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax
    SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tanh
    TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Unsqueeze Where Xor
    """.split()  # noqa: SIM905
)
# The oldest opset whose nodes it takes.
_OLDEST_OPSET = 8
# Types that neural networks are made of; compilers know few operators for others.
_USUAL = {"float", "float16", "int8", "uint8", "int16", "int32", "int64", "bool"}
_PLACED_ON = re.compile(r"Node\(s\) placed on \[(?P<provider>\w+)\]")
_PLACED = re.compile(r"VerifyEachNodeIsAssignedToAnEp\] +(?P<operator>\S+) \((?P<name>.*)\)\s*$")


def placements(log: str) -> list[NodeRun]:
    """Which provider each node was given to, from ONNX Runtime's log at its most verbose."""
    found, provider = [], ""
    for line in log.splitlines():
        line = re.sub(r"\x1b\[[\d;]*m", "", line)
        if heading := _PLACED_ON.search(line):
            provider = heading["provider"]
        elif provider and (node := _PLACED.search(line)):
            found.append(NodeRun(node["name"], node["operator"], provider))
    return found


class ProviderRules:
    """What is known of the provider's rules, applied to a model.

    `folded` says that ONNX Runtime computes constant nodes before the provider sees them.
    """

    def __init__(self, model: onnx.ModelProto, folded: bool = False) -> None:
        self._folded = folded
        self._nodes = list(model.graph.node)
        self._constants = {i.name for i in model.graph.initializer}
        for node in self._nodes:
            if node.op_type == "Constant":
                self._constants.update(node.output)
        self._opset = next((o.version for o in model.opset_import if o.domain in ONNX_DOMAINS), 0)
        self._types = _tensor_types(model)

    def why_not(self, run: NodeRun) -> str:
        """Why the provider left a node to another one."""
        same = [n for n in self._nodes if n.op_type == run.operator]
        named = [n for n in same if n.name == run.name]
        node = next(iter(named or same), None)
        if node is None:
            return "put in by ONNX Runtime"
        return self._doubt(node) or "the provider refuses this one"

    def doubtful(self) -> list[tuple[str, str, str]]:
        """Nodes that the compiler is the likeliest to refuse: operator, why, name."""
        found = [(n.op_type, self._doubt(n), n.name) for n in self._nodes]
        return [(operator, why, name) for operator, why, name in found if why is not None]

    def _doubt(self, node: onnx.NodeProto) -> str | None:
        if node.domain not in ONNX_DOMAINS:
            return f"an operator of domain {node.domain}"
        if self._opset < _OLDEST_OPSET:
            return f"opset {self._opset} is too old, {_OLDEST_OPSET} is the least"
        if node.op_type not in LISTED:
            return f"the provider does not list {node.op_type}"
        if self._is_constant(node):
            if self._folded:
                return None
            return "all its inputs are constants; graph_optimization_level: basic folds them"
        odd = {self._types[n] for n in (*node.input, *node.output) if n in self._types} - _USUAL
        return f"works with {', '.join(sorted(odd))}" if odd else None

    def _is_constant(self, node: onnx.NodeProto) -> bool:
        if node.op_type == "Constant":
            return False
        return self._constants.issuperset(filter(None, node.input))


def _tensor_types(model: onnx.ModelProto) -> dict[str, str]:
    """The element type of each tensor, as far as ONNX can tell."""
    types = {i.name: i.data_type for i in model.graph.initializer}
    try:
        graph = shape_inference.infer_shapes(model).graph
    except Exception:  # only a hint is lost
        graph = model.graph
    for info in (*graph.input, *graph.value_info, *graph.output):
        types[info.name] = info.type.tensor_type.elem_type
    return {name: TensorProto.DataType.Name(t).lower() for name, t in types.items()}
