"""The last step: a finished label map gets its name."""

from __future__ import annotations

from pathlib import Path

from tiler.raster.durable import sync, unwritable


def publish(assembled: Path, final: Path) -> None:
    """Move a label map and its .aux.xml from `assembled` to `final`, on the same filesystem.

    The class names go first: whoever finds the label map finds all of it. Those of an earlier
    label map at `final` are replaced, or removed where the new one has none.

    Raises SceneError, naming the folder, if that fails.
    """
    names, final_names = _names_of(assembled), _names_of(final)
    try:
        sync(assembled)
        if names.exists():
            sync(names)
            names.replace(final_names)
        else:
            final_names.unlink(missing_ok=True)
        try:
            assembled.replace(final)
        except OSError:
            final_names.unlink(missing_ok=True)
            raise
        sync(final.parent)
    except OSError as error:
        raise unwritable(final, error) from error


def _names_of(label_map: Path) -> Path:
    return label_map.with_name(f"{label_map.name}.aux.xml")
