"""The last step: a finished label map gets its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.raster.label_maps import files_in, random_labels, write_label_map
from tiler.errors import SceneError
from tiler.raster import publish as publish_module
from tiler.raster.publish import publish


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def made(folder: Path, name: str = "assembled.tif", content: str = "new") -> Path:
    path = folder / name
    path.write_text(content)
    Path(f"{path}.aux.xml").write_text(f"{content} names")
    return path


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


NEW = {"scene.tif": "new", "scene.tif.aux.xml": "new names"}
OLD = {"scene.tif": "old", "scene.tif.aux.xml": "old names"}


def test_a_label_map_and_its_class_names_get_their_final_names(spool: Path, out: Path) -> None:
    publish(made(spool), out / "scene.tif")
    assert contents(out) == NEW
    assert files_in(spool) == []


def test_they_replace_an_earlier_label_map_and_its_names(spool: Path, out: Path) -> None:
    made(out, "scene.tif", "old")
    publish(made(spool), out / "scene.tif")
    assert contents(out) == NEW


def test_names_of_an_earlier_label_map_do_not_stay_with_one_that_has_none(
    spool: Path, out: Path
) -> None:
    made(out, "scene.tif", "old")
    (spool / "assembled.tif").write_text("new")
    publish(spool / "assembled.tif", out / "scene.tif")
    assert contents(out) == {"scene.tif": "new"}


def test_what_is_published_is_on_disk_before_it_has_its_name(
    spool: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace, sync = Path.replace, publish_module.sync
    monkeypatch.setattr(
        publish_module, "sync", lambda path: (done.append(f"sync {path.name}"), sync(path))
    )
    monkeypatch.setattr(
        Path,
        "replace",
        lambda self, target: (done.append(f"name {target.name}"), replace(self, target))[1],
    )
    publish(made(spool), out / "scene.tif")
    assert done == [
        "sync assembled.tif",
        "sync assembled.tif.aux.xml",
        "name scene.tif.aux.xml",
        "name scene.tif",
        "sync out",
    ]


def test_a_failure_before_anything_was_moved_leaves_the_earlier_label_map(
    spool: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    made(out, "scene.tif", "old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(SceneError) as caught:
            publish(made(spool), out / "scene.tif")
    assert str(caught.value).startswith(
        f"{out}: scene.tif cannot be written: No space left on device. "
    )
    assert contents(out) == OLD


def test_a_label_map_that_cannot_be_moved_leaves_no_names_behind(spool: Path, out: Path) -> None:
    (out / "scene.tif").mkdir()
    with pytest.raises(SceneError, match=r"out: scene\.tif cannot be written: Is a directory"):
        publish(made(spool), out / "scene.tif")
    assert [path.name for path in out.iterdir()] == ["scene.tif"]


def test_a_missing_label_map_is_told(spool: Path, out: Path) -> None:
    with pytest.raises(SceneError, match=r"scene\.tif cannot be written: No such file"):
        publish(spool / "assembled.tif", out / "scene.tif")
    assert files_in(out) == []


def test_a_real_label_map_is_published_on_a_full_disk(small_disk: Path) -> None:
    """A new name takes no space: what was assembled can always be published."""
    folder = small_disk / "spool"
    path = write_label_map(random_labels(60, 70), folder)
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "other").write_bytes(bytes(2**23))
    publish(path, small_disk / "scene.tif")
    assert files_in(small_disk) == ["other", "scene.tif", "scene.tif.aux.xml"]
