"""Runs that were recorded on a machine with a GPU; where there are none, stand-ins that say so themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sample_models import FOLDER
from workbench.core.bundle.display import data_frame, to_table
from workbench.core.errors import WorkbenchError
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    import pandas as pd

SHIPPED = FOLDER / "recorded"
STAND_IN = "stand-in-"  # begins the files that benchmarks.gpu made without a GPU
_HOW = (
    "On a machine with an NVIDIA GPU, `python -m benchmarks.gpu -o gpu` in a clone of the workbench records "
    "runs in about ten minutes; put its folder beside this notebook, and this cell displays them instead."
)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One bundle: its file, what it says, and what its record names."""

    file: str
    text: str
    providers: tuple[str, ...] = ()  # those that computed; where the record has no runs, those asked for
    gpus: tuple[str, ...] = ()
    cpu: str = ""
    opened: bool = True

    @property
    def on_gpu(self) -> bool:
        """Whether the record names a GPU, and the file is no stand-in."""
        return bool(self.gpus) and not self.is_stand_in

    @property
    def is_stand_in(self) -> bool:
        """Whether the benchmark ran in place of a GPU's."""
        return self.file.startswith(STAND_IN)

    def row(self) -> tuple[str, str, str, str]:
        """Return the texts of its row in a table."""
        gpus = ", ".join(self.gpus) or ("none" if self.opened else "not known")
        return self.file, self.text, ", ".join(self.providers) or "not known", gpus


@dataclass(frozen=True, slots=True, repr=False)
class GpuRuns:
    """The recorded runs of a folder, or the shipped ones. Made by `gpu_runs`."""

    folder: str
    runs: tuple[RecordedRun, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a bundle; columns file, text, ran_on, gpu."""
        return data_frame([run.row() for run in self.runs], columns=["file", "text", "ran_on", "gpu"])

    def __repr__(self) -> str:
        rows = [run.row() for run in self.runs]
        lines = [f"{file} ({ran_on}; GPU: {gpu}): {text}" for file, text, ran_on, gpu in rows]
        return "\n".join([self.headline(), *lines])

    def headline(self) -> str:
        """Return in a sentence where the runs were recorded, as their records have it."""
        real = [run for run in self.runs if run.on_gpu]
        if real:
            return f"{counted(len(real), 'run')} recorded on {_names(run.gpus for run in real)}."
        opened = [run for run in self.runs if run.opened]
        if not opened:
            return f"No recorded GPU run in {self.folder}. {_HOW}"
        gpus = _names(run.gpus for run in opened) or "no GPU"
        return (
            f"No run of a GPU is recorded. These are {len(opened)} stand-ins, and their records name {gpus}, "
            f"the processor {_names((run.cpu,) for run in opened)}, and as providers "
            f"{_names(run.providers for run in opened)}. They have the shape of what a GPU would give; no "
            f"figure in them says anything about one. {_HOW}"
        )

    def _repr_html_(self) -> str:
        rows = [run.row() for run in self.runs] or [("none", "", "", "")]
        table = to_table(("file", "result", "ran on", "GPU"), rows, "recorded GPU runs", left=True)
        return f"<p>{escape(self.headline())}</p>{table}"


def gpu_runs(folder: str | Path = "gpu") -> GpuRuns:
    """Read what `python -m benchmarks.gpu` recorded in a folder, and what comes with the workbench.

    Without a run of a GPU these are stand-ins, made on the CPU: the benchmark's parts, and no GPU's figures.

    >>> from workbench import course
    >>> len(course.gpu_runs("no such folder").runs) > 0
    True
    """
    own = [_recorded(file) for file in sorted(Path(folder).glob("*.ortbench"))]
    shipped = [_recorded(file) for file in sorted(SHIPPED.glob("*.ortbench"))]
    runs = [*own, *(run for run in shipped if run.on_gpu or run.is_stand_in)]
    if any(run.on_gpu for run in runs):
        runs = [run for run in runs if run.on_gpu or not run.opened]
    return GpuRuns(one_line(str(folder), 60), tuple(runs))


def _recorded(file: Path) -> RecordedRun:
    from workbench.features.compare.call import open as open_bundle

    name = one_line(file.name, 60)
    try:
        result = open_bundle(file)
    except WorkbenchError as error:
        return RecordedRun(name, f"cannot be opened: {error.problem}", opened=False)
    text, machine = one_line(str(result).splitlines()[0], 160), result.about.machine
    gpus, cpu = (machine.gpus, machine.cpu) if machine else ((), "")
    return RecordedRun(name, text, _providers(result), tuple(gpu.name for gpu in gpus), cpu)


def _providers(result: Any) -> tuple[str, ...]:
    record, config = getattr(result, "record", None), result.about.config
    runs = getattr(getattr(record, "comparison", record), "runs", ())
    names = [name for run in runs for name in run.providers]
    if not names and config is not None:
        names = [provider.name for provider in config.providers]
    return tuple(dict.fromkeys(name.removesuffix("ExecutionProvider") for name in names))


def _names(groups: Iterator[tuple[str, ...]]) -> str:
    return ", ".join(dict.fromkeys(name for group in groups for name in group if name))
