"""A comparison as sections: the verdict, how it was measured, and every part that it has."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from workbench.figures.ecdf import ecdf_table
from workbench.figures.latency import latency_table
from workbench.figures.timeline import timeline_table
from workbench.judge.wording import sentence
from workbench.records.comparison import ComparisonRecord
from workbench.records.display import config_in_words
from workbench.records.run import Run
from workbench.report.document import Document
from workbench.report.pieces import absent, each, facts, paragraph, plot, table
from workbench.text import in_gib, one_line

if TYPE_CHECKING:
    import pandas as pd

    from workbench.results.comparison import Comparison
    from workbench.results.per_run import PerRun

MOST_NODES = 200  # rows of a table with a row a node
_CLASSES = {"faster": "faster", "slower": "slower", "outputs differ": "differ"}


def lead(record: ComparisonRecord) -> str:
    """The verdicts as banners, and every doubt under them."""
    banners = "".join(
        f'<div class="verdict {_CLASSES.get(one.kind, "")}"><b>{escape(one.kind)}</b>: '
        f"{escape(one_line(sentence(record, one), 1000))}</div>"
        for one in record.verdicts
    )
    doubts = "".join(
        f'<div class="doubt"><b>Doubt{_of(one.label)} ({escape(one_line(one.kind, 80))}):</b> '
        f"{escape(one_line(one.evidence, 1000))}<br><b>Fix:</b> {escape(one_line(one.fix, 1000))}</div>"
        for one in record.doubts
    )
    return banners + (doubts or paragraph("No reason to doubt this measurement was found.", "note"))


def add_measured(page: Document, result: Comparison) -> None:
    """What was measured: configs, latency, its spread, its course, outputs."""
    record = result.record
    page.add("configs", "Configs", _configs(record) + table(result.to_frame(), "Runs in numbers"))
    latency = plot(result.latency_figure(), "Latency of every run")
    latency += table(latency_table(record), "The figure in numbers")
    page.add("latency", "Latency", latency + table(result.percentiles(), "Percentiles and throughput"))
    spread = plot(result.ecdf_figure(), "Share of runs by latency") + table(ecdf_table(record), "The curves")
    page.add("spread", "Spread", spread)
    course = plot(result.timeline_figure(), "Block medians in the order measured")
    page.add("course", "In the order measured", course + table(timeline_table(record), "Every block"))
    page.add("outputs", "Outputs", _outputs(record))


def add_parts(page: Document, result: Comparison) -> None:
    """What ORT did, as far as it was examined; what was not says how it would be."""
    explained = [part.label or "" for part in result.parts if part.kind == "explanation"]
    profiled = [part.label or "" for part in result.parts if part.kind == "profile"]
    page.add("graph", "Graph", each([lambda: page.view(result.graph())]))
    page.add("fusions", "Fusions", each([lambda: _fusions(result)]))
    page.add("passes", "Passes", _passes(result, explained))
    page.add(
        "time", "Where the time goes", each([lambda: page.view(result.flame())]) + _times(result, profiled)
    )
    page.add("memory", "Memory", each([lambda: _memory(result)]))
    page.add("start", "Cold start", each([lambda: _start(result)]))
    page.add("roofline", "Roofline", each([lambda: _roofline(result)]))


def add_protocol(page: Document, record: ComparisonRecord) -> None:
    """How it was measured, on what, with what."""
    machine, versions, protocol = record.machine, record.versions, record.protocol
    told = facts(
        [
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
            ("time spent", f"{protocol.elapsed_s:.3g} s, {protocol.sampling_s:.3g} s of them sampling"),
            ("smallest effect of interest", f"{protocol.smallest_effect * 100:.2f} %"),
        ]
    )
    log = "".join(
        f"<details><summary>What ORT logged in {escape(one_line(run.label, 40))}</summary><pre>"
        + escape("\n".join(f"{line.severity} {one_line(line.message, 1000)}" for line in run.log[:200]))
        + "</pre></details>"
        for run in record.runs
        if run.log
    )
    page.add("measured", "How it was measured", told + log)


def _configs(record: ComparisonRecord) -> str:
    rows = [(run.label, f"{config_in_words(run.config)}{_ran(run)}") for run in record.runs]
    return facts(rows)


def _ran(run: Run) -> str:
    if run.failure is not None:
        return f". Failed at {run.failure.stage}: {run.failure.problem}"
    providers = ", ".join(name.removesuffix("ExecutionProvider") for name in run.providers)
    count = run.threads
    threads = "an unknown number of threads" if count is None else f"{count} thread{'s' * (count != 1)}"
    return f" (on {providers or 'nothing known'}, {threads})"


def _outputs(record: ComparisonRecord) -> str:
    import pandas as pd

    if not record.agreement:
        return absent("No outputs were compared.")
    columns = ["label", "output", "agrees", "reason", "max_abs_error", "relative_error", "sqnr_db"]
    rows = [[getattr(one, name) for name in columns] for one in record.agreement]
    frame: pd.DataFrame = pd.DataFrame(rows, columns=columns)
    agree = sum(one.agrees is True for one in record.agreement)
    told = paragraph(f"{agree} of {len(record.agreement)} outputs agree with the baseline's.")
    return told + table(frame, "Each output against the baseline's", opened=len(frame) <= 8)


def _fusions(result: Comparison) -> str:
    found = result.fusions()
    told = plot(found.figure(), str(found)) + table(found.to_frame(), "What was fused into what")
    told += table(found.ops_frame(), "Operators before and after")
    missed = found.missed_frame()
    return told + (
        table(missed, "Expected fusions that did not happen", most=MOST_NODES) if len(missed) else ""
    )


def _passes(result: Comparison, labels: list[str]) -> str:
    if not labels:
        return absent("Not examined: result.examine('explanation') makes it where the model is at hand.")
    told = ""
    for label in labels:
        one = result.explanation(label)
        told += f"<h3>{escape(one_line(label))}</h3>" + paragraph(str(one))
        told += plot(one.passes_figure(), f"Nodes left after each pass of {label}")
        told += table(one.passes.to_frame(), "Passes that fired")
        told += table(one.provenance.to_frame(), "What became of each source node", most=MOST_NODES)
        told += table(one.placement.to_frame(), "Where each node runs", most=MOST_NODES)
    return told


def _times(result: Comparison, labels: list[str]) -> str:
    told = ""
    for label in labels:
        one = result.profile(label)
        told += f"<h3>{escape(one_line(label))}</h3>" + plot(one.figure(), f"Own time by op type, {label}")
        told += table(one.by("op_type"), "By op type")
        told += table(one.to_frame(), "By node", most=MOST_NODES)
    return told


def _memory(result: Comparison) -> str:
    found = result.memory()
    return paragraph(str(found)) + plot(found.figure(), "Memory over a run") + _by_run(found)


def _start(result: Comparison) -> str:
    found = result.cold_start()
    return paragraph(str(found)) + plot(found.figure(), str(found)) + table(found.to_frame(), "Each step")


def _roofline(result: Comparison) -> str:
    found = result.roofline()
    return plot(found.figure(), str(found)) + _by_run(found)


def _by_run(found: PerRun) -> str:
    """A table a run, so that a long one does not push the next out of sight."""
    return "".join(
        table(one.to_frame(), f"By node, {one_line(label)}", most=MOST_NODES)
        for label, one in found.by_label.items()
    )


def _of(label: str | None) -> str:
    return "" if label is None else f" about {escape(one_line(label, 40))}"
