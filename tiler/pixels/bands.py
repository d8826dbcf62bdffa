"""Which bands of a scene a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tiler.pixels.band_names import BandError, SceneNames

_REMEDY = "Say which to read with scenes.bands, by index or name"


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

    `asked` (the job's `scenes.bands`, 1-based indexes or names) comes first. Else each name is
    looked for among the bands' descriptions, then among their colour interpretations. One band
    may go without a name if it is the only one left; where no band has a name, order counts.
    A scene whose descriptions name other bands is refused, whatever their order: B2 is blue of
    one sensor and green of another.

    Raises BandError, with a message that says what was wanted and what is there.
    """
    scene = SceneNames(descriptions, colors)
    if asked is not None:
        return _asked(wanted, asked, scene)
    if len(wanted) > scene.count:
        raise BandError(f"has {scene}; the model reads {len(wanted)}: {', '.join(wanted)}")
    found = {name: scene.find(name) for name in wanted}
    missing = [name for name, band in found.items() if band is None]
    if not missing:
        return _by_name(found, scene)
    if len(missing) == len(wanted) and not scene.any_described:
        return _in_order(wanted, scene)
    left = [i for i in range(1, scene.count + 1) if i not in found.values()]
    if len(missing) == 1 and len(left) == 1 and not scene.is_named(left[0]):
        return _with_the_last(missing[0], left[0], found, scene)
    raise BandError(f"has no band {_quoted(missing)}; it has {scene}. {_REMEDY}")


def _asked(wanted: Sequence[str], asked: Sequence[int | str], scene: SceneNames) -> BandChoice:
    if len(asked) != len(wanted):
        raise BandError(
            f"is to be read with scenes.bands, which gives {len(asked)} of the {len(wanted)} bands "
            f"that the model reads: {', '.join(wanted)}"
        )
    indexes = []
    for band in asked:
        if isinstance(band, str):
            index = scene.find(band)
        else:
            index = band if 1 <= band <= scene.count else None
        if index is None:
            raise BandError(f"has no band {band!r}, which scenes.bands asks for; it has {scene}")
        indexes.append(index)
    return BandChoice(tuple(indexes))


def _by_name(found: dict[str, int | None], scene: SceneNames) -> BandChoice:
    indexes = tuple(i for i in found.values() if i is not None)
    if all(scene.is_described(i) for i in indexes):
        return BandChoice(indexes)
    return BandChoice(indexes, (f"bands by colour interpretation: {_pairs(found)}",))


def _in_order(wanted: Sequence[str], scene: SceneNames) -> BandChoice:
    """Bands from the first on; a doubt where colours name some, or tag one of them alpha."""
    indexes = tuple(range(1, len(wanted) + 1))
    colors = [scene.colors[i - 1] for i in indexes]
    order = f"bands 1 to {len(wanted)} are read as {', '.join(wanted)}, in this order"
    if not any(scene.is_named(i) for i in indexes) and "alpha" not in colors:
        return BandChoice(indexes, (f"names no band: {order}",))
    note = f"has bands tagged {', '.join(colors)}; {order}, as data. {_REMEDY} if that is wrong"
    return BandChoice(indexes, (note,), guessed=True)


def _with_the_last(
    name: str, last: int, found: dict[str, int | None], scene: SceneNames
) -> BandChoice:
    named = _pairs({n: i for n, i in found.items() if n != name})
    note = (
        f"band {last}, tagged {scene.colors[last - 1]}, is read as {name}: data, not a mask; "
        f"the others by name: {named}. {_REMEDY} if that is wrong"
    )
    return BandChoice(tuple(i or last for i in found.values()), (note,), guessed=True)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{n}'" for n in names)


def _pairs(found: dict[str, int | None]) -> str:
    return ", ".join(f"{name} = band {index}" for name, index in found.items())
