"""The exercises of the lesson on fusions."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.apps.course.exercise import NONE, exercise, problem_of_speed, wrong
from workbench.apps.course.progress import seconds
from workbench.core.config import Config

MOST_SLOWER = 0.9  # times as fast as before: a slower file is refused, beyond what noise does


@exercise("3.a", budget_s=60.0, evidence="ablation")
def costly_pass(answer: Any, *, ablation: wb.Ablation) -> str | None:
    """Check the pass whose removal gains most, or "none" where none is settled to hurt."""
    rows = ablation.record.rows
    hurting = {row.name: row.worth or 0.0 for row in rows if row.effect == "hurts"}
    if answer not in (NONE, *(row.name for row in rows)):
        return wrong("3.a", "no pass")
    if answer == min(hurting, key=hurting.__getitem__, default=NONE):
        return None
    return wrong("3.a", "gains less" if answer in hurting else "no loss" if hurting else "none settled")


@exercise("3.b", answers=Config, limit="no slower than before")
def fused_gelus(answer: Config, *, model: Any) -> str | None:
    """Check a config under which each GELU becomes one node, with the same outputs, at no cost in time."""
    passes = wb.explain(model, answer, keep=False).passes
    if left := sum(place.pattern == "gelu" for place in passes.missed):
        return wrong("3.b", "unfused", left=left)
    statistics = passes.statistics
    if not any(op.after and op.op_type.rpartition("::")[2] in ("Gelu", "BiasGelu") for op in statistics.ops):
        return wrong("3.b", "no gelu")
    comparison = wb.compare(model, Config(), answer, budget_s=seconds(10), progress=False, keep=False)
    return problem_of_speed(comparison, MOST_SLOWER, wrong("3.b", "asked"))


@exercise("3.c", answers=("the level", "the order", "the weight", "the readers"), evidence="explanation")
def unfolded_norm(answer: str, *, explanation: wb.Explanation) -> str | None:
    """Check the reason why batch normalization was not folded against the explanation's."""
    places = [place for place in explanation.passes.missed if place.pattern == "conv + batch norm"]
    if not places:
        return wrong("3.c", "folded")
    if answer == "the weight" and any("is no constant" in (place.reason or "") for place in places):
        return None
    return wrong("3.c", "the level" if answer == "the level" else "other")
