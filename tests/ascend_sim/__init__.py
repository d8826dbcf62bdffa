"""A stand-in for the Ascend runtime, for the real onnxruntime-cann wheels: see README.md.

- `build.build` makes the libraries, `environment.environment` the environment of a process that
  finds them, `trace.read_trace` reads what the process did with its devices.
- `fixtures` has the pytest fixtures; `python -m tests.ascend_sim -- COMMAND` runs a command on it.
"""
