"""One root for every error that a user can cause; each carries its fix."""

from __future__ import annotations

import sys
import warnings


class WorkbenchError(Exception):
    """Root of our errors. Both texts stand in `args`, so the error survives the trip between processes."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)

    @property
    def problem(self) -> str:
        """What is wrong, naming the file or value."""
        return str(self.args[0])

    @property
    def fix(self) -> str:
        """What to do about it."""
        return str(self.args[1])

    def __str__(self) -> str:
        return "{}\nFix: {}".format(*self.args)


class ConfigError(WorkbenchError):
    """A value or a combination of values that ORT would refuse or silently ignore."""


class ModelError(WorkbenchError):
    """A model file that cannot be read or that ORT cannot take."""


class InputError(WorkbenchError):
    """Inputs that do not fit the model."""


class DownloadError(WorkbenchError):
    """A model that could not be fetched."""


class BundleError(WorkbenchError):
    """A bundle that cannot be written or read."""


class HistoryError(WorkbenchError):
    """The history file cannot be written or read."""


class StorageError(WorkbenchError):
    """A folder for our own files that cannot be written, or whose disk is full; no config is at fault."""


class WorkerError(WorkbenchError):
    """A worker process that died, hung or could not be started."""


class ClusterError(WorkbenchError):
    """A Dask cluster that went away, or that has no worker for the work."""


class PrepareError(WorkbenchError):
    """A step before measuring that cannot be done on this model: which, why, what to change."""


class RunFailed(WorkbenchError):
    """ORT, or another engine, refused to load or to run the model."""


class DeployError(WorkbenchError):
    """A config that cannot be served, or a server that does not start or answer."""


class MissingPackage(WorkbenchError):
    """A package that measuring needs, in an environment that only reads results."""


class MetricError(WorkbenchError):
    """Labels that do not fit the outputs, or an error in a metric of the user's own."""


class ProfileError(WorkbenchError):
    """A file that is no trace of ONNX Runtime, or that cannot be read; damage inside a trace is a note."""


class Cancelled(WorkbenchError):
    """The user stopped the work before it had an answer."""


def warn_user(message: str) -> None:
    """Warn at the line of the user's own code: the first caller outside of the workbench."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "workbench":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
