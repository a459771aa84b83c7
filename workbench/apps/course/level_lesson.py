"""The exercises of the lesson on optimization levels."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.apps.course.exercise import exercise, outputs_agree, wrong
from workbench.core.config import Config
from workbench.core.config.plan import LEVELS
from workbench.core.text import one_line

BLOCKED = "nchwc"  # in the domain of the operators that work in the blocked layout


@exercise("2.a")
def removing_pass(answer: Any, *, explanation: wb.Explanation, node: str) -> str | None:
    """Check the pass that removed a node against the provenance."""
    changes = explanation.provenance.account.changes
    removing = {change.name for change in changes if node in change.removed}
    if not removing:
        return wrong("2.a", "not removed", node=one_line(node, 80))
    if isinstance(answer, str) and answer in removing:
        return None
    return wrong("2.a", "last" if changes and answer == changes[-1].name else "other")


@exercise("2.b", answers=Config, budget_s=40.0, evidence="comparison")
def fewest_optimizations(answer: Config, *, comparison: wb.Comparison) -> str | None:
    """Check for the lowest level that is no slower than the default, with the same outputs."""
    fast = {verdict.label for verdict in comparison.verdicts if verdict.kind in ("faster", "tie")}
    fine = [run for run in comparison.runs if run.label in fast and outputs_agree(comparison, run.label)]
    ranks: list[str | None] = [*LEVELS, None]  # None: ORT's default
    lowest = min(fine, key=lambda run: ranks.index(run.config.level), default=None)
    if answer == (Config() if lowest is None else lowest.config):
        return None
    if lowest is None:
        return wrong("2.b", "none settled")
    if answer not in [run.config for run in comparison.runs]:
        return wrong("2.b", "not measured", label=lowest.label)
    shown = [comparison.runs[0].config, *(run.config for run in fine)]
    return wrong("2.b", "fewer" if answer in shown else "not as fast", label=lowest.label)


@exercise("2.c", evidence="levels")
def level_of_blocked_layout(answer: Any, *, levels: wb.Levels) -> str | None:
    """Check the first level whose graph holds operators of the blocked layout."""
    rows = levels.record.rows
    right = next((row.name for row in rows if any(BLOCKED in op.casefold() for op, _ in row.ops)), "none")
    return None if answer == right else wrong("2.c", "extended" if answer == "extended" else "other")
