"""Panels in a chosen state, for `benchmarks.looks`: hand-made comparisons and the cells that show them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import workbench as wb
from benchmarks.graphs import explained
from tests.browser.harness.places import KEPT, record_of, save_searched
from tests.factories import records
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, failed
from workbench.core.bundle.comparison import ComparisonRecord

WAYS = {"decided": "faster", "tied": "tie", "unknown": "unknown"}  # state → kind of verdict
RUN = {  # of what is open: what brings the panels there
    "running": """from tests.apps.panels.test_live import view_of
bench = wb.Workbench()
bench.load({model!r}, wait=True)
bench.b = wb.Config(intra_op_threads=1)
bench.state.job = view_of("Compare")
bench""",
    "fallback": """bench = wb.Workbench()
bench.load({model!r}, wait=True)
bench.b = wb.Config(providers=("CUDAExecutionProvider",), allow_unknown=True)
try:
    bench.compare(wait=True)
except wb.WorkbenchError as error:
    print(error)
bench""",
    "reopened": """bench = wb.Workbench()
bench.show(wb.open({bundle!r}))
bench""",
    "changed": """bench = wb.Workbench()
bench.load({model!r}, wait=True)
saved, model = wb.open({bundle!r}), bench.state.model
result = wb.Comparison(saved.record).with_model(model, model.inputs(), None)
bench.a, bench.b = (run.config for run in result.runs)
bench.state.show_comparison(result, bench.state.request().subject)
bench.load("digits-vit", wait=True)
bench""",
}
STATES = (*WAYS, "differ", "failed", "empty", *RUN)
USUAL = "digits-conv"  # the model that is open unless another one is asked for
MADE_NODES = 120  # of the graph in its place
CONFIGS = (wb.Config(level="basic"), wb.Config())
PROBLEM = "Could not find an implementation for ConvInteger(10) node with name '/conv/Conv_quant'"
EMPTY = "import workbench as wb\nbench = wb.Workbench({model!r})\nbench"
SHOWN = """from dataclasses import replace
import workbench as wb
bench = wb.Workbench()
bench.load({model!r}, wait=True)
saved, model = wb.open({bundle!r}), bench.state.model
result = wb.Comparison(saved.record, parts=saved.parts).with_model(model, model.inputs(), None)
result.keep()
result.examine({kinds})
bench.a, bench.b = (run.config for run in result.runs)
bench.state.show_comparison(result, bench.state.request().subject)
parts = {{"improvement/A": wb.open({searched!r})}}
bench.state.answer = replace(bench.state.answer, parts=parts)
bench"""
EXAMINED = ("explanation", "profile", "memory", "roofline", "findings")  # of the model if one is asked for


def record_in(state: str) -> ComparisonRecord:
    """Return a comparison in this state; a doubt stands beside a verdict that is not settled."""
    return replace(_made(state), id=f"01-{state}")  # each stands in the history


def _made(state: str) -> ComparisonRecord:
    if state == "failed":
        record = comparison(drawn_run("A", 0.002), failed("B", PROBLEM), kind="unknown")
        reason = f"B could not be measured: load: {PROBLEM}"
        verdict = replace(record.verdict, ratio=None, low=None, high=None, rounds=0, reason=reason)
        return replace(record, verdicts=(verdict,), agreement=())
    if state == "differ":
        record = record_of("faster")
        agreement = tuple(
            replace(row, agrees=False, relative_error=0.41, sqnr_db=7.7) for row in record.agreement
        )
        verdict = replace(record.verdict, kind="outputs differ", reason="B's outputs differ from A's")
        return replace(record, verdicts=(verdict,), agreement=agreement)
    record = record_of(WAYS.get(state, "faster"))
    return replace(record, doubts=records.comparison().doubts) if state == "unknown" else record


def source_in(folder: Path, state: str, model: str | None) -> str:
    """Save what the state shows; return the cell that shows it."""
    if state == "empty":
        return EMPTY.format(model=model or USUAL)
    record = record_in(state)
    labels = [run.label for run in record.runs if run.failure is None]
    parts = [part for part in examples.parts(explained(MADE_NODES)) if part.label in labels]
    if model is not None:
        parts = [part for part in parts if part.kind not in EXAMINED]
    runs = tuple(replace(run, config=CONFIGS[index]) for index, run in enumerate(record.runs))
    name = replace(record.model, name=Path(model or USUAL).stem)
    result = wb.Comparison(replace(record, runs=runs, model=name), parts=tuple(parts))
    for kind, part in examples.further().items():
        if kind in KEPT and "B" in labels and not (model and kind in EXAMINED):
            result.add(part, "B")
    bundle = result.save(folder / f"{state}.ortbench")
    if state in RUN:
        return "import workbench as wb\n" + RUN[state].format(model=model or USUAL, bundle=str(bundle))
    searched = str(save_searched(folder / f"{state}-searched.ortbench"))
    kinds = ", ".join(map(repr, EXAMINED))  # made where the bundle lacks them
    return SHOWN.format(model=model or USUAL, bundle=str(bundle), searched=searched, kinds=kinds)
