"""GDAL's settings."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import rasterio
from rasterio.env import get_gdal_config

from tiler.raster.env import gdal_env

CACHE_BYTES = 48 * 2**20


def test_the_cache_is_given_in_bytes():
    with gdal_env(CACHE_BYTES):
        assert get_gdal_config("GDAL_CACHEMAX") == CACHE_BYTES


def test_a_thread_keeps_its_settings_when_another_one_leaves():
    inside, left = threading.Event(), threading.Event()
    seen = []

    def other():
        with gdal_env(CACHE_BYTES):
            inside.set()
            left.wait(timeout=10)
            seen.append(get_gdal_config("GDAL_CACHEMAX"))
            seen.append(get_gdal_config("GDAL_DISABLE_READDIR_ON_OPEN"))

    with gdal_env(CACHE_BYTES):
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(timeout=10)
    left.set()
    thread.join()
    assert seen == [CACHE_BYTES, "FALSE"]


def test_a_scene_without_georeference_is_opened_without_a_warning(make_raster):
    path = make_raster(np.ones((1, 2, 2), "uint8"), crs=None, transform=None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with gdal_env(), rasterio.open(path):
            pass
    assert not told
