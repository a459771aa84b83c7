"""The measurements of one config of one model: raw samples, in the order they were taken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain
from statistics import median
from typing import Literal

from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.bundle.preparation import Preparation
from workbench.core.config import Config
from workbench.core.html_table import html_table
from workbench.core.text import in_mib, in_ms

Population = Literal["undisturbed", "all"]
Stage = Literal["prepare", "start", "load", "provider", "first run", "warm-up", "run", "outputs"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a run has no (more) samples."""

    stage: Stage
    problem: str
    fix: str
    log_tail: str

    @property
    def in_words(self) -> str:
        """Return the stage with the first line of the problem."""
        return f"{self.stage}: {next(iter(self.problem.splitlines()), '')}"

    def of(self, label: str) -> str:
        """Return why the run with this label was not measured, in a sentence."""
        if self.stage == "provider":
            return f"{label} {self.problem}"
        return f"{label} could not be measured: {self.in_words}"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of ORT's log: severity is one of V I W E F, or "" for text without ORT's format."""

    severity: str
    message: str

    @property
    def is_problem(self) -> bool:
        """Whether ORT logs it as a warning or an error."""
        return self.severity in ("W", "E", "F")


@dataclass(frozen=True, slots=True)
class Block:
    """A short burst of runs of one process while the processes of all other configs are frozen."""

    order: int  # position among all blocks of its round
    start_s: float  # since the comparison started
    wall_s: float
    samples_s: tuple[float, ...]
    own_cpu_s: float | None
    run_delay_s: float | None  # time the block's runnable threads waited for a core
    others_cpu_s: float | None  # CPU time that other programs used meanwhile
    disturbed: tuple[str, ...]  # reasons to exclude the block; empty: clean

    @property
    def median_s(self) -> float:
        return median(self.samples_s)


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One worker process with one session, from its start to its last block."""

    round: int
    spawn_s: float  # time from requesting the process to its first message
    import_s: float  # importing onnxruntime in the process
    load_s: float
    first_run_s: float
    warmup_s: tuple[float, ...]  # samples before the steady state; stored, never mixed with the blocks
    steady: bool  # False: the warm-up limit was reached first
    blocks: tuple[Block, ...]
    rss_start_bytes: int | None  # before the session was created
    rss_loaded_bytes: int | None
    rss_bytes: int | None  # at the end
    peak_rss_bytes: int | None
    feeds: int = 1  # a block runs them all, in turn and equally often


@dataclass(frozen=True)  # without slots, so that the median of many samples is found once
class LatencySamples:
    """Latency of one config in the order measured, without warm-up and excluded blocks."""

    label: str
    samples_s: tuple[float, ...]

    @cached_property
    def median_s(self) -> float | None:
        """The median; None if nothing was measured."""
        return median_of(self.samples_s)

    def to_frame(self) -> DataFrame:
        """Return one row per sample; columns label, latency_s."""
        frame = data_frame({"label": self.label, "latency_s": self.samples_s})
        return frame.astype({"label": "str", "latency_s": "float64"})

    def __repr__(self) -> str:
        return f"LatencySamples({self.label!r}, {len(self.samples_s)} samples)"

    def __str__(self) -> str:
        return f"{self.label}: {in_ms(self.median_s) or 'nothing'}, median of {len(self.samples_s)}"

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"


@dataclass(frozen=True)  # without slots, so that its samples are put together once
class Run:
    """One config of one model, measured in one process per round."""

    label: str  # "A", "B", "C"…
    config: Config
    providers: tuple[str, ...]  # in effect, as the session reported; empty: no session was created
    threads: int | None  # intra-op threads in effect, counted in the process; None: unknown
    io: Literal["run", "binding"] | None  # how the timed runs called ORT; None: no run happened
    processes: tuple[ProcessRecord, ...]
    log: tuple[LogLine, ...]
    failure: Failure | None
    preparation: Preparation | None = None  # None: preparation failed, or an old bundle without preparations
    population: Population = "undisturbed"  # which blocks count; the same for all runs of a comparison
    nodes_on: tuple[tuple[str, int], ...] | None = None  # (provider, nodes it took); None: not known
    threads_from: tuple[str, ...] = ()  # origins of intra-op, then inter-op threads; empty: unknown

    @property
    def blocks(self) -> list[Block]:
        """Return the blocks of all processes."""
        return [block for process in self.processes for block in process.blocks]

    @cached_property
    def latency(self) -> LatencySamples:
        """The samples of the blocks that count; of all blocks if none counts."""
        counted = [block for block in self.blocks if self.counts(block)]
        samples_s = chain.from_iterable(block.samples_s for block in counted or self.blocks)
        return LatencySamples(self.label, tuple(samples_s))

    def counts(self, block: Block) -> bool:
        """Return whether a block belongs to the population that all figures of this run use."""
        return self.population == "all" or not block.disturbed

    @property
    def load_s(self) -> float | None:
        """Return the median over its processes; None if no session was created."""
        return median_of(process.load_s for process in self.processes)

    @property
    def first_run_s(self) -> float | None:
        """Return the median over its processes; None if no run happened."""
        return median_of(process.first_run_s for process in self.processes)

    @property
    def peak_rss_bytes(self) -> int | None:
        """Return the median over its processes; None if the system does not report it."""
        peaks = (process.peak_rss_bytes for process in self.processes)
        peak = median_of(peak for peak in peaks if peak is not None)
        return None if peak is None else int(peak)

    def to_frame(self) -> DataFrame:
        """Return one row per sample; columns label, round, block, order, latency_s, disturbed."""
        rows = [
            (self.label, process.round, number, block.order, sample, "; ".join(block.disturbed))
            for process in self.processes
            for number, block in enumerate(process.blocks)
            for sample in block.samples_s
        ]
        frame = data_frame(rows, columns=["label", "round", "block", "order", "latency_s", "disturbed"])
        types = {"label": "str", "round": "int64", "block": "int64", "order": "int64", "latency_s": "float64"}
        return frame.astype({**types, "disturbed": "str"})

    def __repr__(self) -> str:
        count = sum(len(block.samples_s) for block in self.blocks)
        state = f", failed at {self.failure.stage}" if self.failure else ""
        return f"Run({self.label!r}, {self.config!r}, {count} samples{state})"

    def _repr_html_(self) -> str:
        return runs_to_html((self,), self.label)


def runs_to_html(runs: Iterable[Run], caption: str) -> str:
    """Return a table with one row per run."""
    heads = ("", "config", "median", "samples", "load", "first run", "peak memory", "providers", "failure")
    rows = [
        (
            run.label,
            config_in_words(run.config),
            in_ms(run.latency.median_s),
            len(run.latency.samples_s),
            in_ms(run.load_s),
            in_ms(run.first_run_s),
            in_mib(run.peak_rss_bytes),
            ", ".join(run.providers) or None,
            run.failure.problem if run.failure else "",
        )
        for run in runs
    ]
    return html_table(heads, rows, caption)


def median_of(values: Iterable[float]) -> float | None:
    """Return the median; None if there is no value."""
    numbers = list(values)
    return float(median(numbers)) if numbers else None


LABEL = re.compile("[A-Z](?:[1-9][0-9]{0,5})?")  # what `label_of` makes


def label_of(index: int) -> str:
    """Return the label of a config: A, B, … Z, A1, B1, …"""
    return f"{chr(ord('A') + index % 26)}{index // 26 or ''}"


def labels_of(count: int) -> tuple[str, ...]:
    """Return the labels of this many configs."""
    return tuple(map(label_of, range(count)))
