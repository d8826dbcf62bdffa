"""What a run did, scene by scene."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Status = Literal["done", "partial", "failed"]


@dataclass(frozen=True)
class SceneOutcome:
    """What became of one scene. `tiles` were run, `tiles_skipped` had no valid pixel."""

    scene: str
    status: Literal["done", "skipped", "failed"]
    output: str | None = None
    tiles: int = 0
    tiles_skipped: int = 0
    error: str | None = None


@dataclass(frozen=True)
class RunReport:
    """What a run did; `scenes` in the order in which the job names them."""

    run: str | None
    elapsed_s: float
    scenes: tuple[SceneOutcome, ...] = ()
    error: str | None = None
    stopped_by: int | None = None

    @property
    def exit_code(self) -> int:
        """0: all done; 1: some scene failed; 128 + n: stopped by signal n, as shells have it."""
        if self.stopped_by is not None:
            return 128 + self.stopped_by
        return 0 if self.status == "done" else 1

    @property
    def failed(self) -> int:
        return sum(s.status == "failed" for s in self.scenes)

    @property
    def status(self) -> Status:
        if self.error is not None or self.failed == len(self.scenes):
            return "failed"
        return "partial" if self.failed else "done"

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "run": self.run,
            "status": self.status,
            "elapsed_s": round(self.elapsed_s, 3),
            "error": self.error,
            "scenes": [asdict(s) for s in self.scenes],
        }

    def lines(self) -> list[str]:
        """The same for a person: a line for each scene, and one that counts."""
        told = [_line(s) for s in self.scenes]
        count = Counter(s.status for s in self.scenes)
        tiles = sum(s.tiles for s in self.scenes if s.status == "done")
        return [
            *told,
            f"{self.status}: {count['done']} done, {count['skipped']} skipped, "
            f"{count['failed']} failed; {tiles} tiles in {self.elapsed_s:.1f} s",
        ]


def _line(scene: SceneOutcome) -> str:
    if scene.error is not None:
        return f"failed   {scene.error}"
    return f"{scene.status:<8} {Path(scene.scene).name} -> {scene.output}"
