"""Which sections a result has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from html import escape
from typing import Any

from workbench.report import comparison as of_comparison
from workbench.report.document import Document
from workbench.report.pieces import (
    each,
    facts,
    paragraph,
    picture,
    plot,
    stop_if_asked,
    stopped_by,
    table,
)
from workbench.results.ablation import Ablation
from workbench.results.comparison import Comparison
from workbench.results.explanation import Explanation
from workbench.results.levels import Levels
from workbench.results.profile import Profile
from workbench.results.registry import KINDS
from workbench.results.result import Result
from workbench.text import one_line

MOST_NODES = of_comparison.MOST_NODES


def page_of(result: Any, cancel: threading.Event | None = None) -> str:
    """The text of the file; a Cancelled where `cancel` was set before it was whole."""
    make = next((make for cls, make in _MAKERS if isinstance(result, cls)), _plain)
    with stopped_by(cancel):
        page = make(result).html()
        stop_if_asked()
    return page


def _comparison(result: Comparison) -> Document:
    record = result.record
    labels = " and ".join(run.label for run in record.runs)
    page = Document(f"{record.model.name}: {labels} compared", of_comparison.lead(record))
    of_comparison.add_measured(page, result)
    of_comparison.add_parts(page, result)
    accuracy = next((part.record for part in result.parts if part.kind == "accuracy"), None)
    page.add("accuracy", "Accuracy", _accuracy(accuracy))
    _add_further(page, result)
    of_comparison.add_protocol(page, record)
    return page


def _accuracy(record: Any) -> str:
    if record is None:
        return paragraph("Accuracy was not measured: wb.accuracy(model, a, b) measures it.", "absent")
    from workbench.figures.accuracy import accuracy_figure

    told = plot(accuracy_figure(record), "Accuracy and error of the outputs")
    return told + table(record.to_frame(), "Each config") + table(record.fidelity_frame(), "Each output")


def _add_further(page: Document, result: Comparison) -> None:
    """What was made beside it and is there; nobody misses the others."""
    for kind in KINDS:
        labels = [part.label for part in result.parts if kind.heading and part.kind == kind.name]
        if labels:
            bodies = "".join(_further(result.made(kind.name, label), label) for label in labels)
            page.add(kind.name.replace(" ", "-"), kind.heading, bodies)


def _further(one: Result, label: str | None) -> str:
    told = f"<h3>{escape(one_line(label or 'A and B', 40))}</h3>" + paragraph(str(one))
    told += _figured(one, MOST_NODES)
    if isinstance(one, Ablation | Levels):
        told += table(Comparison(one.record.comparison).to_frame(), "Runs in numbers")
    return told


def _explanation(result: Explanation) -> Document:
    page = Document(f"{result.record.model_name}: what ONNX Runtime did", paragraph(str(result)))
    page.add("graph", "Graph", each([lambda: page.view(result.graph())]))
    fusions = result.fusions()
    page.add(
        "operators", "Operators",
        plot(result.histogram_figure(), "Operators before and after")
        + table(fusions.ops_frame(), "In numbers")
        + plot(result.flow_figure(), "From source operators to optimized operators"),
    )  # fmt: skip
    page.add(
        "passes", "Passes",
        plot(result.passes_figure(), "Nodes left after each pass")
        + table(result.passes.to_frame(), "Passes that fired")
        + table(fusions.to_frame(), "What was fused into what")
        + table(result.passes.missed_frame(), "Expected fusions that did not happen", most=MOST_NODES),
    )  # fmt: skip
    page.add(
        "nodes", "Nodes",
        table(result.provenance.to_frame(), "What became of each source node", most=MOST_NODES)
        + table(result.placement.to_frame(), "Where each node runs", most=MOST_NODES)
        + table(result.placement.boundaries_frame(), "Tensors that cross partitions", most=MOST_NODES),
    )  # fmt: skip
    if any(part.name == "profile" for part in result.parts):
        page.add("time", "Where the time goes", _time(page, result.profile))
    _about(page, result)
    return page


def _profile(result: Profile) -> Document:
    name = result.about.model.name if result.about.model is not None else "A trace"
    page = Document(f"{name}: where the time goes", paragraph(str(result)))
    page.add("time", "Where the time goes", _time(page, result))
    page.add("course", "One run in time", plot(result.timeline_figure(), "One run in time, by thread"))
    page.add("memory", "Memory", each([lambda: _memory(result)]))
    _about(page, result)
    return page


def _memory(result: Profile) -> str:
    found = result.memory()
    return paragraph(str(found)) + _figured(found, MOST_NODES)


def _time(page: Document, profile: Profile) -> str:
    told = each([lambda: page.view(profile.flame())])
    told += plot(profile.op_type_figure(), "Own time by op type")
    told += table(profile.by("op_type"), "By op type")
    told += table(profile.by("scope"), "By module", most=MOST_NODES)
    return told + table(profile.to_frame(), "By node", most=MOST_NODES)


def _measured(result: Ablation | Levels) -> Document:
    what = "what each pass is worth" if isinstance(result, Ablation) else "ONNX Runtime's levels side by side"
    page = Document(f"{result.record.model_name}: {what}", paragraph(str(result)))
    page.add("result", "Result", _figured(result))
    of_comparison.add_measured(page, Comparison(result.record.comparison))
    of_comparison.add_protocol(page, result.record.comparison)
    return page


def _plain(result: Any) -> Document:
    about = result.about if isinstance(result, Result) else None
    name = about.model.name if about is not None and about.model is not None else "This machine"
    page = Document(f"{name}: {type(result).__name__}", paragraph(str(result)))
    page.add("result", "Result", _figured(result, MOST_NODES))
    if isinstance(result, Result):
        _about(page, result)
    return page


def _figured(result: Any, most: int = 300) -> str:
    figure = result.figure()
    shown = picture(result.still()) if figure is None else plot(figure, str(result))
    return shown + table(result.to_frame(), "In numbers", most=most)


def _about(page: Document, result: Result) -> None:
    about = result.about
    rows: list[tuple[str, object]] = [("id", about.id), ("made", about.created_utc)]
    if about.model is not None:
        rows += [("model", about.model.name), ("SHA-256", about.model.sha256)]
    if about.inputs is not None:
        rows.append(("inputs", about.inputs.made_by))
    if about.machine is not None:
        rows += [("processor", about.machine.cpu), ("system", about.machine.platform)]
    if about.versions is not None:
        rows.append(("ONNX Runtime", about.versions.onnxruntime))
    page.add("made", "How it was made", facts(rows))


_MAKERS: tuple[tuple[Any, Callable[[Any], Document]], ...] = (
    (Comparison, _comparison),
    (Explanation, _explanation),
    (Profile, _profile),
    ((Ablation, Levels), _measured),
)
