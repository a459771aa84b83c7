"""Panels in a chosen state, for `benchmarks.looks`: hand-made comparisons and the cells that show them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import workbench as wb
from benchmarks.graphs import explained
from tests.browser.harness.places import KEPT, SOURCE, record_of
from tests.factories import records
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, failed
from workbench.records.comparison import ComparisonRecord

WAYS = {"decided": "faster", "tied": "tie", "unknown": "unknown"}  # state → kind of verdict
STATES = (*WAYS, "failed", "empty")
MADE_NODES = 120  # of the made graph
CONFIGS = (wb.Config(level="basic"), wb.Config())  # of a model's explanations
PROBLEM = "Could not find an implementation for ConvInteger(10) node with name '/conv/Conv_quant'"
EMPTY = "import workbench as wb\nbench = wb.Workbench({model!r})\nbench"
OF_MODEL = """import workbench as wb
bench = wb.Workbench()
bench.load({model!r}, wait=True)
saved, model = wb.open({bundle!r}), bench.state.model
bench.a, bench.b = (run.config for run in saved.runs)
result = wb.Comparison(saved.record, parts=saved.parts, model=model, inputs=model.inputs())
result.examine("explanation", "profile")
bench.state.show_comparison(result, bench.state.request().subject)
bench.state.study = wb.open({study!r})
bench"""


def record_in(state: str) -> ComparisonRecord:
    """Return a comparison in this state; a doubt stands beside a verdict that is not settled."""
    if state == "failed":
        record = comparison(drawn_run("A", 0.002), failed("B", PROBLEM), kind="unknown")
        reason = f"B could not be measured: load: {PROBLEM}"
        verdict = replace(record.verdict, ratio=None, low=None, high=None, rounds=0, reason=reason)
        return replace(record, verdicts=(verdict,), agreement=())
    record = record_of(WAYS[state])
    return replace(record, doubts=records.comparison().doubts) if state == "unknown" else record


def source_in(folder: Path, state: str, model: str | None) -> str:
    """Save what the state shows; return the cell that shows it.

    Without a model, explanations and profiles are of a made graph.
    """
    if state == "empty":
        return EMPTY.format(model=model or "digits-conv")
    record = record_in(state)
    labels = [run.label for run in record.runs if run.failure is None]
    parts = [part for part in examples.parts(explained(MADE_NODES)) if part.label in labels]
    if model is not None:
        parts = [part for part in parts if part.kind not in ("explanation", "profile")]
        runs = tuple(replace(run, config=CONFIGS[index]) for index, run in enumerate(record.runs))
        record = replace(record, runs=runs, model=replace(record.model, name=Path(model).stem))
    result = wb.Comparison(record, parts=tuple(parts))
    for kind, part in examples.further().items():
        if kind in KEPT and "B" in labels:
            result.add(part, "B")
    bundle = result.save(folder / f"{state}.ortbench")
    study = wb.Study(examples.study()).save(folder / f"{state}-study.ortbench")
    source = SOURCE if model is None else OF_MODEL
    return source.format(bundle=str(bundle), study=str(study), model=model)
