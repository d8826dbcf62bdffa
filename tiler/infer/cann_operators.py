"""Which operators the CANN provider takes, and why it leaves a node to the CPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

import onnx

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


def why_not_taken(node: NodeRun, model: onnx.ModelProto) -> str:
    """Why the provider left a node of `model` to another one, as far as its rules are known."""
    proto = _find(node, model)
    if proto is None:
        return "put in by ONNX Runtime"
    domain = proto.domain or "ai.onnx"
    if domain != "ai.onnx":
        return f"an operator of domain {domain}"
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    if opset < _OLDEST_OPSET:
        return f"opset {opset} is too old, {_OLDEST_OPSET} is the least"
    if proto.op_type not in LISTED:
        return f"the provider does not list {proto.op_type}"
    constants = {i.name for i in model.graph.initializer}
    constants |= {o for n in model.graph.node if n.op_type == "Constant" for o in n.output}
    if all(not name or name in constants for name in proto.input):
        return "all its inputs are constants; graph_optimization_level: basic folds them"
    return "refused for its types or attributes"


def unlisted(model: onnx.ModelProto) -> Iterator[str]:
    """Operator types of a model that the provider does not list, with how many nodes they have."""
    counts: dict[str, int] = {}
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx"):
            key = f"{node.domain}::{node.op_type}"
            counts[key] = counts.get(key, 0) + 1
        elif node.op_type not in LISTED:
            counts[node.op_type] = counts.get(node.op_type, 0) + 1
    for name, count in sorted(counts.items()):
        yield f"{name} ({count} node{'s' if count > 1 else ''})"


def _find(node: NodeRun, model: onnx.ModelProto) -> onnx.NodeProto | None:
    same = [n for n in model.graph.node if n.op_type == node.operator]
    named = [n for n in same if n.name == node.name]
    return next(iter(named or same), None)
