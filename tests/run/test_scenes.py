"""Which files a job labels, and where each label map goes."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tiler.errors import JobError
from tiler.job.load import LoadedJob, load_job
from tiler.run.manifest import manifest_path
from tiler.run.scenes import find_scenes


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def job_in(
    folder: Path, include: Sequence[str], exclude: Sequence[str] = (), **output: Any
) -> LoadedJob:
    """A job in `folder` that writes to `out` in it."""
    content = {
        "version": 1,
        "scenes": {"include": list(include), "exclude": list(exclude)},
        "model": "card.yaml",
        "device": {"provider": "cpu"},
        "output": {"dir": "out", **output},
    }
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(content))
    return load_job(path)


def names(folder: Path, scenes: dict[Path, Path]) -> list[str]:
    return [os.path.relpath(scene, folder) for scene in scenes]


def found(folder: Path, include: Sequence[str], exclude: Sequence[str] = ()) -> list[str]:
    """The scenes of a job, as paths from `folder`."""
    return names(folder, find_scenes(job_in(folder, include, exclude)))


def refusal(job: LoadedJob, only: Sequence[str] = ()) -> str:
    with pytest.raises(JobError) as error:
        find_scenes(job, only)
    return str(error.value)


# What is found


def test_a_scene_goes_to_a_label_map_named_after_it(tmp_path: Path) -> None:
    touch(tmp_path, "a.tif")
    scenes = find_scenes(job_in(tmp_path, ["a.tif"]))
    assert scenes == {tmp_path / "a.tif": tmp_path / "out" / "a_labels.tif"}


def test_the_name_of_a_label_map_may_have_the_scenes_stem_folder_and_ending(
    tmp_path: Path,
) -> None:
    touch(tmp_path, "may/a.b.jp2")
    job = job_in(tmp_path, ["may/a.b.jp2"], name="{parent}-{stem}-{ext}.tif")
    assert list(find_scenes(job).values()) == [tmp_path / "out" / "may-a.b-jp2.tif"]


def test_braces_in_a_scenes_name_are_no_fields(tmp_path: Path) -> None:
    touch(tmp_path, "{ext}.tif")
    scenes = find_scenes(job_in(tmp_path, ["{ext}.tif"]))
    assert list(scenes.values()) == [tmp_path / "out" / "{ext}_labels.tif"]


def test_scenes_come_in_the_order_of_the_job_and_by_name_within_an_entry(tmp_path: Path) -> None:
    touch(tmp_path, "z.tif", "some/b.tif", "some/a.tif", "some/c.vrt")
    assert found(tmp_path, ["z.tif", "some/*.tif", "some"]) == [
        *("z.tif", "some/a.tif", "some/b.tif", "some/c.vrt")
    ]


def test_a_scene_that_two_entries_find_is_one_scene(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/b.tif")
    assert found(tmp_path, ["s/b.tif", "s", "s/*.tif", "s/../s/a.tif"]) == ["s/b.tif", "s/a.tif"]


def test_a_path_that_is_not_there_stays_a_scene_so_that_it_is_reported(tmp_path: Path) -> None:
    touch(tmp_path, "a.tif")
    assert found(tmp_path, ["a.tif", "gone.tif"]) == ["a.tif", "gone.tif"]


def test_a_file_named_itself_may_have_any_name(tmp_path: Path) -> None:
    touch(tmp_path, "scene", ".hidden.xyz", "odd.aux.xml")
    assert found(tmp_path, ["scene", ".hidden.xyz", "odd.aux.xml"]) == [
        *("scene", ".hidden.xyz", "odd.aux.xml")
    ]


def test_a_folder_stands_for_the_rasters_directly_in_it(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.TIF", "s/b.jp2", "s/readme.md", "s/.c.tif", "s/deep/d.tif")
    touch(tmp_path, "s/folder.tif/inside.tif")
    assert found(tmp_path, ["s"]) == ["s/a.TIF", "s/b.jp2"]


def test_a_zarr_store_is_a_scene_though_it_is_a_folder(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.zarr/.zgroup", "s/b.zarr/zarr.json", "s/empty.zarr/x")
    assert found(tmp_path, ["s"]) == ["s/a.zarr", "s/b.zarr"]
    assert found(tmp_path, ["s/*.zarr"]) == ["s/a.zarr", "s/b.zarr"]
    assert found(tmp_path, ["s/a.zarr"]) == ["s/a.zarr"]


def test_a_star_stays_in_its_folder_and_two_go_down(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/x/b.tif", "s/x/y/c.tif")
    assert found(tmp_path, ["s/*.tif"]) == ["s/a.tif"]
    assert found(tmp_path, ["s/*/*.tif"]) == ["s/x/b.tif"]
    assert found(tmp_path, ["s/**/*.tif"]) == ["s/a.tif", "s/x/b.tif", "s/x/y/c.tif"]


def test_a_glob_that_ends_in_a_slash_finds_folders(tmp_path: Path) -> None:
    touch(tmp_path, "s-1/a.tif", "s-1/notes.md", "s-2/b.tif", "s-2/deep/c.tif", "s-3.tif")
    assert found(tmp_path, ["s-*/"]) == ["s-1/a.tif", "s-2/b.tif"]


def test_globs_know_question_marks_and_brackets(tmp_path: Path) -> None:
    touch(tmp_path, "s1.tif", "s2.tif", "s12.tif")
    assert found(tmp_path, ["s?.tif"]) == ["s1.tif", "s2.tif"]
    assert found(tmp_path, ["s[2-9].tif"]) == ["s2.tif"]


def test_a_name_with_brackets_that_exists_is_no_glob(tmp_path: Path) -> None:
    touch(tmp_path, "a[1].tif", "a1.tif")
    assert found(tmp_path, ["a[1].tif"]) == ["a[1].tif"]


def test_a_glob_works_below_folders_with_brackets_in_their_names(tmp_path: Path) -> None:
    touch(tmp_path, "[2024]/deep [x]/a.tif", "[2024]/b.tif", "2/c.tif")
    assert found(tmp_path, ["[2024]/*/*.tif"]) == ["[2024]/deep [x]/a.tif"]
    assert found(tmp_path, ["[2024]/deep [x]/*.tif"]) == ["[2024]/deep [x]/a.tif"]
    assert found(tmp_path / "[2024]", ["*.tif"]) == ["b.tif"]


def test_a_link_to_nowhere_is_a_scene_so_that_it_is_reported(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif")
    (tmp_path / "s" / "broken.tif").symlink_to("nowhere.tif")
    both = ["s/a.tif", "s/broken.tif"]
    assert found(tmp_path, ["s"]) == both
    assert found(tmp_path, ["s/*.tif"]) == both


@pytest.mark.parametrize(
    "name",
    [
        *("a.tif.aux.xml", "a.tif.ovr", "a.tif.msk", "a.tfw", "a.TFW", "a.prj", "a.hdr", "a.wld"),
        *("a.RPB", "a_RPC.TXT", "a.IMD", "a.jgw", "a.pgw"),
    ],
)
def test_what_lies_beside_a_raster_is_no_scene(tmp_path: Path, name: str) -> None:
    touch(tmp_path, "s/a.tif", f"s/{name}")
    assert found(tmp_path, ["s/*"]) == ["s/a.tif"]
    assert found(tmp_path, ["s/**"]) == ["s/a.tif"]
    assert found(tmp_path, ["s"]) == ["s/a.tif"]


def test_an_entry_that_finds_nothing_beside_others_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    touch(tmp_path, "a.tif")
    with caplog.at_level(logging.WARNING):
        assert found(tmp_path, ["a.tif", "*.jp2"]) == ["a.tif"]
    assert f"{tmp_path}/job.yaml: scenes.include: *.jp2 finds no scene" in caplog.text


def test_a_folder_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s").mkdir()

    def refuse(folder: str) -> list[str]:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr(os, "listdir", refuse)
    assert refusal(job_in(tmp_path, ["s"])) == (
        f"{tmp_path}/job.yaml: scenes.include: {tmp_path}/s cannot be read: Permission denied"
    )


def test_a_name_longer_than_names_can_be_is_a_missing_scene(tmp_path: Path) -> None:
    name = "x" * 300 + ".tif"
    assert found(tmp_path, [name]) == [name]


# What is left out


def test_files_folders_and_globs_can_be_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/b.tif", "s/old/c.tif", "s/old/deep/d.tif", "s/new/e.tif")
    everything = ["s/**/*.tif"]
    assert found(tmp_path, everything, ["s/a.tif", "s/old"]) == ["s/b.tif", "s/new/e.tif"]
    assert found(tmp_path, everything, ["s/*/"]) == ["s/a.tif", "s/b.tif"]
    assert found(tmp_path, everything, ["s/**/[a-d].tif"]) == ["s/new/e.tif"]


def test_a_glob_without_a_slash_leaves_out_file_names_wherever_they_lie(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/a_cloudy.tif", "s/x/b_cloudy.tif", "s/x/b.tif")
    assert found(tmp_path, ["s/**/*.tif"], ["*_cloudy.tif"]) == ["s/a.tif", "s/x/b.tif"]
    assert found(tmp_path, ["s/**/*.tif"], ["b.tif", "?_cloudy.tif"]) == ["s/a.tif"]


def test_a_glob_with_a_slash_leaves_out_only_what_it_finds(tmp_path: Path) -> None:
    touch(tmp_path, "s/a_cloudy.tif", "s/x/b_cloudy.tif")
    assert found(tmp_path, ["s/**/*.tif"], ["s/*_cloudy.tif"]) == ["s/x/b_cloudy.tif"]


def test_leaving_out_goes_before_naming(tmp_path: Path) -> None:
    touch(tmp_path, "a.tif", "b.tif")
    assert found(tmp_path, ["a.tif", "b.tif"], ["b.tif"]) == ["a.tif"]


def test_a_missing_scene_can_be_left_out_too(tmp_path: Path) -> None:
    touch(tmp_path, "a.tif")
    assert found(tmp_path, ["a.tif", "s/gone.tif"], ["s"]) == ["a.tif"]


# Label maps of this job


def test_what_an_earlier_run_made_is_no_scene(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif")
    job = job_in(tmp_path, ["s"], dir="s", quicklook=True)
    first = find_scenes(job)
    (output,) = first.values()
    assert output == tmp_path / "s" / "a_labels.tif"
    touch(tmp_path / "s", "a_labels.tif", "a_labels.png", manifest_path(output).name)
    assert find_scenes(job) == first
    assert find_scenes(job_in(tmp_path, ["s/*"], dir="s")) == first


def test_what_an_earlier_run_made_of_a_scene_now_left_out_is_no_scene(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/a_labels.tif", "s/b.tif")
    job = job_in(tmp_path, ["s/*.tif"], ["s/a.tif"], dir="s")
    assert names(tmp_path, find_scenes(job)) == ["s/b.tif"]


def test_a_job_with_one_fixed_name_can_run_twice(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/labels.tif")
    job = job_in(tmp_path, ["s"], dir="s", name="labels.tif")
    assert names(tmp_path, find_scenes(job)) == ["s/a.tif"]


def test_a_scene_that_looks_like_a_label_map_of_none_is_a_scene(tmp_path: Path) -> None:
    touch(tmp_path, "s/x_labels.tif")
    job = job_in(tmp_path, ["s"], dir="s")
    assert names(tmp_path, find_scenes(job)) == ["s/x_labels.tif"]


def test_an_output_folder_behind_a_link_is_known_again(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/a_labels.tif")
    (tmp_path / "link").symlink_to("s")
    job = job_in(tmp_path, ["s"], dir="link")
    assert names(tmp_path, find_scenes(job)) == ["s/a.tif"]


# What is refused


def test_a_scene_is_not_overwritten_by_its_own_map(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif")
    assert refusal(job_in(tmp_path, ["s"], dir="s", name="{stem}.tif")) == (
        f"{tmp_path}/job.yaml: output: {tmp_path}/s/a.tif would be overwritten by its own label "
        "map. Choose another output.dir or output.name"
    )


def test_a_scene_is_not_overwritten_through_links(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif")
    (tmp_path / "folder").symlink_to("s")
    (tmp_path / "a.tif").symlink_to("s/a.tif")
    for include, out in ((["s"], "folder"), (["folder"], "s"), (["a.tif"], "s")):
        told = refusal(job_in(tmp_path, include, dir=out, name="{stem}.tif"))
        assert "would be overwritten by its own label map" in told


def test_a_scene_that_is_named_is_not_overwritten_by_the_map_of_another(tmp_path: Path) -> None:
    touch(tmp_path, "a.tif", "a_labels.tif")
    job = job_in(tmp_path, ["a.tif", "a_labels.tif"], dir=".")
    assert f"{tmp_path}/a_labels.tif would be overwritten by the label map of" in refusal(job)


def test_two_scenes_do_not_share_a_label_map(tmp_path: Path) -> None:
    touch(tmp_path, "x/a.tif", "y/a.tif")
    assert refusal(job_in(tmp_path, ["*/a.tif"])) == (
        f"{tmp_path}/job.yaml: output.name: {tmp_path}/x/a.tif and {tmp_path}/y/a.tif would both "
        "be written to a_labels.tif. Use {parent} or {ext} in it"
    )
    job = job_in(tmp_path, ["*/a.tif"], name="{parent}_{stem}.tif")
    assert len(find_scenes(job)) == 2


def test_nothing_found_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert refusal(job_in(tmp_path, ["*.tif", "empty"])) == (
        f"{tmp_path}/job.yaml: scenes.include: found no scene for *.tif, empty. "
        "Give files, folders or globs, relative to the job file"
    )


def test_everything_left_out_is_told(tmp_path: Path) -> None:
    touch(tmp_path, "a.tif", "b.tif")
    assert refusal(job_in(tmp_path, ["*.tif"], ["*"])) == (
        f"{tmp_path}/job.yaml: scenes.exclude: leaves out all 2 scenes that scenes.include finds"
    )


# --scene


@pytest.mark.parametrize("pattern", ["b.tif", "b", "b*", "*/s/b.tif", "[b].tif"])
def test_the_choice_is_narrowed_by_names_and_paths(tmp_path: Path, pattern: str) -> None:
    touch(tmp_path, "s/a.tif", "s/b.tif", "s/c.tif")
    scenes = find_scenes(job_in(tmp_path, ["s"]), [pattern])
    assert names(tmp_path, scenes) == ["s/b.tif"]


def test_several_patterns_choose_what_any_of_them_matches(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/b.tif", "s/c.tif")
    scenes = find_scenes(job_in(tmp_path, ["s"]), ["c.tif", "a.tif", "nothing"])
    assert names(tmp_path, scenes) == ["s/a.tif", "s/c.tif"]


def test_a_path_from_the_working_directory_chooses_its_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "s/a.tif", "s/b.tif", "elsewhere/x")
    monkeypatch.chdir(tmp_path / "elsewhere")
    scenes = find_scenes(job_in(tmp_path, ["s"]), ["../s/b.tif"])
    assert names(tmp_path, scenes) == ["s/b.tif"]


def test_a_name_with_brackets_chooses_its_scene(tmp_path: Path) -> None:
    touch(tmp_path, "s/a[1].tif", "s/a1.tif")
    scenes = find_scenes(job_in(tmp_path, ["s"]), ["a[1].tif"])
    assert "s/a[1].tif" in names(tmp_path, scenes)


def test_a_pattern_that_matches_none_is_told(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/b.tif")
    job = job_in(tmp_path, ["s"])
    assert refusal(job, ["c.tif"]) == "--scene c.tif: matches none of the 2 scenes"


def test_what_is_not_chosen_still_counts_when_label_maps_would_collide(tmp_path: Path) -> None:
    touch(tmp_path, "s/a.tif", "s/a.jp2")
    assert "would both be written" in refusal(job_in(tmp_path, ["s"]), ["a.jp2"])
