"""Which provider ran which node, by ONNX Runtime's own profile.

The list of a session's providers proves nothing: it names the CPU even in a strict session.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SUFFIX = "_kernel_time"
# Copies between devices are nodes of the device's provider, so that counting providers alone
# would not show that the model was cut in pieces.
_COPIES = ("MemcpyToHost", "MemcpyFromHost")


@dataclass(frozen=True)
class NodeRun:
    """One run of one node."""

    name: str
    operator: str
    provider: str

    @property
    def is_copy(self) -> bool:
        return self.operator in _COPIES

    def __str__(self) -> str:
        return f"{self.name or 'unnamed'} ({self.operator}) on {self.provider}"


def read_profile(path: Path) -> list[NodeRun]:
    """The node runs in a profile that ONNX Runtime wrote."""
    return node_runs(json.loads(path.read_text(encoding="utf-8")))


def node_runs(events: Iterable[Mapping[str, Any]]) -> list[NodeRun]:
    """The node runs among the events of a profile."""
    return [
        NodeRun(
            name=event["name"].removesuffix(_SUFFIX),
            operator=event["args"].get("op_name", ""),
            provider=event["args"].get("provider") or "no provider",
        )
        for event in events
        if event.get("cat") == "Node" and event["name"].endswith(_SUFFIX)
    ]


def count_by_provider(runs: Sequence[NodeRun]) -> dict[str, int]:
    """Node runs by provider, the most frequent first; copies between devices count apart."""
    counts = Counter("copies between devices" if r.is_copy else r.provider for r in runs)
    return dict(counts.most_common())


def not_on(provider: str, runs: Sequence[NodeRun]) -> list[NodeRun]:
    """Node runs that are not the provider's own work: others' nodes, and copies to them."""
    return [run for run in runs if run.provider != provider or run.is_copy]
