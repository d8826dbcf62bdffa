"""Options of the CANN provider by version; values are checked by us, since nobody else does."""

from __future__ import annotations

from typing import Any

import pytest

from tiler.errors import DeviceError
from tiler.infer.cann_options import DEFAULTS, cann_options


def test_without_options_precision_is_kept_and_constants_are_folded() -> None:
    assert cann_options({}, "1.24.4") == DEFAULTS
    assert DEFAULTS["precision_mode"] == "must_keep_origin_dtype"
    assert DEFAULTS["graph_optimization_level"] == "basic"


def test_each_default_can_be_changed() -> None:
    asked = {
        "graph_optimization_level": "all",
        "enable_cann_graph": False,
        "precision_mode": "force_fp16",
        "op_select_impl_mode": "high_performance",
    }
    assert cann_options(asked, "1.22.1") == {**asked, "enable_cann_graph": "0"}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("npu_mem_limit", 2**33, "8589934592"),
        ("arena_extend_strategy", "kSameAsRequested", "kSameAsRequested"),
        ("optypelist_for_implmode", "Gelu,SoftmaxV2", "Gelu,SoftmaxV2"),
        ("enable_cann_graph", True, "1"),
        ("enable_cann_graph", 1, "1"),
    ],
)
def test_values_are_given_as_text(name: str, value: Any, text: str) -> None:
    assert cann_options({name: value}, "1.23.2")[name] == text


@pytest.mark.parametrize("version", ["1.22.1", "1.23.2"])
def test_an_option_of_a_later_version_is_refused_with_the_version_named(version: str) -> None:
    with pytest.raises(DeviceError, match=rf"{version} has no such option; it came with 1\.24"):
        cann_options({"enable_cann_subgraph": True}, version)
    assert cann_options({"enable_cann_subgraph": True}, "1.24.4")["enable_cann_subgraph"] == "1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("precision_mode", "fp16"),
        ("op_select_impl_mode", "high"),
        ("npu_mem_limit", 0),
        ("npu_mem_limit", "8 GB"),
        ("npu_mem_limit", 1.5),
        ("enable_cann_graph", 2),
        ("arena_extend_strategy", "knextpoweroftwo"),
        ("optypelist_for_implmode", "Gelu, Softmax"),
        ("graph_optimization_level", "none"),
    ],
)
def test_a_value_that_is_none_is_refused_with_what_is_expected(name: str, value: Any) -> None:
    with pytest.raises(DeviceError, match=rf"device\.options\.{name}: found .*, expected "):
        cann_options({name: value}, "1.24.4")


@pytest.mark.parametrize("name", ["device_id", "dump_om_model", "dump_graphs"])
def test_what_is_decided_elsewhere_cannot_be_set(name: str) -> None:
    with pytest.raises(DeviceError, match=rf"device\.options\.{name} cannot be set: "):
        cann_options({name: 1}, "1.24.4")


def test_a_misspelt_option_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(DeviceError, match="nearest: precision_mode"):
        cann_options({"precision": "force_fp16"}, "1.24.4")


def test_a_version_that_is_too_old_is_refused() -> None:
    with pytest.raises(DeviceError, match=r"onnxruntime-cann 1\.21\.1 is not supported"):
        cann_options({}, "1.21.1")


def test_a_version_yet_unknown_is_taken_for_the_newest() -> None:
    assert "enable_cann_subgraph" in cann_options({"enable_cann_subgraph": 1}, "1.27.0")
