"""The exercises of the lesson on fusions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.apps.course.exercise import NONE, exercise, problem_of_speed
from workbench.apps.course.progress import seconds
from workbench.core.config import Config

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison
    from workbench.features.explain.result import Explanation
    from workbench.features.variants.worth import Ablation

GELU_NODES = 5  # of the standard form
MOST_SLOWER = 0.9  # times as fast as before: a slower file is refused, beyond what noise does
CAUSES = ("the level", "the order", "the weight", "the readers")


@exercise("3.a", budget_s=60.0, evidence="ablation")
def costly_pass(answer: Any, *, ablation: Ablation) -> str | None:
    """Check the pass whose removal gains most, or "none" where none is settled to hurt."""
    record = ablation.record
    hurting = [row for row in record.rows if row.effect == "hurts"]
    if answer not in (NONE, *(row.name for row in record.rows)):
        return f"The answer is neither {NONE!r} nor a pass of the ablation."
    worst = min(hurting, key=lambda row: row.worth or 0.0, default=None)
    if worst is None:
        if answer == NONE:
            return None
        return (
            "The interval of this pass does not exclude that leaving it out gains nothing: none is settled."
        )
    if answer == worst.name:
        return None
    if answer in [row.name for row in hurting]:
        return "Leaving this pass out gains time, but leaving out another one gains more."
    return "The interval of this pass is not wholly on the side of a loss; that of another one is."


@exercise("3.b", answers=Config, limit="no slower than before")
def fused_gelus(answer: Config, *, model: Any) -> str | None:
    """Check a config under which each GELU becomes one node, with the same outputs, at no cost in time."""
    from workbench.features.compare.call import compare
    from workbench.features.explain.calls import explain

    passes = explain(model, answer, keep=False).passes
    if left := sum(place.pattern == "gelu" for place in passes.missed):
        return f"{left} GELUs still run as {GELU_NODES} nodes each."
    statistics = passes.statistics
    if not any(op.after and op.op_type.rpartition("::")[2] in ("Gelu", "BiasGelu") for op in statistics.ops):
        return "No node of the optimized graph is a Gelu or BiasGelu."
    return at_no_cost(compare(model, Config(), answer, budget_s=seconds(10), progress=False, keep=False))


def at_no_cost(comparison: Comparison) -> str | None:
    """Return how the candidate differs from the baseline in outputs or is slower, or None."""
    asked = "each GELU is one node, but runs were to be no slower"
    return problem_of_speed(comparison, MOST_SLOWER, asked)


@exercise("3.c", answers=CAUSES, evidence="explanation")
def unfolded_norm(answer: str, *, explanation: Explanation) -> str | None:
    """Check the reason why batch normalization was not folded against the explanation's."""
    places = [place for place in explanation.passes.missed if place.pattern == "conv + batch norm"]
    if not places:
        return "Every batch normalization was folded here: explain the file that was planted."
    if answer == "the weight" and any("is no constant" in (place.reason or "") for place in places):
        return None
    if answer == "the level":
        return "The pass ran: it belongs to the basic level. Read why it stopped at these nodes."
    return "The column reason of explanation.passes.missed_frame() names something else."
