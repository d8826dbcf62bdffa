"""What the Ascend runtime's error codes mean, and the first of them in what it has said."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("ascend_errors.tsv")
_OF_CLASS = {
    "user": "a wrong argument or order of calls",
    "resource": "a resource is used up, or this hardware lacks it",
    "service": "a service of the device is not ready",
    "internal": "an internal fault of the runtime or the device",
}
# As the provider's CannCall writes it, to the log or into an exception.
_FAILURE = re.compile(r"CANN(?:GRAPH)? failure (?P<code>-?\d+): .*?expr=(?P<call>[\w:]+)\(")
_UNNUMBERED = re.compile(r"CANN (?:Graph )?error executing (?P<call>[\w:]+)\(")
# Codes of the compiler and the runtime, with their text to the end of the line.
_MESSAGE = re.compile(r"\b(?P<code>E[0-9A-Z]\d{4}): *(?P<text>[^\n]*)")
# What fails in the wake of another failure.
_TEARDOWN = ("aclFinalize", "aclgrphBuildFinalize", "aclrtSynchronizeDevice")


@dataclass(frozen=True)
class AscendError:
    """One code of the runtime; `kind` is user, resource, service or internal."""

    code: str
    name: str
    kind: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.code} {self.name}: {self.meaning}"


def ascend_error(code: str) -> AscendError:
    """The meaning of a code, told in general words if it isn't known better."""
    row = _table().get(code)
    if row is None:
        return AscendError(code, "unknown code", "internal", "not in scene-tiler's list of codes")
    return AscendError(code, row["name"], row["class"], row["meaning"] or _OF_CLASS[row["class"]])


def first_cause(*texts: str) -> str | None:
    """The first failure in what the native side wrote (earlier texts first), in one line.

    It names the call, the code and its meaning, and quotes the runtime's own message if there is
    one. None if the texts hold no failure.
    """
    text = "\n".join(texts)
    said = [_describe(m["call"], m["code"]) for m in _failures(text)]
    if not said and (unnumbered := _UNNUMBERED.search(text)):
        said = [f"{_plain(unnumbered['call'])} failed"]
    quoted = [f"{m['code']}: {m['text'].strip()}" for m in _MESSAGE.finditer(text)]
    parts = said[:1] + [f'the runtime says "{quoted[0].rstrip(".")}"' for _ in quoted[:1]]
    return "; ".join(parts) or None


def _failures(text: str) -> Iterator[re.Match[str]]:
    for failure in _FAILURE.finditer(text):
        if _plain(failure["call"]) not in _TEARDOWN:
            yield failure


def _describe(call: str, code: str) -> str:
    return f"{_plain(call)} failed with {ascend_error(code)}"


def _plain(call: str) -> str:
    return call.rsplit(":", 1)[-1]


@cache
def _table() -> dict[str, dict[str, str]]:
    with _TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["code"]: row for row in rows}
