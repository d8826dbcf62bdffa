"""What a person sees on stderr: log lines and a progress bar."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

    from tiler.run.report import SceneOutcome

log = logging.getLogger("tiler")


@dataclass
class Terminal:
    """How much is told, and where."""

    as_json: bool
    quiet: bool
    debug: bool

    def __post_init__(self) -> None:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
        log.handlers = [handler]
        log.propagate = False
        log.setLevel(logging.DEBUG if self.debug else logging.ERROR if self.quiet else logging.INFO)

    @contextmanager
    def progress(self) -> Iterator[ProgressBar]:
        """A bar over tiles, with rate and time left; silent when stderr is no terminal."""
        from tqdm import tqdm
        from tqdm.contrib.logging import logging_redirect_tqdm

        bar: tqdm[Any] = tqdm(
            total=0, unit="tile", file=sys.stderr, disable=True if self.quiet else None
        )
        with bar, logging_redirect_tqdm([log]):
            yield ProgressBar(bar)


class ProgressBar:
    """The run's progress (tiler.run.stream.Progress) as a tqdm bar."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar

    def expect(self, tiles: int) -> None:
        """More tiles (or, where a scene failed, fewer) are to be done than was known."""
        self._bar.total = (self._bar.total or 0) + tiles
        self._bar.refresh()

    def advance(self, tiles: int) -> None:
        """So many tiles were done."""
        self._bar.update(tiles)

    def ended(self, outcome: SceneOutcome) -> None:
        """A scene was published, or failed."""
        if outcome.error is not None:
            log.error("failed: %s", outcome.error)
        else:
            log.info("%s: %s", outcome.status, outcome.output)
