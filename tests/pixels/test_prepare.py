"""A model's input tile from the numbers in a file."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tiler.pixels.prepare import FILL, Normalisation, model_tile

DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"]
IDENTITY = Normalisation.of([1, 1], [0, 0], [0, 0], [1, 1])


def numbers(dtype: str, shape: tuple[int, int, int] = (2, 5, 6)) -> NDArray[np.generic]:
    return np.random.default_rng(0).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_arrive_as_float32_unchanged_where_the_card_asks_for_nothing(dtype: str) -> None:
    bands = numbers(dtype, (2, 8, 8))
    tile = model_tile(bands, None, IDENTITY, 8)
    assert tile.dtype == np.float32
    assert (tile == bands).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_band_is_scaled_shifted_and_standardised(dtype: str) -> None:
    bands = numbers(dtype, (2, 8, 8))
    scale, offset, mean, std = [1e-4, 2e-4], [0.1, -0.1], [0.3, 0.2], [0.5, 0.25]
    tile = model_tile(bands, None, Normalisation.of(scale, offset, mean, std), 8)
    for band in range(2):
        exact = (bands[band].astype(float) * scale[band] + offset[band] - mean[band]) / std[band]
        np.testing.assert_allclose(tile[band], exact, rtol=1e-5, atol=1e-6)


def test_invalid_pixels_are_fed_as_zero_whatever_they_hold() -> None:
    bands = numbers("float32", (2, 8, 8))
    bands[:, 1, 2], bands[:, 3, 3] = np.nan, -3.4e38
    invalid = np.zeros((8, 8), bool)
    invalid[1, 2] = invalid[3, 3] = True
    tile = model_tile(bands, invalid, Normalisation.of([5, 5], [1, 1], [0, 0], [1, 1]), 8)
    assert np.isfinite(tile).all()
    assert (tile[:, invalid] == FILL).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (5, 1), (5, 6), (7, 3)])
def test_a_small_scene_is_padded_below_and_right_by_reflection(shape: tuple[int, int]) -> None:
    bands = numbers("uint16", (2, *shape))
    tile = model_tile(bands, None, IDENTITY, 16)
    rows, cols = (reflected(16, n) for n in shape)
    assert (tile == bands[:, rows][:, :, cols]).all()


def reflected(count: int, length: int) -> list[int]:
    """Where positions 0 to count - 1 lie on an axis of `length` that is mirrored at its ends."""
    period = max(2 * (length - 1), 1)
    return [min(i % period, period - i % period) if length > 1 else 0 for i in range(count)]
