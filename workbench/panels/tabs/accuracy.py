"""The accuracy tab: how right each config is, and how far B's outputs are from A's."""

from __future__ import annotations

from functools import partial
from typing import Any

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.markup import note_html, text
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.figure import figure_bundle, output_of
from workbench.panels.tabs.parts import ACCURACY, LAYER_ERRORS, SENSITIVITY, WHY_SLOWER, made, parts
from workbench.panels.tabs.tab import Tab

COLUMNS = (
    "label",
    "output",
    "agrees",
    "reason",
    "max_abs_error",
    "relative_error",
    "sqnr_db",
    "nan_count",
    "inf_count",
)


def pieces(bench: Bench) -> list[Piece]:
    """What the comparison saw on its own inputs, then the evaluation."""
    found: list[Piece] = []
    table = accuracy_of(bench)
    if table is not None:
        found += [
            Piece(
                "accuracy and error", "result.accuracy().figure()", str(table), table.figure, table.to_frame,
                of="accuracy",
            ),
            Piece(
                "each output", "result.accuracy().fidelity_frame()", str(table), None, table.fidelity_frame,
                of="accuracy",
            ),
        ]  # fmt: skip
    found += of_layers(bench)
    result = bench.state.result
    if result is not None and result.agreement:
        found.append(
            Piece("outputs of the comparison", "result.agreement", str(result), None, lambda: outputs(result))
        )
    return found


def accuracy_of(bench: Bench) -> Any:
    """What was measured for the panels, else what the result holds; None where neither is."""
    result, own = bench.state.result, bench.state.parts.get("accuracy")
    there = own is None and result is not None and any(part.name == "accuracy" for part in result.parts)
    return result.accuracy() if there else own


def of_layers(bench: Bench) -> list[Piece]:
    """What costs B its time, and which layers err."""
    found = [
        Piece(
            f"why slower, {label}", f"{made('why slower', label)}.figure()", str(one), partial(reasons, one),
            one.to_frame, alone=one.figure, of=f"why slower/{label}",
        )
        for label, one in parts(bench, "why slower").items()
    ]  # fmt: skip
    for name in ("layer errors", "sensitivity"):
        for label, one in parts(bench, name).items():
            code, of = f"{made(name, label)}.figure()", f"{name}/{label}"
            key = "node" if name == "layer errors" else None
            found.append(Piece(f"{name}, {label}", code, str(one), one.figure, one.to_frame, key, of=of))
    return found


def reasons(one: Any) -> W.VBox:
    """A bar a reason, and below what was seen and what to do about it."""
    listed = "".join(
        f"<li><b>{text(reason.kind)}:</b> {text(reason.sentence)} <i>Fix:</i> {text(reason.fix)}</li>"
        for reason in one.reasons
    )
    told = f"<ul>{listed}</ul>" if listed else note_html("Nothing was found that costs time.")
    return W.VBox([output_of(figure_bundle(one.figure(), str(one))), W.HTML(told)])


def outputs(result: Any) -> Any:
    """A row an output."""
    import pandas as pd

    rows = [[getattr(one, name) for name in COLUMNS] for one in result.agreement]
    return pd.DataFrame(rows, columns=list(COLUMNS))


ACCURACY_TAB = Tab(
    "accuracy",
    "Compare looks at the outputs before it tells a speed. Measure accuracy runs A and B on labelled "
    "examples, where there are any, and on random ones otherwise. Once A and B were compared, Why slower "
    "tells what costs B its time. Where A or B has a precision, Layer errors and Sensitivity tell which "
    "layers it harms.",
    pieces,
    (ACCURACY, WHY_SLOWER, LAYER_ERRORS, SENSITIVITY),
)
