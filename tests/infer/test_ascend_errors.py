"""The first cause of a failure, from what native code has said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tiler.infer.ascend_errors import ascend_error, first_cause
from tiler.infer.cann_failure import own_log
from tiler.infer.open import last_words

# As ONNX Runtime writes it, shortened.
LOG = (
    "\x1b[1;31m2026-01-01 [E:onnxruntime: CannCall] CANN failure 100013: "
    "ACL_ERROR_PARSE_MODEL ; NPU=0 ; hostname=h ; expr=aclmdlLoadFromFile(name, &id); \x1b[m"
)


def test_a_code_has_a_name_and_a_meaning() -> None:
    error = ascend_error("207001")
    assert (error.name, error.kind) == ("ACL_ERROR_RT_MEMORY_ALLOCATION", "resource")
    assert "out of memory" in error.meaning


def test_a_code_without_a_meaning_of_its_own_says_its_kind() -> None:
    assert str(ascend_error("507029")) == (
        "507029 ACL_ERROR_RT_DEBUG_REGISTER_FAIL: an internal fault of the runtime or the device"
    )


def test_an_unknown_code_says_so() -> None:
    assert "not in scene-tiler's list" in str(ascend_error("999999"))


def test_the_call_the_code_and_its_meaning_are_told() -> None:
    cause = first_cause(LOG)
    assert cause is not None
    assert cause.startswith("aclmdlLoadFromFile failed with 100013 ACL_ERROR_PARSE_MODEL: ")


def test_of_several_failures_the_first_counts() -> None:
    later = LOG.replace("100013", "507899").replace("aclmdlLoadFromFile", "aclrtMemcpy")
    cause = first_cause(LOG, later)
    assert cause is not None
    assert "100013" in cause
    assert "507899" not in cause


def test_what_fails_while_shutting_down_is_no_cause() -> None:
    assert first_cause(LOG.replace("aclmdlLoadFromFile", "aclFinalize")) is None


def test_a_call_without_a_code_is_still_named() -> None:
    said = "Status Message: CANN Graph error executing ge::aclgrphBuildModel(graph, options, model)"
    assert first_cause(said) == "aclgrphBuildModel failed"


def test_the_runtimes_own_message_is_quoted() -> None:
    cause = first_cause(LOG, "EZ3003: No kernel for op [Foo].\nmore")
    assert cause is not None
    assert cause.endswith('; the runtime says "EZ3003: No kernel for op [Foo]"')


def test_nothing_said_is_no_cause() -> None:
    assert first_cause("", "all is well") is None


def test_a_dead_workers_last_words_are_found(tmp_path: Path) -> None:
    (tmp_path / "native.log").write_text(f"noise\n{LOG}\n")
    words = last_words(tmp_path / "native.log")
    assert words is not None
    assert "aclmdlLoadFromFile" in words
    assert last_words(tmp_path / "absent.log") is None


@pytest.mark.parametrize("variable", ["ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH", "HOME"])
def test_the_runtimes_log_of_this_process_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    for name in ("ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    below = {"HOME": "ascend/log", "ASCEND_WORK_PATH": "log", "ASCEND_PROCESS_LOG_PATH": ""}
    folder = tmp_path / below[variable] / "debug" / "plog"
    folder.mkdir(parents=True)
    (folder / f"plog-{os.getpid()}_20260101.log").write_text("[ERROR] GE E16002: no parser")
    (folder / "plog-1_20260101.log").write_text("E19999: of another process")
    assert own_log() == "[ERROR] GE E16002: no parser"
