"""A scene on its way, and what is told of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tiler.grid.parts import Part
from tiler.run.journal import PartResult
from tiler.run.label_part import SceneWork
from tiler.run.plan import ScenePlan
from tiler.run.report import SceneOutcome


class Progress(Protocol):
    """What a run tells as it goes."""

    def expect(self, tiles: int) -> None: ...
    def advance(self, tiles: int) -> None: ...
    def ended(self, outcome: SceneOutcome) -> None: ...


@dataclass(eq=False)
class SceneInProgress:
    """A scene between its plan and its label map.

    `done` are its parts' results by index; `failures` counts, by part, the workers that died or
    devices that failed at it, and `avoid` names the last of them.
    """

    plan: ScenePlan
    work: SceneWork
    spool: Path
    done: dict[int, PartResult] = field(default_factory=dict)
    failures: Counter[int] = field(default_factory=Counter)
    avoid: dict[int, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.plan.info.path

    @property
    def is_labelled(self) -> bool:
        return len(self.done) == len(self.plan.parts)

    @property
    def results(self) -> tuple[PartResult, ...]:
        """In the order of the parts, whoever made them and when."""
        return tuple(self.done[part.index] for part in self.plan.parts)

    def adopt(self, results: list[PartResult]) -> None:
        """Take over what an earlier run has done, as far as it is a part of this plan."""
        parts = {part.index: part for part in self.plan.parts}
        self.done = {
            r.index: r for r in results if r.index in parts and r.file.core == parts[r.index].core
        }

    def outcome(self) -> SceneOutcome:
        """What became of it, once it is published."""
        return SceneOutcome(
            scene=str(self.path),
            status="done",
            output=str(self.plan.output),
            tiles=sum(r.tiles for r in self.results),
            tiles_skipped=sum(r.tiles_skipped for r in self.results),
        )


@dataclass(frozen=True)
class PartToDo:
    """One part of a scene that waits for a device."""

    scene: SceneInProgress
    part: Part
