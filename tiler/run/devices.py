"""Which devices may be given work, and which have failed too often."""

from __future__ import annotations

from collections.abc import Iterable

# A device that fails so many times in a row, without one part done between, is set aside.
MOST_STRIKES = 3


class DevicePool:
    """Bookkeeping of devices by name; all are idle at first."""

    def __init__(self, names: Iterable[str]) -> None:
        self._idle = list(names)
        self._strikes = dict.fromkeys(self._idle, 0)

    @property
    def idle(self) -> tuple[str, ...]:
        """Those that have nothing to do, the longest idle first."""
        return tuple(self._idle)

    @property
    def left(self) -> int:
        """How many are not set aside."""
        return len(self._strikes)

    def take(self, name: str) -> None:
        """Give a device something to do."""
        self._idle.remove(name)

    def is_ready(self, name: str) -> None:
        """A device has opened its session, or has nothing more to do."""
        self._idle.append(name)

    def has_done(self, name: str) -> None:
        """A device has done a part."""
        self._strikes[name] = 0
        self._idle.append(name)

    def has_failed(self, name: str, counts: bool) -> bool:
        """A device has failed; whether it may try again.

        `counts` is False where the part it was given had failed before, so that the part is the
        likelier cause: one bad tile must not cost a device.
        """
        self._strikes[name] += counts
        if self._strikes[name] < MOST_STRIKES:
            return True
        del self._strikes[name]
        return False
