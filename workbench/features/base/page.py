"""A comparison record as sections: the verdict, what was measured, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TypeAlias

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.bundle.run import Run
from workbench.core.markdown import markdown_section, without_markup
from workbench.core.measure.percentiles import percentiles_frame
from workbench.core.text import counted, in_digits, in_gib, one_line
from workbench.drawing.agreement import agreement_chart
from workbench.drawing.chart_figure import chart_figure
from workbench.drawing.ecdf import ecdf_figure, ecdf_table
from workbench.drawing.latency import latency_figure, latency_table
from workbench.drawing.numbers import numbers_table
from workbench.drawing.page.banner import numbers_html, verdict_html
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import absent, facts, paragraph, plot, table
from workbench.drawing.resources import resources_chart
from workbench.drawing.timeline import timeline_figure, timeline_table

Heads: TypeAlias = Sequence[str]
Rows: TypeAlias = Sequence[Sequence[object]]

_MOST_LOGGED = 200  # lines of a run's log
_OUTPUT = ("config", "output", "agrees", "largest error", "share of its largest value")


def lead(record: ComparisonRecord, shares: Mapping[str, float] | None = None) -> str:
    """Return the verdicts as pictures, and every doubt under them."""
    doubts = "" if record.doubts else paragraph("No reason to doubt this measurement was found.", "note")
    return verdict_html(record, opened=True, shares=shares) + doubts


def add_measured(page: Document, record: ComparisonRecord) -> None:
    """Add what was measured: configs, latency, its spread, its course, outputs."""
    configs = facts((run.label, f"{config_in_words(run.config)}{_ran(run)}") for run in record.runs)
    page.add("configs", "Configs", configs + table(record.to_frame(), "Runs in numbers"))
    latency = plot(latency_figure(record, titled=False), "Latency of every run") + numbers_html(
        numbers_table(record)
    )
    latency += table(latency_table(record), "The figure in numbers")
    numbers = table(percentiles_frame(record.runs), "Percentiles and throughput")
    page.add("latency", "Latency distribution", latency + numbers)
    spread = plot(ecdf_figure(record), "Share of runs by latency") + table(ecdf_table(record), "The curves")
    page.add("spread", "Cumulative distribution", spread)
    course = plot(timeline_figure(record), "Latency over time")
    page.add("course", "Over time", course + table(timeline_table(record), "Every block"))
    resources = plot(chart_figure(resources_chart(record)), "Peak memory, load and first run of each config")
    page.add("resources", "Memory and load", resources)
    page.add("outputs", "Outputs", _outputs(record))


def add_protocol(page: Document, record: ComparisonRecord) -> None:
    """Add how it was measured: machine, versions, inputs, time spent, ORT's log."""
    logs = "".join(_log(run) for run in record.runs if run.log)
    page.add("measured", "How it was measured", facts(protocol_facts(record)) + logs)


def protocol_facts(record: ComparisonRecord) -> list[tuple[str, object]]:
    """Return how it was measured, by name; None: not known, or there is none."""
    machine, versions, protocol = record.machine, record.versions, record.protocol
    elapsed, sampling = (in_digits(seconds, 3) for seconds in (protocol.elapsed_s, protocol.sampling_s))
    return [
        ("model", record.model.name),
        ("SHA-256", record.model.sha256),
        ("measured", record.created_utc),
        ("id", record.id),
        ("inputs", record.inputs.made_by),
        ("shapes", ", ".join(f"{name}: {shape}" for name, shape in record.inputs.shapes)),
        ("guesses", "; ".join(record.inputs.guesses) or None),
        ("processor", machine.cpu),
        ("cores", f"{machine.usable_cores} usable of {machine.logical_cores}"),
        ("memory", in_gib(machine.memory_bytes)),
        ("accelerators", ", ".join(gpu.name for gpu in machine.gpus) or None),
        ("system", machine.platform),
        ("ONNX Runtime", versions.onnxruntime),
        ("workbench", versions.workbench),
        ("time spent", f"{elapsed} s, {sampling} s of them sampling"),
        ("smallest effect of interest", f"{protocol.smallest_effect * 100:.2f} %"),
    ]


def in_markdown(
    record: ComparisonRecord, title: str, sentences: Iterable[str], *tables: tuple[str, Heads, Rows]
) -> str:
    """Return a comparison as Markdown to paste: sentences, how it was measured, outputs, further tables."""
    protocol = (f"{name}: {fact}" for name, fact in protocol_facts(record) if fact is not None)
    outputs = [(r.label, r.output, r.agrees, r.max_abs_error, r.relative_error) for r in record.agreement]
    sections = (("Outputs beside those of A", _OUTPUT, outputs), *tables)
    return "\n".join([
        f"# {without_markup(f'{record.model.name}: {title}')}", "",
        *(f"- {without_markup(sentence)}" for sentence in (*sentences, *protocol)),
        *(line for section in sections for line in markdown_section(*section)),
        "",
    ])  # fmt: skip


def _log(run: Run) -> str:
    """Return what ORT logged, folded; a long log is cut, and a sentence says so."""
    lines = "\n".join(f"{line.severity} {one_line(line.message, 1000)}" for line in run.log[:_MOST_LOGGED])
    whole, cut = len(run.log), ""
    if whole > _MOST_LOGGED:
        cut = paragraph(f"The first {_MOST_LOGGED:,} of {whole:,} lines.", "note")
    return (
        f"<details><summary>What ORT logged in {escape(one_line(run.label, 40))}</summary>"
        f"<pre>{escape(lines)}</pre>{cut}</details>"
    )


def _ran(run: Run) -> str:
    if run.failure is not None:
        return f". Failed at {run.failure.stage}: {run.failure.problem}"
    providers = ", ".join(name.removesuffix("ExecutionProvider") for name in run.providers)
    threads = "an unknown number of threads" if run.threads is None else counted(run.threads, "thread")
    return f" (on {providers or 'nothing known'}, {threads})"


def _outputs(record: ComparisonRecord) -> str:
    if not record.agreement:
        return absent("No outputs were compared.")
    columns = ["label", "output", "agrees", "reason", "max_abs_error", "relative_error", "sqnr_db"]
    rows = [[getattr(output, name) for name in columns] for output in record.agreement]
    frame: DataFrame = data_frame(rows, columns=columns)
    drawn = plot(chart_figure(agreement_chart(record)), "How near each output is to the baseline's")
    return drawn + table(frame, "Each output against the baseline's", opened=len(frame) <= 8)
