"""The numbers of each config in one table: three digits, and one unit a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.core.measure.percentiles import Figure, percentiles, throughput
from workbench.drawing.scale import Scale, scale_of
from workbench.drawing.strips import FIGURES, config_text, failure

ABSENT, TO = "\u2013", "\u2013"
_DIGITS = 3
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class NumbersRow:
    """The cells of a run as texts; a run that failed has a reason in their place."""

    label: str  # untrusted, as are all texts
    config: str
    cells: tuple[str, ...]
    failure: str | None


@dataclass(frozen=True, slots=True)
class NumbersTable:
    """A row for each run; `notes` say why cells are empty."""

    heads: tuple[str, ...]
    rows: tuple[NumbersRow, ...]
    notes: tuple[str, ...]


def numbers_table(record: ComparisonRecord) -> NumbersTable:
    """Return the numbers of every run of a comparison."""
    estimates = [percentiles(run, FIGURES) for run in record.runs]
    latency = scale_of([of_run[0].value for of_run in estimates])
    load = scale_of([run.load_s for run in record.runs])
    unit = latency.unit
    heads = ("config", f"median ({unit})", "95 % interval", f"p90 ({unit})", f"p99 ({unit})", "runs/s",
             "samples", f"load ({load.unit})", "peak (MiB)")  # fmt: skip
    rows, notes = [], dict[str, None]()
    for run, (median, p90, p99) in zip(record.runs, estimates, strict=True):
        cells = tuple(_cells(run, (median, p90, p99), latency, load))
        measured = bool(run.latency.samples_s)
        why = None if measured else failure(run) or "nothing was measured"
        rows.append(NumbersRow(run.label, config_text(record, run), cells, why))
        if measured:
            notes |= dict.fromkeys(_notes(run, (median, p90, p99)))
    return NumbersTable(heads, tuple(rows), tuple(notes))


def _cells(run: Run, estimates: tuple[Figure, ...], latency: Scale, load: Scale) -> Iterator[str]:
    median, p90, p99 = estimates
    yield _number(median.value, latency)
    known = median.low is not None and median.high is not None
    yield f"{_number(median.low, latency)}{TO}{_number(median.high, latency)}" if known else ABSENT
    yield _number(p90.value, latency)
    yield _number(p99.value, latency)
    yield _number(throughput(run).value, Scale("", 1.0, False))
    yield f"{len(run.latency.samples_s):,}"
    yield _number(run.load_s, load)
    yield ABSENT if run.peak_rss_bytes is None else f"{run.peak_rss_bytes / MEBIBYTE:,.0f}"


def _notes(run: Run, estimates: tuple[Figure, ...]) -> Iterator[str]:
    """Yield why cells of a run are empty, and what its numbers leave out."""
    if run.failure is not None:
        yield f"{run.label} {failure(run)}"
    for name, estimate in zip(("median", "p90", "p99"), estimates, strict=True):
        if estimate.note and (estimate.value is None or name == "median"):  # others have no interval here
            yield f"{name}: {estimate.note}"
    blocks = run.blocks
    if blocks and all(block.disturbed for block in blocks):
        yield f"all samples of {run.label} were disturbed by other work"
    elif aside := sum(len(block.samples_s) for block in blocks if not run.counts(block)):
        yield f"{run.label}: {aside:,} samples are excluded because the machine was busy"


def _number(seconds: float | None, scale: Scale) -> str:
    return ABSENT if seconds is None else scale.number(seconds, _DIGITS)
