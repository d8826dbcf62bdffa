"""Options of the CANN provider: which version knows which, and what they may be.

The provider checks the names only after a fashion and most values not at all: with a misspelt
`precision_mode` it would run in another precision than asked for, without a word.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tiler.errors import DeviceError

OLDEST = (1, 22)
NEWEST = (1, 24)

# Ours, not the provider's: how far ONNX Runtime changes the graph before the provider sees it.
# BASIC folds constants, without which constant nodes would be left to the CPU.
LEVEL = "graph_optimization_level"
LEVELS = {"disable": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC"}
LEVELS |= {"extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}

DEFAULTS = {
    LEVEL: "basic",
    "enable_cann_graph": "1",
    "precision_mode": "must_keep_origin_dtype",
    "op_select_impl_mode": "high_precision",
}
# Given to the compiler once in a process; later sessions would silently keep the first ones.
ONCE_PER_PROCESS = ("precision_mode", "op_select_impl_mode", "optypelist_for_implmode")

_OURS = {
    "device_id": "device.ids chooses devices",
    "dump_om_model": "compiled models are kept in device.cache_dir",
    "dump_graphs": "it would write into the working directory",
}


@dataclass(frozen=True)
class _Option:
    fits: Callable[[str], bool]
    expected: str
    since: tuple[int, int] = OLDEST


def _one_of(*values: str) -> _Option:
    return _Option(lambda text: text in values, " or ".join(values))


_SWITCH = _one_of("0", "1")
_OPTIONS = {
    LEVEL: _one_of(*LEVELS),
    "enable_cann_graph": _SWITCH,
    "enable_cann_subgraph": _Option(_SWITCH.fits, _SWITCH.expected, since=(1, 24)),
    "npu_mem_limit": _Option(
        lambda text: bool(re.fullmatch(r"[1-9]\d*", text)) and int(text) < 2**64,
        "a number of bytes above 0",
    ),
    "arena_extend_strategy": _one_of("kNextPowerOfTwo", "kSameAsRequested"),
    "precision_mode": _one_of(
        "must_keep_origin_dtype",
        "force_fp32",
        "cube_fp16in_fp32out",
        "force_fp16",
        "allow_fp32_to_fp16",
        "allow_mix_precision",
        "allow_mix_precision_fp16",
    ),
    "op_select_impl_mode": _one_of("high_precision", "high_performance"),
    "optypelist_for_implmode": _Option(
        lambda text: bool(re.fullmatch(r"[A-Za-z]\w*(,[A-Za-z]\w*)*", text)),
        "operator types with commas between them",
    ),
}


def cann_options(asked: Mapping[str, Any], version: str) -> dict[str, str]:
    """All options in effect: those of `device.options` over our defaults, as text.

    Raises DeviceError for an ONNX Runtime that is too old, an option that this version lacks or
    that is not for the user, and a value that isn't one.
    """
    release = _release(version)
    if release < OLDEST:
        raise DeviceError(
            f"onnxruntime-cann {version} is not supported. Install 1.22.1 to 1.24.4: "
            "pip install 'scene-tiler[cann]'"
        )
    given = {name: _checked(name, value, version, release) for name, value in asked.items()}
    return DEFAULTS | given


def _checked(name: str, value: Any, version: str, release: tuple[int, int]) -> str:
    key = f"device.options.{name}"
    if name in _OURS:
        raise DeviceError(f"{key} cannot be set: {_OURS[name]}")
    option = _OPTIONS.get(name)
    if option is None:
        near = difflib.get_close_matches(name, _OPTIONS, n=1, cutoff=0.0)[0]
        raise DeviceError(f"{key}: onnxruntime-cann {version} has no such option; nearest: {near}")
    if release < option.since:
        since = ".".join(map(str, option.since))
        raise DeviceError(
            f"{key}: onnxruntime-cann {version} has no such option; it came with {since}"
        )
    text = str(int(value)) if isinstance(value, bool) else str(value)
    if not option.fits(text):
        raise DeviceError(f"{key}: found {text!r}, expected {option.expected}")
    return text


def _release(version: str) -> tuple[int, int]:
    major, minor = (int(part) for part in re.findall(r"\d+", version)[:2])
    # Of a version yet unknown the newest table is the best guess; the provider refuses the rest.
    return min((major, minor), NEWEST)
