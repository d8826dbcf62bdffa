"""How files name their bands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

# GDAL's colour interpretations (3.10) that name a part of the spectrum. Its printing inks (cyan,
# magenta, yellow, black), gray, palette, alpha and undefined name none.
COLORS = frozenset(
    ("red", "green", "blue", "pan", "coastal", "rededge", "nir", "swir", "mwir", "lwir", "tir")
)
ALIASES = {
    "nearinfrared": "nir",
    "nearir": "nir",
    "panchromatic": "pan",
    "coastalaerosol": "coastal",
}
# "Band 1", "Layer_2", "3", "": what drivers write where nobody named a band.
_NUMBERED = re.compile(r"(band|layer|channel)?\d*")
# "B04" and "B4" are one band: products write both.
_PADDED = re.compile(r"b0+(\d+a?)")
# "B4, central wavelength 665 nm", "Band 2 (Blue)", "B2 - Blue": a name and what explains it.
_SEPARATORS = re.compile(r"[,;:()\[\]|/]|\s[-–]\s")
_MOST_TOLD = 12


class BandError(ValueError):
    """The bands asked for are not in the scene."""


def plain(name: str) -> str:
    """A name without what writers differ in: case, spaces, dashes, zeros and synonyms."""
    bare = re.sub(r"[\s_-]+", "", name).casefold()
    return ALIASES.get(bare, _PADDED.sub(r"b\1", bare) if _PADDED.fullmatch(bare) else bare)


class SceneNames:
    """The names of a scene's bands, which are counted from 1; `str()` tells them."""

    def __init__(self, descriptions: Sequence[str | None], colors: Sequence[str]) -> None:
        self.colors = tuple(colors)
        self.count = len(colors)
        self._descriptions = [" ".join((d or "").split()) for d in descriptions]
        self._whole = [plain(d) for d in self._descriptions]
        times = Counter(self._whole)
        # A description that several bands share tells none of them from another.
        self._pieces = [
            {p for p in map(plain, _SEPARATORS.split(d)) if not _NUMBERED.fullmatch(p)}
            if times[whole] == 1
            else set()
            for d, whole in zip(self._descriptions, self._whole, strict=True)
        ]
        self._color_names = [c if c in COLORS else "" for c in map(plain, colors)]

    @property
    def any_described(self) -> bool:
        """Whether some description names a band."""
        return any(self._pieces)

    def is_described(self, index: int) -> bool:
        return bool(self._pieces[index - 1])

    def is_named(self, index: int) -> bool:
        """Whether a band's description or colour names it."""
        return self.is_described(index) or bool(self._color_names[index - 1])

    def find(self, name: str) -> int | None:
        """The band called `name`; None if none is. Raises BandError if several are."""
        wanted = plain(name)
        for matches in (
            [w == wanted for w in self._whole],
            [wanted in p for p in self._pieces],
            [c == wanted for c in self._color_names],
        ):
            if sum(matches) > 1:
                raise BandError(
                    f"has several bands called '{name}': {self}. "
                    "Say which to read with scenes.bands, by index"
                )
            if any(matches):
                return matches.index(True) + 1
        return None

    def __str__(self) -> str:
        named = [
            f"{i} {d or c}"
            for i, (d, c) in enumerate(zip(self._descriptions, self._color_names, strict=True), 1)
            if d or c
        ]
        bands = f"{self.count} band{'s' if self.count != 1 else ''}"
        if not named:
            return bands
        more = ", …" if len(named) > _MOST_TOLD else ""
        return f"{bands} ({', '.join(named[:_MOST_TOLD])}{more})"
