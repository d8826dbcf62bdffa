"""Every error that a user may see, and the exit code that it leads to.

Each carries one line: which file or key, what was found, what was expected, what to do.
"""


class TilerError(Exception):
    """A fault that is told in one line, without a traceback."""

    exit_code = 1


class SceneError(TilerError):
    """One scene cannot be labelled; the others go on."""


class JobError(TilerError):
    """The job, the model card or the command line is wrong; nothing was started."""

    exit_code = 2


class OverlapError(JobError):
    """Tile size and overlap leave no stride."""


class DeviceError(TilerError):
    """The device or the environment is unfit; nothing was started."""

    exit_code = 3


class LockedError(TilerError):
    """Another run holds the job. 75 is EX_TEMPFAIL of sysexits.h: try again later."""

    exit_code = 75


class InterruptedRunError(TilerError):
    """The run was told to stop. The code is 128 + the signal's number, as shells have it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number
        self.exit_code = 128 + signal_number
