"""The parts of a comparison as sections of its page; of a missing part the page says how to get it."""

from __future__ import annotations

from functools import partial
from html import escape

from workbench.core.feature import Feature
from workbench.core.text import one_line
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import MOST_NODES, absent, attempt, plot, table
from workbench.features.base.registry import KINDS
from workbench.features.compare.parts import ResultWithParts


def add_parts(page: Document, result: ResultWithParts) -> None:
    """Add what ORT did and where time and memory go, then every kind that has a heading in the registry."""
    page.add("graph", "Graph", attempt(lambda: page.view(result.graph())))
    page.add("fusions", "Fusions", attempt(lambda: _fusions(result)))
    page.add("passes", "Passes", _passes(result))
    flame, times = attempt(lambda: page.view(result.flame())), _times(result)
    page.add("time", "Where the time goes", flame + times if times else flame)
    for kind in KINDS:
        if kind.side_by_side:
            page.add(_id(kind), kind.heading, attempt(partial(_side_by_side, result, kind)))
    page.add("accuracy", "Accuracy", _accuracy(result))
    for kind in KINDS:
        headed = kind.heading and not kind.side_by_side
        labels = [part.label for part in result.parts if headed and part.kind == kind.name]
        if labels:
            bodies = (result.made(kind.name, label).section(label or "A and B") for label in labels)
            page.add(_id(kind), kind.heading, "".join(bodies))


def _id(kind: Feature) -> str:
    return kind.name.replace(" ", "-")


def _labels(result: ResultWithParts, kind: str) -> list[str]:
    return [part.label or "" for part in result.parts if part.kind == kind]


def _heading(label: str) -> str:
    return f"<h3>{escape(one_line(label))}</h3>"


def _fusions(result: ResultWithParts) -> str:
    fusions = result.fusions()
    body = plot(fusions.figure(), str(fusions)) + table(fusions.to_frame(), "What was fused into what")
    body += table(fusions.ops_frame(), "Operators before and after")
    missed = fusions.missed_frame()
    if len(missed):
        body += table(missed, "Expected fusions that did not happen", most=MOST_NODES)
    return body


def _passes(result: ResultWithParts) -> str:
    body = ""
    for label in _labels(result, "explanation"):
        explanation = result.explanation(label)
        body += _heading(label)
        body += plot(explanation.passes_figure(), f"Nodes left after each pass of {label}")
        body += table(explanation.passes.to_frame(), "Passes that fired")
        body += table(explanation.provenance.to_frame(), "What happened to each source node", most=MOST_NODES)
        body += table(explanation.placement.to_frame(), "Where each node runs", most=MOST_NODES)
    return body or absent("Not examined: result.examine('explanation') makes it where the model is at hand.")


def _times(result: ResultWithParts) -> str:
    body = ""
    for label in _labels(result, "profile"):
        profile = result.profile(label)
        body += _heading(label) + plot(profile.figure(), f"Own time by op type, {label}")
        body += table(profile.by("op_type"), "By op type")
        body += table(profile.to_frame(), "By node", most=MOST_NODES)
    return body


def _side_by_side(result: ResultWithParts, kind: Feature) -> str:
    """Return the figure of all runs, and a table: one per run where rows are nodes, which may be many."""
    shown = result.each(kind.name)
    tables = [("In numbers", shown)]
    if kind.key is not None:
        tables = [(f"By node, {one_line(label)}", record) for label, record in shown.by_label.items()]
    return plot(shown.figure(), str(shown)) + "".join(
        table(rows.to_frame(), title, most=MOST_NODES) for title, rows in tables
    )


def _accuracy(result: ResultWithParts) -> str:
    if not any(part.kind == "accuracy" for part in result.parts):
        return absent("Accuracy was not measured: wb.accuracy(model, a, b) measures it.")
    accuracy = result.made("accuracy")
    return (
        plot(accuracy.figure(), "Accuracy and error of the outputs")
        + table(accuracy.to_frame(), "Each config")
        + table(accuracy.fidelity_frame(), "Each output")
    )
