"""A comparison for a terminal: the verdict, the runs as a table, the outputs, the doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.judge.wording import sentence

if TYPE_CHECKING:
    from workbench.records.comparison import ComparisonRecord, OutputAgreement
    from workbench.records.run import Run

HEADS = ("", "median", "samples", "load", "first run", "peak memory", "threads", "config", "providers")
MOST_OUTPUTS = 10


def in_full(record: ComparisonRecord) -> str:
    """Everything that a reader needs to believe the first line, or not to."""
    return "\n".join(_lines(record))


def _lines(record: ComparisonRecord) -> Iterator[str]:
    for verdict in record.verdicts:
        yield sentence(record, verdict)
    yield ""
    yield from columns([HEADS, *(_row(run) for run in record.runs)])
    yield ""
    for row in record.agreement[:MOST_OUTPUTS]:
        yield f"output {row.output!r} of {row.label}: {_agreement(row)}"
    if len(record.agreement) > MOST_OUTPUTS:
        yield f"… and {len(record.agreement) - MOST_OUTPUTS} more outputs"
    for doubt in record.doubts:
        of = "" if doubt.label is None else f" about {doubt.label}"
        yield f"doubt{of} ({doubt.kind}): {doubt.evidence}"
        yield f"  fix: {doubt.fix}"


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows with their cells under each other; the last two columns are texts, the others figures."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if place < len(row) - 2 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _row(run: Run) -> tuple[str, ...]:
    peak = run.peak_rss_bytes
    return (
        run.label,
        _ms(run.latency.median_s),
        str(len(run.latency.samples_s)),
        _ms(run.load_s),
        _ms(run.first_run_s),
        "-" if peak is None else f"{peak / 2**20:.0f} MiB",
        "-" if run.threads is None else str(run.threads),
        ", ".join(f"{name}={value}" for name, value in run.config.changed().items()) or "defaults",
        ", ".join(name.removesuffix("ExecutionProvider") for name in run.providers) or "none",
    )


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.4g} ms"


def _agreement(row: OutputAgreement) -> str:
    if row.agrees is None:
        return f"not known, {row.reason}"
    sqnr = "" if row.sqnr_db is None else f"SQNR {row.sqnr_db:.0f} dB"
    told = ", ".join(part for part in (row.reason, sqnr) if part)
    return ("agrees" if row.agrees else "DIFFERS") + (f" ({told})" if told else "")
