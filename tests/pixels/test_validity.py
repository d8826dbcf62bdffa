"""Rules of validity on plain arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tiler.pixels.validity import equal_to_nodata, invalid_by_rule, not_finite

MASKS = np.random.default_rng(0).random((3, 9, 11)) < 0.6


@pytest.mark.parametrize(
    ("rule", "truth"), [("all", MASKS.all(axis=0)), ("any", MASKS.any(axis=0))]
)
def test_masks_are_joined_by_the_rule(rule, truth):
    before = MASKS.copy()
    assert np.array_equal(invalid_by_rule(MASKS, rule), truth)
    assert np.array_equal(MASKS, before)


@pytest.mark.parametrize("rule", ["all", "any"])
def test_no_mask_and_no_masked_pixel_are_none(rule):
    assert invalid_by_rule([], rule) is None
    assert invalid_by_rule(np.zeros((2, 3, 4), bool), rule) is None


def test_no_further_mask_is_taken_once_every_pixel_is_known_to_be_valid():
    def masks():
        yield np.zeros((3, 4), bool)
        pytest.fail("a second mask was taken")

    assert invalid_by_rule(masks(), "all") is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_pixel_is_not_finite_if_one_of_its_bands_is_not(value):
    bands = np.ones((3, 4, 5), "float32")
    bands[1, 2, 3] = value
    found = not_finite(bands)
    assert found is not None
    assert np.argwhere(found).tolist() == [[2, 3]]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_whole_and_ordinary_numbers_are_finite(dtype):
    assert not_finite(np.ones((2, 3, 4), dtype)) is None


def test_beyond_float32_is_not_finite():
    assert not_finite(np.full((1, 1, 1), 1e300)) is not None


@pytest.mark.parametrize(
    ("dtype", "nodata", "value", "equal"),
    [
        ("uint8", 255, 255, True),
        ("uint8", -1, 255, False),
        ("uint8", 256, 0, False),
        ("uint8", 0.5, 0, False),
        ("uint8", np.nan, 0, False),
        ("int8", -128, -128, True),
        ("int16", np.inf, 32767, False),
        ("float32", np.nan, np.nan, True),
        ("float32", 0.1, np.float32(0.1), True),
        ("float32", -3.4e38, np.float32(-3.4e38), True),
        ("float32", 1e300, 0, False),
        ("float64", 0.1, 0.1, True),
    ],
)
def test_a_value_is_nodata_if_the_dtype_holds_it_so(dtype, nodata, value, equal):
    assert equal_to_nodata(np.full((1, 1), value, dtype), nodata).item() is equal
