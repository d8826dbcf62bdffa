"""Prints how many Ascend devices there are. A script that is run, in a process of its own.

Arguments: a folder to look in besides the loader's path, and the library's name. Prints a number,
`missing MESSAGE` if the library can't be loaded, or `failed CALL CODE`.
"""

import ctypes
import os
import sys


def main(folder: str, name: str) -> str:
    """What is printed."""
    try:
        acl = ctypes.CDLL(name)
    except OSError as error:
        path = os.path.join(folder, name)  # noqa: PTH118
        if not os.path.exists(path):  # noqa: PTH110
            return f"missing {error}"
        try:
            acl = ctypes.CDLL(path)
        except OSError as other:
            return f"missing {other}"
    code = acl.aclInit(None)
    if code != 0:
        return f"failed aclInit {code}"
    count = ctypes.c_uint32()
    code = acl.aclrtGetDeviceCount(ctypes.byref(count))
    return f"failed aclrtGetDeviceCount {code}" if code != 0 else str(count.value)


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2]))
