"""What native code writes to stderr is kept apart from what Python writes there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys
from pathlib import Path
from tiler.infer.native_output import native_output
output = native_output(Path(sys.argv[1]) if sys.argv[1:] else None)
os.write(2, b"first\\n")
output.forget()
os.write(2, b"second\\n")
print("from Python", file=sys.stderr)
print(repr(output.text()))
assert native_output() is output
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )


def test_native_words_are_caught_and_pythons_go_on() -> None:
    done = run()
    assert done.stdout == "'second\\n'\n"
    assert done.stderr == "from Python\n"


def test_a_named_file_outlives_its_process(tmp_path: Path) -> None:
    run(str(tmp_path / "native.log"))
    assert (tmp_path / "native.log").read_text() == "second\n"
