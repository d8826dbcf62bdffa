"""Failures of the CANN provider, told by their cause."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

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
_MOST_LOG_BYTES = 1 << 20


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
    if cause.startswith(_COMPILING) and (logged := first_cause(own_log())):
        cause = f"{cause}; {logged}"
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


def own_log() -> str:
    """What the Ascend runtime has written to its log of this process.

    The provider drops the compiler's messages, so that they may stand nowhere else.
    """
    texts = []
    for file in sorted(_log_folder().glob(f"plog-{os.getpid()}_*.log")):
        try:
            with file.open("rb") as log:
                texts.append(log.read(_MOST_LOG_BYTES).decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(texts)


def _log_folder() -> Path:
    if path := os.environ.get("ASCEND_PROCESS_LOG_PATH"):
        root = Path(path)
    elif path := os.environ.get("ASCEND_WORK_PATH"):
        root = Path(path) / "log"
    else:
        root = Path("~/ascend/log").expanduser()
    return root / "debug" / "plog"


def _suspects(rules: ProviderRules) -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for operator, why, name in rules.doubtful():
        groups.setdefault((operator, why), []).append(name)
    if groups:
        return f"Most likely because of {'; '.join(_told(groups))}"
    return f"The compiler's own log, in {_log_folder()}, may name the operator"


def _told(groups: Mapping[tuple[str, str], list[str]]) -> tuple[str, ...]:
    return tuple(
        f"{len(names)} {what} ({why}): {_listed(names)}" for (what, why), names in groups.items()
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(name or "unnamed" for name in names[:_MOST_NAMES]) + more


def _plain_reason(error: Exception) -> str:
    return _NOISE.sub("", reason(error)).strip() or reason(error)
