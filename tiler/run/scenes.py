"""Which files a job labels, and where each label map goes."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from tiler.errors import JobError
from tiler.job.load import LoadedJob

# What is taken from a folder that a job names; a file named itself may have any name.
RASTER_SUFFIXES = (
    *(".tif", ".tiff", ".gtiff", ".vrt", ".jp2", ".j2k", ".img", ".jpg", ".jpeg", ".png"),
    *(".nc", ".h5", ".hdf", ".hdf5", ".he5", ".grb", ".grib", ".grb2", ".grib2", ".webp"),
    *(".bil", ".bip", ".bsq", ".dat", ".ntf", ".nitf", ".pix", ".ecw", ".zarr"),
)
# What GDAL keeps beside a raster: never a scene, though a glob like `*` finds it.
SIDECAR_SUFFIXES = (".aux.xml", ".ovr", ".msk", ".tfw", ".tifw", ".jgw", ".pgw", ".wld", ".prj")


def find_scenes(job: LoadedJob, only: Sequence[str] = ()) -> dict[Path, Path]:
    """The job's scenes, each with the path of its label map, in a stable order.

    A path that the job names literally is a scene whether it exists or not, so that a missing
    file is reported. `only` (globs over file names or whole paths) narrows the choice.

    Raises JobError where nothing is found, or where two scenes would share one label map.
    """
    found = dict.fromkeys(p for entry in job.include for p in _expand(entry))
    excluded = {p for entry in job.exclude for p in _expand(entry)}
    scenes = [p for p in found if p not in excluded and not _matches(p, job.exclude)]
    outputs = {p: job.output_dir / _output_name(job, p) for p in scenes}
    for scene, output in outputs.items():
        if output == scene:
            raise JobError(
                f"{job.path}: output: {scene} would be overwritten by its own label map. "
                "Choose another output.dir or output.name"
            )
    # A folder may hold both the scenes and their label maps; the maps of an earlier run are
    # not scenes of this one.
    products = set(outputs.values())
    outputs = {scene: output for scene, output in outputs.items() if scene not in products}
    if not outputs:
        raise JobError(
            f"{job.path}: scenes.include: found no scene for {', '.join(job.job.scenes.include)}. "
            "Give files, folders or globs, relative to the job file"
        )
    _refuse_shared_outputs(job, outputs)
    if not only:
        return outputs
    chosen = {s: o for s, o in outputs.items() if _matches(s, only)}
    if not chosen:
        raise JobError(f"--scene {' '.join(only)}: matches none of the {len(outputs)} scenes")
    return chosen


def _expand(entry: str) -> Iterator[Path]:
    """Scenes behind one entry; a name that exists is taken as it stands, brackets and all."""
    path = Path(entry)
    if path.is_dir() and not _is_zarr(path):
        yield from sorted(p for p in path.iterdir() if _is_raster_name(p))
    elif path.exists() or not glob.has_magic(entry):
        yield path
    else:
        # Not Path.glob: a pattern here is absolute, and may have its glob anywhere.
        found = glob.iglob(entry, recursive=True)  # noqa: PTH207
        yield from sorted(Path(p) for p in found if _is_scene(Path(p)))


def _is_scene(path: Path) -> bool:
    return (path.is_file() or _is_zarr(path)) and not path.name.lower().endswith(SIDECAR_SUFFIXES)


def _is_raster_name(path: Path) -> bool:
    return path.suffix.lower() in RASTER_SUFFIXES and not path.name.startswith(".")


def _is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / n).exists() for n in (".zgroup", ".zarray", "zarr.json"))


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    return any(
        fnmatch(str(path), p) or fnmatch(path.name, p) or fnmatch(path.stem, p) for p in patterns
    )


def _output_name(job: LoadedJob, scene: Path) -> str:
    return job.job.output.name.format(
        stem=scene.stem, parent=scene.parent.name, ext=scene.suffix.lstrip(".")
    )


def _refuse_shared_outputs(job: LoadedJob, outputs: dict[Path, Path]) -> None:
    scene_of: dict[Path, Path] = {}
    for scene, output in outputs.items():
        other = scene_of.setdefault(output, scene)
        if other != scene:
            raise JobError(
                f"{job.path}: output.name: {other} and {scene} would both be written to "
                f"{output.name}. Use {{parent}} or {{ext}} in it"
            )
