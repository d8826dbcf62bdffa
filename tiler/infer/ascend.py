"""The Ascend runtime on this machine: libraries, devices, versions."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from tiler.errors import DeviceError
from tiler.infer.ascend_errors import ascend_error

# What the provider's library is linked against.
LIBRARIES = ("libascendcl.so", "libacl_op_compiler.so", "libfmk_onnx_parser.so")
# Where the provider's library looks besides the loader's own path: its RUNPATH.
_RUNPATH = Path("/usr/local/Ascend/ascend-toolkit/latest/lib64")
_DRIVER = Path("/usr/local/Ascend/driver/version.info")
_COUNT_TIMEOUT_S = 120
_OK = 0
_REPEAT_INITIALIZE = 100002

# For the processes that hold a device, to be set before they start.
WORKER_ENVIRONMENT = {
    # Or the runtime takes over SIGINT, SIGTERM and SIGSEGV.
    "ASCEND_COREDUMP_SIGNAL": "none",
    # Or `import torch`, by whatever library, loads torch_npu, which initialises the runtime.
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}


class Ascend:
    """The runtime's library, loaded into this process.

    Raises DeviceError with the loader's own message if a library is missing.
    """

    def __init__(self) -> None:
        loaded = [_load(name) for name in LIBRARIES]
        self._acl = loaded[0]
        self._acl.aclrtGetSocName.restype = ctypes.c_char_p
        self._acl.aclGetRecentErrMsg.restype = ctypes.c_char_p

    def soc(self) -> str:
        """The chip's name, such as Ascend910B3; the runtime must be initialised."""
        return (self._acl.aclrtGetSocName() or b"unknown").decode("ascii", "replace")

    def recent_message(self) -> str:
        """What the runtime says of the last failure in this thread; "" if nothing."""
        return (self._acl.aclGetRecentErrMsg() or b"").decode("utf-8", "replace").strip()

    def why_not_initialised(self) -> str | None:
        """The failure of aclInit in words; None if it works.

        The provider loses the code: shutting down after the failure overwrites it.
        """
        code = self._acl.aclInit(None)
        if code in (_OK, _REPEAT_INITIALIZE):
            return None
        message = self.recent_message()
        said = f'; the runtime says "{message}"' if message else ""
        return f"aclInit failed with {ascend_error(str(code))}{said}"

    def versions(self) -> dict[str, str]:
        """The chip, and versions of the toolkit and the driver as far as files tell."""
        found = {"SoC": self.soc(), "CANN": _toolkit_version(), "driver": _version_in(_DRIVER)}
        return {name: version for name, version in found.items() if version is not None}

    def toolkit(self) -> str:
        """What tells one toolkit from another: its version, else its library's place and time."""
        version = _toolkit_version()
        if version is not None:
            return version
        return "; ".join(f"{p} {p.stat().st_mtime_ns}" for p in _loaded_from())


def count_ascend_devices() -> int:
    """How many devices the runtime shows, asked in a process of its own.

    Raises DeviceError if it can't be asked.
    """
    # Not in this process: initialising the runtime here would stay, and threads with it.
    script = Path(__file__).with_name("ascend_count.py")
    command = [sys.executable, "-I", str(script), *map(str, (_RUNPATH, *LIBRARIES[:1]))]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_COUNT_TIMEOUT_S,
            env={**os.environ, **WORKER_ENVIRONMENT},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(
            f"cann: the runtime did not tell its devices within {_COUNT_TIMEOUT_S} s; "
            "check npu-smi info"
        ) from None
    told = done.stdout.split(maxsplit=1)
    if done.returncode != 0 or not told:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise DeviceError(f"cann: the devices cannot be counted: {last}")
    if told[0] == "missing":
        raise DeviceError(_missing(told[1].strip()))
    if told[0] == "failed":
        call, code = told[1].split()
        raise DeviceError(f"cann: {call} failed with {ascend_error(code)}")
    return int(told[0])


def _load(name: str) -> ctypes.CDLL:
    path = _RUNPATH / name
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        message = str(error)
    if path.exists():
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            message = str(error)
    raise DeviceError(_missing(message))


def _missing(message: str) -> str:
    return (
        f"cann: the Ascend runtime cannot be loaded: {message}. Install the CANN toolkit and "
        "source its set_env.sh before starting, or use device.provider cpu"
    )


def _toolkit_version() -> str | None:
    """From the folder that libascendcl.so was loaded from, else where the environment points."""
    roots = [folder for path in _loaded_from() for folder in path.resolve().parents[:4]]
    named = (os.environ.get(n) for n in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH"))
    roots += [Path(n) for n in named if n]
    for root in roots:
        for below in (".", f"{platform.machine()}-linux"):
            for file in sorted((root / below).glob("ascend_*_install.info")):
                if (version := _version_in(file)) is not None:
                    return version
    return None


def _loaded_from() -> list[Path]:
    """The file that this process has loaded as libascendcl.so."""
    try:
        maps = Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return []
    found = re.findall(r"(/\S*/libascendcl\.so\S*)$", maps, re.MULTILINE)
    return [Path(path) for path in dict.fromkeys(found)]


def _version_in(file: Path) -> str | None:
    """The value of `version=` in a file, None if there is none."""
    try:
        found = re.search(r"^version=(\S+)", file.read_text(errors="replace"), re.M | re.I)
    except OSError:
        return None
    return found[1] if found else None
