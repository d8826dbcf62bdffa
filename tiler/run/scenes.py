"""Which files a job labels, and where each label map goes."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tiler.errors import JobError
from tiler.job.load import LoadedJob
from tiler.run.manifest import manifest_path

# Path.exists and Path.is_dir raise where a folder may not be entered or a name is too long;
# os.path answers no, and opening the scene then tells what is wrong with it.
# ruff: noqa: PTH100, PTH110, PTH112, PTH118, PTH207, PTH208

log = logging.getLogger("tiler")

# What is taken from a folder that a job names; a file named itself may have any name.
RASTER_SUFFIXES = (
    *(".tif", ".tiff", ".gtiff", ".vrt", ".jp2", ".j2k", ".img", ".jpg", ".jpeg", ".png"),
    *(".nc", ".h5", ".hdf", ".hdf5", ".he5", ".grb", ".grib", ".grb2", ".grib2", ".webp"),
    *(".bil", ".bip", ".bsq", ".dat", ".ntf", ".nitf", ".pix", ".ecw", ".zarr"),
)
# What lies beside a raster: never a scene, though a glob like `*` finds it. GDAL's own files,
# world files, and the metadata that vendors deliver (RPCs, IMD, headers).
SIDE_SUFFIXES = (
    *(".aux.xml", ".aux", ".ovr", ".msk", ".rrd", ".ige", ".prj", ".hdr", ".points"),
    *(".tfw", ".tifw", ".tiffw", ".jgw", ".jpgw", ".jpegw", ".pgw", ".pngw", ".j2w", ".wld"),
    *(".rpb", ".rpc", "_rpc.txt", ".imd", ".til", ".att", ".eph", ".geo", ".tab"),
)


def find_scenes(job: LoadedJob, only: Sequence[str] = ()) -> dict[Path, Path]:
    """The job's scenes, each with the path of its label map, in a stable order.

    A path that the job names literally is a scene whether it exists or not, so that a missing
    file is reported. What folders and globs find is no scene where it is a label map of this
    job, or lies beside a raster. `only` (globs over file names or whole paths) narrows the
    choice.

    Raises JobError where nothing is found, where two scenes would share one label map, or where
    a label map would overwrite a scene.
    """
    found, named = _included(job)
    outputs = {scene: job.output_dir / _output_name(job, scene) for scene in found}
    products = _Products(outputs)
    kept = [s for s in found if s in named or not products.hold(s)]
    excluded = _Excluded(job)
    scenes = {s: outputs[s] for s in kept if not excluded.hold(s)}
    if not scenes:
        raise JobError(f"{job.path}: {_nothing_left(job, len(found), len(kept))}")
    _refuse_overwriting(job, scenes)
    _refuse_shared_outputs(job, scenes)
    if not only:
        return scenes
    chosen = {s: o for s, o in scenes.items() if _matches_any(s, only)}
    if not chosen:
        raise JobError(f"--scene {' '.join(only)}: matches none of the {len(scenes)} scenes")
    return chosen


def _included(job: LoadedJob) -> tuple[list[Path], set[Path]]:
    """What `scenes.include` finds, each once, and which of it is named literally."""
    found: dict[Path, None] = {}
    named: set[Path] = set()
    empty: list[str] = []
    for entry, as_written in zip(job.include, job.job.scenes.include, strict=True):
        if _is_folder(entry):
            here = _in_folder(job, entry)
        elif _is_literal(entry):
            here = [Path(entry)]
            named.update(here)
        else:
            here = _by_glob(job, entry)
        if not here:
            empty.append(as_written)
        found.update(dict.fromkeys(here))
    if found:
        for as_written in empty:
            log.warning("%s: scenes.include: %s finds no scene", job.path, as_written)
    return list(found), named


def _in_folder(job: LoadedJob, folder: str) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise JobError(
            f"{job.path}: scenes.include: {folder} cannot be read: {error.strerror}"
        ) from None
    return [p for p in (Path(folder, n) for n in names) if _is_raster_name(p) and not _is_folder(p)]


def _by_glob(job: LoadedJob, pattern: str) -> list[Path]:
    """Files; of a pattern that ends in a slash, what lies in the folders that it finds."""
    paths = sorted(_glob(pattern))
    if pattern.endswith("/"):
        return [p for folder in paths if _is_folder(folder) for p in _in_folder(job, str(folder))]
    return [p for p in paths if not _is_folder(p) and not _is_beside(p)]


def _is_literal(entry: str) -> bool:
    """A name that exists is taken as it stands, brackets and all."""
    return os.path.lexists(entry) or not glob.has_magic(entry)


def _glob(pattern: str) -> Iterator[Path]:
    """What a pattern finds; folders in it that exist are taken as they stand, too."""
    path = Path(pattern)
    folder = next(p for p in path.parents if os.path.lexists(p) or p == p.parent)
    rest = f"{path.relative_to(folder)}{'/' if pattern.endswith('/') else ''}"
    return map(Path, glob.iglob(os.path.join(glob.escape(str(folder)), rest), recursive=True))


def _is_folder(path: str | Path) -> bool:
    """Whether this is a folder that may hold scenes, and isn't one itself."""
    markers = (".zgroup", ".zarray", "zarr.json")
    return os.path.isdir(path) and not any(os.path.exists(Path(path, m)) for m in markers)


def _is_raster_name(path: Path) -> bool:
    return path.suffix.lower() in RASTER_SUFFIXES and not path.name.startswith(".")


def _is_beside(path: Path) -> bool:
    return path.name.lower().endswith(SIDE_SUFFIXES)


class _Excluded:
    """What `scenes.exclude` leaves out: files, all that lies in a folder, and file names."""

    def __init__(self, job: LoadedJob) -> None:
        self._names = [entry for entry in job.job.scenes.exclude if "/" not in entry]
        self._paths = {
            path
            for entry in job.exclude
            for path in ([Path(entry)] if _is_literal(entry) else _glob(entry))
        }

    def hold(self, scene: Path) -> bool:
        return (
            scene in self._paths
            or not self._paths.isdisjoint(scene.parents)
            or any(_matches(scene.name, name) for name in self._names)
        )


def _matches(text: str, pattern: str) -> bool:
    return text == pattern or fnmatchcase(text, pattern)


def _matches_any(scene: Path, patterns: Iterable[str]) -> bool:
    """A pattern may be relative to where the command was given, as a shell completes it."""
    return any(
        _matches(text, p)
        for pattern in patterns
        for p in (pattern, os.path.abspath(pattern))
        for text in (str(scene), scene.name, scene.stem)
    )


def _output_name(job: LoadedJob, scene: Path) -> str:
    return job.job.output.name.format(
        stem=scene.stem, parent=scene.parent.name, ext=scene.suffix.lstrip(".")
    )


def _place(path: Path) -> Path:
    """The directory entry behind a path: links among its folders followed, itself not."""
    return Path(os.path.realpath(path.parent), path.name)


class _Products:
    """The files that a run leaves behind. A folder may hold both scenes and their label maps;
    the maps of an earlier run are not scenes of this one."""

    def __init__(self, outputs: dict[Path, Path]) -> None:
        self._makers: dict[Path, set[Path]] = {}
        for scene, output in outputs.items():
            for product in (output, output.with_suffix(".png"), manifest_path(output)):
                self._makers.setdefault(_place(product), set()).add(scene)

    def hold(self, scene: Path) -> bool:
        """Whether `scene` is made from another one."""
        return bool(self._makers.get(_place(scene), set()) - {scene})


def _nothing_left(job: LoadedJob, found: int, kept: int) -> str:
    include = ", ".join(job.job.scenes.include)
    if not found:
        return (
            f"scenes.include: found no scene for {include}. "
            "Give files, folders or globs, relative to the job file"
        )
    if not kept:
        return f"scenes.include: found only label maps of this job for {include}"
    return f"scenes.exclude: leaves out all {kept} scenes that scenes.include finds"


def _refuse_overwriting(job: LoadedJob, scenes: dict[Path, Path]) -> None:
    maker_of = {_place(output): scene for scene, output in scenes.items()}
    for scene in scenes:
        for place in (_place(scene), Path(os.path.realpath(scene))):
            if place in maker_of:
                maker = maker_of[place]
                whose = "its own label map" if maker == scene else f"the label map of {maker}"
                raise JobError(
                    f"{job.path}: output: {scene} would be overwritten by {whose}. "
                    "Choose another output.dir or output.name"
                )


def _refuse_shared_outputs(job: LoadedJob, scenes: dict[Path, Path]) -> None:
    scene_of: dict[Path, Path] = {}
    for scene, output in scenes.items():
        other = scene_of.setdefault(output, scene)
        if other != scene:
            raise JobError(
                f"{job.path}: output.name: {other} and {scene} would both be written to "
                f"{output.name}. Use {{parent}} or {{ext}} in it"
            )
