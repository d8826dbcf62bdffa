"""Absolute paths from those that stand in a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def absolute_path(text: str, base: Path, environ: Mapping[str, str]) -> str:
    """`text` as an absolute path; relative ones are relative to the folder `base`.

    `${VARIABLE}` and a leading `~` are replaced; glob characters, and a slash at the end, are left
    as they are.

    Raises ValueError, with words for the file's author, if that can't be done.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1].strip()
        if not environ.get(name):
            raise ValueError(
                f"the environment variable {name!r} is not set. Set it, or write the path out"
            )
        return environ[name]

    expanded = os.path.expanduser(_VARIABLE.sub(value, text))  # noqa: PTH111
    if "\0" in expanded:
        raise ValueError("a path can't hold a NUL character")
    if expanded.startswith("~"):
        raise ValueError(f"found {text!r}, but no such user has a home folder. Write the path out")
    whole = base.absolute() / expanded
    plain = os.path.normpath(whole)
    # Behind a symbolic link, `..` may lead elsewhere than back.
    same = os.path.realpath(plain) == os.path.realpath(whole)
    path = plain if same else str(whole)
    return f"{path}/" if expanded.endswith("/") and path != "/" else path
