"""Parts on their way: whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray

from tests.raster.label_maps import files_in, random_labels
from tiler.errors import SceneError
from tiler.grid.window import Window
from tiler.raster.env import gdal_env
from tiler.raster.spool import PartFile, is_whole, write_part


def write(folder: Path, labels: NDArray[Any], nodata: int = 255) -> PartFile:
    height, width = labels.shape
    return write_part(folder / "part.tif", labels, Window(7, 11, height, width), nodata)


def fails(*_: object) -> None:
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (511, 513), (512, 1024)])
@pytest.mark.parametrize("nodata", [255, 65_535])
def test_a_parts_labels_read_back(tmp_path: Path, shape: tuple[int, int], nodata: int) -> None:
    labels = random_labels(*shape, nodata=nodata)
    part = write(tmp_path, labels, nodata)
    with gdal_env(), rasterio.open(part.path) as file:
        assert file.nodata == nodata
        assert (file.dtypes, file.shape) == ((labels.dtype.name,), shape)
        assert (file.read(1) == labels).all()


def test_what_is_told_of_a_part_is_right(tmp_path: Path) -> None:
    labels = random_labels(40, 60)
    part = write(tmp_path, labels)
    assert part.core == Window(7, 11, 40, 60)
    assert part.crc32 == zlib.crc32(labels.tobytes())
    assert part.size_bytes == part.path.stat().st_size


def test_labels_that_are_a_view_of_others_are_written_as_they_look(tmp_path: Path) -> None:
    labels = random_labels(80, 120)[::2, ::-2]
    part = write(tmp_path, labels)
    assert part.crc32 == zlib.crc32(labels.tobytes())
    assert is_whole(part)


def test_a_part_replaces_an_earlier_one(tmp_path: Path) -> None:
    write(tmp_path, random_labels(40, 60))
    part = write(tmp_path, random_labels(30, 50))
    assert is_whole(part)
    assert files_in(tmp_path) == ["part.tif"]


@pytest.mark.parametrize("step", [(os, "fsync"), (Path, "replace")], ids=["write", "name"])
def test_a_part_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[object, str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(*step, fails)
        with pytest.raises(SceneError) as caught:
            write(tmp_path, random_labels(40, 60))
    assert str(caught.value).startswith(
        f"{tmp_path}: part.tif cannot be written: Input/output error. "
    )
    assert files_in(tmp_path) == []


def test_a_part_that_cannot_be_written_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = write(tmp_path, random_labels(40, 60))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(SceneError):
            write(tmp_path, random_labels(30, 50))
    assert is_whole(earlier)
    assert files_in(tmp_path) == ["part.tif"]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, random_labels(40, 60))
    assert files_in(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from tiler.grid.window import Window
from tiler.raster.spool import write_part

os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_part(Path(sys.argv[1]), np.zeros((40, 60), np.uint8), Window(0, 0, 40, 60), 255)
"""


def test_a_worker_killed_in_mid_write_leaves_nothing_under_the_parts_name(tmp_path: Path) -> None:
    part = tmp_path / "part.tif"
    done = subprocess.run([sys.executable, "-c", KILLED, part], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not part.exists()
    (left,) = files_in(tmp_path)
    assert left.endswith(".tmp")


def test_two_workers_with_the_same_part_do_not_share_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = []
    replace = Path.replace

    def noting(self: Path, target: Path) -> Path:
        names.append(self.name)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", noting)
    write(tmp_path, random_labels(40, 60))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    write(tmp_path, random_labels(40, 60))
    assert len(set(names)) == 2


def test_a_full_disk_is_told_with_its_folder_and_nothing_is_left(small_disk: Path) -> None:
    labels = np.random.default_rng(0).integers(0, 256, (2500, 2500), np.uint8)
    with pytest.raises(SceneError) as caught:
        write(small_disk, labels)
    assert str(caught.value).startswith(
        f"{small_disk}: part.tif cannot be written: No space left on device. "
    )
    assert files_in(small_disk) == []


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"gone: part\.tif cannot be written: No such file"):
        write(tmp_path / "gone", random_labels(4, 6))


def test_a_part_is_whole_as_long_as_nobody_touches_it(tmp_path: Path) -> None:
    assert is_whole(write(tmp_path, random_labels(600, 700)))


@pytest.mark.parametrize("fault", ["gone", "empty", "truncated", "another part's", "other labels"])
def test_a_part_that_was_touched_is_not_whole(tmp_path: Path, fault: str) -> None:
    labels = random_labels(600, 700)
    part = write(tmp_path, labels)
    content = part.path.read_bytes()
    if fault == "gone":
        part.path.unlink()
    elif fault == "empty":
        part.path.write_bytes(b"")
    elif fault == "truncated":
        part.path.write_bytes(content[: len(content) * 2 // 3])
    elif fault == "another part's":
        write(tmp_path, labels.reshape(700, 600))
    else:
        labels[599, 699] ^= 1
        write(tmp_path, labels)
    assert not is_whole(part)
