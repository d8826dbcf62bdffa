"""Which bands of a scene a model reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# GDAL's names for colours; the others (gray, palette, undefined, alpha …) name no band.
COLORS = ("red", "green", "blue", "nir", "cyan", "magenta", "yellow", "black", "pan")
ALIASES = {"near infrared": "nir", "near-infrared": "nir", "infrared": "nir", "panchromatic": "pan"}
# "Band 1", "Layer_2": what drivers write where nobody named a band.
NUMBERED = re.compile(r"(band|layer)[ _-]?\d+", re.IGNORECASE)


class BandError(ValueError):
    """The bands asked for are not in the scene."""


@dataclass(frozen=True)
class BandChoice:
    """1-based indexes, in the model's order, and what was decided on the way.

    `notes` are for the log; `guessed` says that a doubt was decided, which deserves a warning.
    """

    indexes: tuple[int, ...]
    notes: tuple[str, ...] = field(default=())
    guessed: bool = False


def choose_bands(
    wanted: Sequence[str],
    asked: Sequence[int | str] | None,
    descriptions: Sequence[str | None],
    colors: Sequence[str],
) -> BandChoice:
    """Bands for a model that reads `wanted`, from a scene with these descriptions and colours.

    `asked` (the job's `scenes.bands`, 1-based indexes or names) comes first. Else names are
    matched with the bands' descriptions, or, where there are none, with their colour
    interpretation; where a scene names no band, order counts.

    Raises BandError, with a message that says what was wanted and what is there.
    """
    if asked is not None:
        return _asked(asked, descriptions, colors)
    names = _names(descriptions)
    if not any(names):
        return _by_color(wanted, colors)
    missing = [w for w in wanted if _plain(w) not in names]
    if missing:
        raise BandError(f"has no band {_quoted(missing)}; it has {_told(descriptions)}. {_REMEDY}")
    return BandChoice(tuple(_index(w, names, descriptions) for w in wanted))


_REMEDY = "Say which to read with scenes.bands, by index or name"


def _asked(
    asked: Sequence[int | str], descriptions: Sequence[str | None], colors: Sequence[str]
) -> BandChoice:
    names = _names(descriptions)
    if not any(names):
        names = [_color(c) for c in colors]
    indexes = []
    for band in asked:
        if isinstance(band, int):
            if not 1 <= band <= len(colors):
                raise BandError(f"has no band {band}; it has {_told(descriptions)}")
            indexes.append(band)
        elif _plain(band) in names:
            indexes.append(_index(band, names, descriptions))
        else:
            raise BandError(f"has no band {_quoted([band])}; it has {_told(descriptions)}")
    return BandChoice(tuple(indexes))


def _by_color(wanted: Sequence[str], colors: Sequence[str]) -> BandChoice:
    count = len(colors)
    if len(wanted) > count:
        raise BandError(
            f"has {count} band{'s' if count > 1 else ''}, the model reads {len(wanted)} "
            f"({', '.join(wanted)})"
        )
    names = [_color(c) for c in colors]
    missing = [w for w in wanted if _plain(w) not in names]
    in_order = BandChoice(
        tuple(range(1, len(wanted) + 1)),
        (
            f"names no band: bands 1 to {len(wanted)} are read as {', '.join(wanted)}, "
            "in this order",
        ),
    )
    if len(missing) == len(wanted):
        return _with_alpha_told(in_order, colors)
    if not missing:
        return BandChoice(
            tuple(names.index(_plain(w)) + 1 for w in wanted),
            (f"bands by colour interpretation: {_pairs(wanted, names)}",),
        )
    left = [i for i, name in enumerate(names) if name not in [_plain(w) for w in wanted]]
    if len(missing) > 1 or len(left) != 1 or names[left[0]] is not None:
        raise BandError(
            f"has no band {_quoted(missing)}; its bands' colours are {', '.join(colors)}. {_REMEDY}"
        )
    names[left[0]] = _plain(missing[0])
    return BandChoice(
        tuple(names.index(_plain(w)) + 1 for w in wanted),
        (
            f"band {left[0] + 1}, tagged {colors[left[0]]}, is read as {missing[0]}: data, "
            "not a mask; the others by colour interpretation: "
            f"{_pairs([w for w in wanted if w not in missing], names)}. {_REMEDY} if that is wrong",
        ),
        guessed=True,
    )


def _with_alpha_told(choice: BandChoice, colors: Sequence[str]) -> BandChoice:
    """The same choice; where it takes a band tagged alpha for data, the notes say so."""
    alpha = [i for i in choice.indexes if colors[i - 1] == "alpha"]
    if not alpha:
        return choice
    note = f"band {alpha[0]}, tagged alpha, is read as data, not as a mask. {_REMEDY} if not"
    return BandChoice(choice.indexes, (*choice.notes, note), guessed=True)


def _names(descriptions: Sequence[str | None]) -> list[str | None]:
    return [_plain(d) if d and not NUMBERED.fullmatch(d.strip()) else None for d in descriptions]


def _plain(name: str) -> str:
    plain = name.strip().casefold()
    return ALIASES.get(plain, plain)


def _color(color: str) -> str | None:
    return _plain(color) if _plain(color) in COLORS else None


def _index(wanted: str, names: Sequence[str | None], descriptions: Sequence[str | None]) -> int:
    if list(names).count(_plain(wanted)) > 1:
        raise BandError(
            f"has several bands called {_quoted([wanted])}: {_told(descriptions)}. {_REMEDY}"
        )
    return list(names).index(_plain(wanted)) + 1


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{n}'" for n in names)


def _told(descriptions: Sequence[str | None]) -> str:
    count = len(descriptions)
    named = [d for d in descriptions if d]
    return f"{count} band{'s' if count != 1 else ''}" + (f": {', '.join(named)}" if named else "")


def _pairs(wanted: Sequence[str], names: Sequence[str | None]) -> str:
    return ", ".join(f"{w} = band {list(names).index(_plain(w)) + 1}" for w in wanted)
