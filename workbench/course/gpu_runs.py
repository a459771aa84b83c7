"""Runs that were recorded on a machine with a GPU, as far as there are any."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.records.display import to_table
from workbench.text import one_line

if TYPE_CHECKING:
    import pandas as pd

STAND_IN = "stand-in-"  # begins the files that benchmarks.gpu made without a GPU
NO_RUN = (
    "No recorded GPU run in {folder}. On a machine with an NVIDIA GPU, `python -m benchmarks.gpu -o gpu` in "
    "a clone of the workbench makes one in about ten minutes; put its folder beside this notebook."
)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One bundle: its file, what it says, and where it ran."""

    file: str
    text: str
    gpu: str


@dataclass(frozen=True, slots=True, repr=False)
class GpuRuns:
    """The recorded runs of a folder. Made by `gpu_runs`."""

    folder: str
    runs: tuple[RecordedRun, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a bundle; columns file, text, gpu."""
        import pandas as pd

        rows = [(run.file, run.text, run.gpu) for run in self.runs]
        return pd.DataFrame(rows, columns=["file", "text", "gpu"])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.runs:
            return NO_RUN.format(folder=self.folder)
        return "\n".join(f"{run.file} ({run.gpu}): {run.text}" for run in self.runs)

    def _repr_html_(self) -> str:
        if not self.runs:
            return (
                f"<table><tr><th>recorded GPU runs</th><td>none</td></tr></table><p>{escape(str(self))}</p>"
            )
        rows = [(run.file, run.text, run.gpu) for run in self.runs]
        return to_table(("file", "result", "GPU"), rows, "recorded GPU runs")


def gpu_runs(folder: str | Path = "gpu") -> GpuRuns:
    """Read what `python -m benchmarks.gpu` recorded; bundles that it made without a GPU are left out.

    >>> from workbench import course
    >>> len(course.gpu_runs("no such folder").runs)
    0
    """
    files = sorted(Path(folder).glob("*.ortbench"))
    runs = tuple(_recorded(file) for file in files if not file.name.startswith(STAND_IN))
    return GpuRuns(one_line(str(folder), 60), runs)


def _recorded(file: Path) -> RecordedRun:
    from workbench.api.comparing import open as open_bundle

    name = one_line(file.name, 60)
    try:
        result = open_bundle(file)
    except WorkbenchError as error:
        return RecordedRun(name, f"cannot be opened: {error.problem}", "not known")
    machine = result.about.machine
    gpus = ", ".join(gpu.name for gpu in machine.gpus) if machine is not None else ""
    return RecordedRun(name, one_line(str(result).splitlines()[0], 160), gpus or "no GPU")
