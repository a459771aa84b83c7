"""The preparation of a model file before measuring: each step, its effect and its duration."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.html_table import html_table
from workbench.core.text import in_mib


@dataclass(frozen=True, slots=True)
class CalibrationRecord:
    """The data that activation ranges were measured on. `sha256` is the hash of the data themselves."""

    source: str  # "the sample's own calibration set", "photos (folder)"…
    made_by: str  # how: the pre-processing, the seed
    count: int  # number of examples run
    seed: int | None
    sha256: str
    representative: bool  # False: random data, so ranges and accuracy mean little


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step from a model file to the next."""

    name: str  # "pre-processing", "dynamic int8"…
    did: str  # one sentence with the choices and their reasons
    parameters: tuple[tuple[str, str], ...]  # all parameters in effect
    statistics: tuple[tuple[str, int], ...]  # operators added, by name; counts
    duration_s: float  # time to make it, also if it came from the cache
    cached: bool
    before_bytes: int
    after_bytes: int
    notes: tuple[str, ...]

    @property
    def statistics_text(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in self.statistics)


@dataclass(frozen=True, slots=True)
class Preparation:
    """All preparation steps of one config."""

    steps: tuple[StepRecord, ...]
    calibration: CalibrationRecord | None
    elapsed_s: float  # time taken now, with the cache
    file_bytes: int  # size of the file that ORT loads, with its external data
    sha256: str | None  # hash of that file; None: the original model
    notes: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """Return one row per step."""
        sizes = ("before_bytes", "after_bytes")
        attributes = ("name", "did", "duration_s", "cached", *sizes, "statistics_text", "notes")
        return frame_of(self.steps, attributes, names={"name": "step", "statistics_text": "statistics"})

    def __str__(self) -> str:
        if not self.steps:
            return "nothing to prepare: the file is loaded as it is"
        lines = [
            f"{step.name}: {step.did} "
            f"({'from the cache, made in' if step.cached else 'took'} {step.duration_s:.1f} s; "
            f"{in_mib(step.before_bytes)} before, {in_mib(step.after_bytes)} after)"
            for step in self.steps
        ]
        notes = [f"note: {note}" for note in (*self.notes, *(n for step in self.steps for n in step.notes))]
        return "\n".join([*lines, *dict.fromkeys(notes)])

    def _repr_html_(self) -> str:
        heads = ("step", "what it did", "time", "from the cache", "before", "after", "operators", "notes")
        rows = [
            (
                step.name,
                step.did,
                f"{step.duration_s:.2f} s",
                "yes" if step.cached else "no",
                in_mib(step.before_bytes),
                in_mib(step.after_bytes),
                step.statistics_text,
                "; ".join(step.notes),
            )
            for step in self.steps
        ]
        return html_table(heads, rows, "prepared") if rows else f"<span>{escape(str(self))}</span>"
