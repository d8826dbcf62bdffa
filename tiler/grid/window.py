"""Rectangles of pixels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A rectangle of whole pixels, from (row, col), counted from the scene's upper left."""

    row: int
    col: int
    height: int
    width: int

    @property
    def row_stop(self) -> int:
        return self.row + self.height

    @property
    def col_stop(self) -> int:
        return self.col + self.width

    @property
    def area(self) -> int:
        """Number of pixels."""
        return self.height * self.width

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns, to index an array that holds the whole scene."""
        return slice(self.row, self.row_stop), slice(self.col, self.col_stop)

    def within(self, outer: Window) -> Window:
        """The same pixels, counted from the upper left of `outer`."""
        return Window(self.row - outer.row, self.col - outer.col, self.height, self.width)

    def contains(self, other: Window) -> bool:
        return (
            self.row <= other.row
            and self.col <= other.col
            and self.row_stop >= other.row_stop
            and self.col_stop >= other.col_stop
        )

    def __str__(self) -> str:
        return f"rows {self.row} to {self.row_stop - 1}, columns {self.col} to {self.col_stop - 1}"
