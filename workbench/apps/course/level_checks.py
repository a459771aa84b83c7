"""The exercises of the lesson on optimization levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.apps.course.decision import RUBRICS, Rubric
from workbench.apps.course.exercise import budget_of_comparison, exercise, outputs_agree
from workbench.core.config import Config
from workbench.core.config.plan import LEVELS
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison
    from workbench.features.explain.result import Explanation
    from workbench.features.variants.levels import Levels

BLOCKED = "nchwc"  # in the name of the operators that work in the blocked layout


@exercise(
    "2.a",
    "explanation.provenance.to_frame() has a column passes.",
    "A node may be changed by several passes; the last of its own list removed it.",
)
def removing_pass(answer: Any, *, explanation: Explanation, node: str) -> str | None:
    """Check the pass that removed a node against the provenance."""
    changes = explanation.provenance.account.changes
    removing = {change.name for change in changes if node in change.removed}
    if not removing:
        return f"No pass removed the node {one_line(node, 80)!r} here: choose another one."
    if isinstance(answer, str) and answer in removing:
        return None
    if changes and answer == changes[-1].name:
        return "That pass ran last. The last pass is not the one that removed this node."
    return "The provenance names another pass for this node."


@exercise(
    "2.b",
    "Give wb.compare the default first, then the lower levels.",
    "A tie counts. Where nothing is settled, the default is the answer: wb.Config().",
    budget_s=40.0,
    spent=budget_of_comparison,
    evidence="comparison",
)
def fewest_optimizations(answer: Any, *, comparison: Comparison) -> str | None:
    """Check for the lowest level that is no slower than the default, with the same outputs."""
    if not isinstance(answer, Config):
        return "The answer is no wb.Config."
    verdicts = {verdict.label: verdict for verdict in comparison.verdicts}
    candidates = [run for run in comparison.runs if run.label in verdicts]
    fine = [
        run
        for run in candidates
        if verdicts[run.label].kind in ("faster", "tie") and outputs_agree(comparison, run.label)
    ]
    lowest = min(fine, key=lambda run: _rank(run.config), default=None)
    if lowest is None:
        if answer == Config():
            return None
        return "No candidate is settled as no slower than the default: the default is the answer here."
    if answer == lowest.config:
        return None
    if answer not in [run.config for run in candidates]:
        return f"The comparison shows that {lowest.label} is enough; this config it did not measure."
    if answer not in [run.config for run in fine]:
        return "The comparison does not show that this config is as fast as the default, with equal outputs."
    return f"{lowest.label} does with fewer optimizations."


@exercise(
    "2.c",
    "Each row of levels.record.rows has its operators in .ops.",
    "Operators of the blocked layout have nchwc in their name.",
    evidence="levels",
)
def level_of_blocked_layout(answer: Any, *, levels: Levels) -> str | None:
    """Check the first level whose graph holds operators of the blocked layout."""
    rows = levels.record.rows
    right = next((row.name for row in rows if any(BLOCKED in op.casefold() for op, _ in row.ops)), "none")
    if answer == right:
        return None
    if answer == "extended":
        return "The article says so. Look for operators with nchwc in their name at each level."
    return "The operators at each level say something else."


def _rank(config: Config) -> int:
    names: list[str | None] = [*LEVELS, None]  # None: ORT's default
    return names.index(config.level)


RUBRICS["2"] = Rubric(
    ("Level basic is as fast as all: 1.00 (0.99 to 1.02) times, outputs within 60 dB.",
     "Basic is enough."),
    ("All 63 nodes that level extended removes take 2 % of the time in the profile.",
     "Fewer nodes are faster."),
    ("A convolutional net needs level layout here, 2.4 times; a new version may fuse other patterns.",
     "Other models may differ."),
)  # fmt: skip
