"""A comparison for a terminal: the verdict, the runs as a table, the outputs, the doubts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.core.measure.percentiles import NEEDED, percentiles, throughput
from workbench.core.measure.wording import MOST_CHARACTERS, fixes, sentence
from workbench.core.text import in_digits, in_mib, in_ms, shorten

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement
    from workbench.core.bundle.run import Run
    from workbench.core.measure.percentiles import Figure

_HEADS = ("", "median", "samples", "load", "first run", "peak memory", "threads", "config", "providers")
MOST_OUTPUTS = 10
MOST_IN_CELL = 400  # characters: enough for a dozen passes, too few for a megabyte from a foreign file
_FIGURES = (*(f"p{percent:g}" for percent in NEEDED), "throughput")


def in_full(record: ComparisonRecord) -> str:
    """Return the verdicts with all that a reader needs to judge them."""
    return "\n".join(shorten(line, MOST_CHARACTERS) for line in _lines(record))


def _lines(record: ComparisonRecord) -> Iterator[str]:
    for verdict in record.verdicts:
        yield sentence(record, verdict)
    yield from fixes(record)
    yield ""
    yield from columns([_HEADS, *(_row(run) for run in record.runs)], texts=2)
    yield ""
    figures = [("(95 % interval)", *_FIGURES), *((shorten(run.label), *_figures(run)) for run in record.runs)]
    yield from columns(list(zip(*figures, strict=True)), texts=len(figures))
    yield ""
    for row in record.agreement[:MOST_OUTPUTS]:
        yield f"output {shorten(row.output)!r} of {row.label}: {_agreement(row)}"
    if len(record.agreement) > MOST_OUTPUTS:
        yield f"… and {len(record.agreement) - MOST_OUTPUTS} more outputs"
    for doubt in record.doubts:
        of = "" if doubt.label is None else f" about {doubt.label}"
        yield f"doubt{of} ({doubt.kind}): {doubt.evidence}"
        yield f"  fix: {doubt.fix}"


def columns(rows: Sequence[Sequence[str]], *, texts: int) -> Iterator[str]:
    """Align the cells of rows; the last `texts` columns to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if place < len(row) - texts else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _row(run: Run) -> tuple[str, ...]:
    return (
        shorten(run.label),
        in_ms(run.latency.median_s) or "-",
        str(len(run.latency.samples_s)),
        in_ms(run.load_s) or "-",
        in_ms(run.first_run_s) or "-",
        in_mib(run.peak_rss_bytes) or "-",
        "-" if run.threads is None else str(run.threads),
        _cell(f"{name}={value}" for name, value in run.config.changed().items()) or "defaults",
        _cell(name.removesuffix("ExecutionProvider") for name in run.providers) or "none",
    )


def _figures(run: Run) -> Iterator[str]:
    """Format each percentile with its interval, if it has one."""
    for percentile in percentiles(run):
        yield _estimate(percentile, 1e3, " ms")
    yield _estimate(throughput(run), 1.0, " runs/s")


def _estimate(estimate: Figure, factor: float, unit: str) -> str:
    if estimate.value is None:
        return estimate.note
    value = f"{in_digits(estimate.value * factor)}{unit}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} ({in_digits(estimate.low * factor)} to {in_digits(estimate.high * factor)})"


def _cell(parts: Iterable[str]) -> str:
    return shorten(", ".join(parts), MOST_IN_CELL)


def _agreement(row: OutputAgreement) -> str:
    if row.agrees is None:
        return f"not known, {row.reason}"
    details = f" ({row.reason})" if row.reason else ""
    return ("agrees" if row.agrees else "DIFFERS") + details
