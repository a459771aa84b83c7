"""Runs that were recorded on a machine with a GPU; where there are none, stand-ins that say so themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import workbench as wb
from sample_models import FOLDER
from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.errors import WorkbenchError
from workbench.core.html_table import html_table
from workbench.core.text import counted, one_line

SHIPPED = FOLDER / "recorded"
STAND_IN = "stand-in-"  # begins the files that benchmarks.gpu made without a GPU
_NOT_KNOWN = "not known"
_HOW = (
    "On a machine with an NVIDIA GPU, `python -m benchmarks.gpu -o gpu` in a clone of the workbench records "
    "runs in about ten minutes; put its folder beside this notebook, and this cell displays them instead."
)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One bundle: its file, what it says, and what its record names."""

    file: str
    text: str
    ran_on: str = _NOT_KNOWN  # the providers that computed; where the record has no runs, those asked for
    gpu: str = _NOT_KNOWN
    cpu: str | None = None  # None: the file cannot be opened

    @property
    def is_stand_in(self) -> bool:
        """Whether the benchmark ran in place of a GPU's."""
        return self.file.startswith(STAND_IN)

    @property
    def on_gpu(self) -> bool:
        """Whether the record names a GPU, and the file is no stand-in."""
        return self.gpu not in ("none", _NOT_KNOWN) and not self.is_stand_in


@dataclass(frozen=True, slots=True, repr=False)
class GpuRuns:
    """The recorded runs of a folder, or the shipped ones. Made by `gpu_runs`."""

    folder: str
    runs: tuple[RecordedRun, ...]

    def to_frame(self) -> DataFrame:
        """One row a bundle; columns file, text, ran_on, gpu."""
        return frame_of(self.runs, ("file", "text", "ran_on", "gpu"))

    def __repr__(self) -> str:
        lines = (f"{run.file} ({run.ran_on}; GPU: {run.gpu}): {run.text}" for run in self.runs)
        return "\n".join([self.headline(), *lines])

    def headline(self) -> str:
        """Return in a sentence where the runs were recorded, as their records have it."""
        real = [run for run in self.runs if run.on_gpu]
        if real:
            return f"{counted(len(real), 'run')} recorded on {_names(run.gpu for run in real)}."
        opened = [run for run in self.runs if run.cpu is not None]
        if not opened:
            return f"No recorded GPU run in {self.folder}. {_HOW}"
        gpus = _names(run.gpu for run in opened).replace("none", "no GPU")
        return (
            f"No run of a GPU is recorded. These are {len(opened)} stand-ins, and their records name {gpus}, "
            f"the processor {_names(run.cpu or '' for run in opened)}, and as providers "
            f"{_names(run.ran_on for run in opened)}. They have the shape of what a GPU would give; no "
            f"figure in them says anything about one. {_HOW}"
        )

    def _repr_html_(self) -> str:
        rows = [(run.file, run.text, run.ran_on, run.gpu) for run in self.runs] or [("none", "", "", "")]
        table = html_table(("file", "result", "ran on", "GPU"), rows, "recorded GPU runs", left=True)
        return f"<p>{escape(self.headline())}</p>{table}"


def gpu_runs(folder: str | Path = "gpu") -> GpuRuns:
    """Read what `python -m benchmarks.gpu` recorded in a folder, and what comes with the workbench.

    Without a run of a GPU these are stand-ins, made on the CPU: the benchmark's parts, and no GPU's figures.

    >>> from workbench import course
    >>> len(course.gpu_runs("no such folder").runs) > 0
    True
    """
    places = (sorted(place.glob("*.ortbench")) for place in (Path(folder), SHIPPED))
    own, shipped = ([_recorded(file) for file in files] for files in places)
    runs = [*own, *(run for run in shipped if run.on_gpu or run.is_stand_in)]
    if any(run.on_gpu for run in runs):
        runs = [run for run in runs if run.on_gpu or run.cpu is None]
    return GpuRuns(one_line(str(folder), 60), tuple(runs))


def _recorded(file: Path) -> RecordedRun:
    name = one_line(file.name, 60)
    try:
        result = wb.open(file)
    except WorkbenchError as error:
        return RecordedRun(name, f"cannot be opened: {error.problem}")
    text, machine = one_line(str(result).splitlines()[0], 160), result.about.machine
    gpus = "none" if machine is None else _names(gpu.name for gpu in machine.gpus) or "none"
    return RecordedRun(name, text, _providers(result), gpus, machine.cpu if machine else "")


def _providers(result: Any) -> str:
    record, config = getattr(result, "record", None), result.about.config
    runs = getattr(getattr(record, "comparison", record), "runs", ())
    asked = (provider.name for provider in config.providers) if config is not None else ()
    names = [name for run in runs for name in run.providers] or asked
    return _names(name.removesuffix("ExecutionProvider") for name in names) or _NOT_KNOWN


def _names(texts: Iterable[str]) -> str:
    """Return the names of lists of names, each once."""
    return ", ".join(dict.fromkeys(name for text in texts for name in text.split(", ") if name))
