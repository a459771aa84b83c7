"""The fusions tab: what became what, which pass did it, what was expected and did not happen."""

from __future__ import annotations

from typing import Any

from workbench.panels.bench import Bench
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.parts import ABLATE, EXPLAIN, LEVELS, made, parts
from workbench.panels.tabs.tab import Tab


def pieces(bench: Bench) -> list[Piece]:
    """Of each config: counts, flow, missed fusions, passes; then what levels and passes are worth."""
    found: list[Piece] = []
    for label, one in parts(bench, "explanation").items():
        found += explained(label, one)
    for name, title in (("levels", "levels"), ("ablation", "ablation")):
        for label, one in parts(bench, name).items():
            code, of = f"{made(name, label)}.figure()", f"{name}/{label}"
            found.append(Piece(f"{title}, {label}", code, str(one), one.figure, one.to_frame, of=of))
    return found


def explained(label: str, one: Any) -> list[Piece]:
    """Of one config."""
    name, said, passes = f'result.explanation("{label}")', str(one), one.passes
    of = f"explanation/{label}"
    fused, missed = passes.statistics.fusions_frame, passes.missed_frame
    return [
        Piece(f"operators, {label}", f"{name}.histogram_figure()", said, one.histogram_figure, fused, of=of),
        Piece(f"missing, {label}", f"{name}.passes.missed_frame()", said, None, missed, of=of),
        Piece(
            f"flow, {label}", f"{name}.flow_figure()", said, one.flow_figure,
            one.provenance.to_frame, "node", of=of,
        ),
        Piece(
            f"passes, {label}", f"{name}.passes_figure()", said, one.passes_figure, passes.to_frame, of=of
        ),
    ]  # fmt: skip


FUSIONS = Tab(
    "fusions",
    "What ORT fused, folded and left alone, which pass did it and what each is worth. Explain times nothing; "
    "the other two measure.",
    pieces,
    (EXPLAIN, LEVELS, ABLATE),
)
