"""Failures of the CANN provider, told by their cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import onnx

from tiler.infer.ascend import Ascend
from tiler.infer.ascend_errors import first_cause
from tiler.infer.cann_operators import ProviderRules
from tiler.infer.ort import reason
from tiler.infer.proof import NodeRun

_BAD_ID = re.compile(r"Invalid device ID: (\d+), must be between 0 \(inclusive\) and (\d+)")
# ONNX Runtime's own places in its sources and its names of things, which say nothing to a user.
_NOISE = re.compile(
    r"(/\S+/)?\w+\.(cc|h):\d+ (\w+\(\) |.*?\) )?"
    r"|\[ONNXRuntimeError\] : \d+ : \w+ : "
    r"|(Error in execution: )?Non-zero status code returned while running .*? Status Message: "
)
_COMPILING = ("aclgrphBuildModel", "aclgrphParseONNXFromMem")
_MOST_NAMES = 20
# The default of ASCEND_PROCESS_LOG_PATH.
_PLOG = "~/ascend/log/debug/plog"


def has_cpu_nodes(error: Exception) -> bool:
    """Whether a strict session was refused for nodes that the provider did not take."""
    return "assigned to the default CPU EP" in str(error)


def creation_failure(error: Exception, said: str, ascend: Ascend) -> str:
    """Why a session could not be made. `said` is what native code wrote to stderr."""
    if bad_id := _BAD_ID.search(str(error)):
        number, count = map(int, bad_id.groups())
        if count == 0:
            return (
                "no Ascend device was found. Check npu-smi info, and that a container was given one"
            )
        there = "only 0 is there" if count == 1 else f"there are {count}, 0 to {count - 1}"
        return f"device.ids: {number} does not exist; {there}"
    cause = first_cause(said, str(error)) or ascend.why_not_initialised()
    return cause or _plain_reason(error)


def run_failure(error: Exception, said: str, ascend: Ascend, model: bytes, folded: bool) -> str:
    """Why a run failed. `said` is what native code wrote to stderr, `folded` that constants were
    computed before the compiler saw the model."""
    recent = ascend.recent_message()
    cause = first_cause(said, str(error)) or _plain_reason(error)
    if recent and recent not in cause and "the runtime says" not in cause:
        cause = f'{cause}; the runtime says "{recent}"'
    if cause.startswith(_COMPILING):
        return f"{cause}. {_suspects(ProviderRules(onnx.load_from_string(model), folded))}"
    return cause


def described(nodes: Iterable[NodeRun], model: onnx.ModelProto) -> tuple[str, ...]:
    """Nodes that are not the device's, alike ones together: operator, provider, reason, names."""
    rules = ProviderRules(model)
    groups: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        why = "a copy between devices" if node.is_copy else rules.why_not(node)
        groups.setdefault((f"{node.operator} on {node.provider}", why), []).append(node.name)
    return _told(groups)


def _suspects(rules: ProviderRules) -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for operator, why, name in rules.doubtful():
        groups.setdefault((operator, why), []).append(name)
    if groups:
        return f"Most likely because of {'; '.join(_told(groups))}"
    return f"The compiler's own log, by default in {_PLOG}, may name the operator"


def _told(groups: Mapping[tuple[str, str], list[str]]) -> tuple[str, ...]:
    return tuple(
        f"{len(names)} {what} ({why}): {_listed(names)}" for (what, why), names in groups.items()
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(name or "unnamed" for name in names[:_MOST_NAMES]) + more


def _plain_reason(error: Exception) -> str:
    return _NOISE.sub("", reason(error)).strip() or reason(error)
