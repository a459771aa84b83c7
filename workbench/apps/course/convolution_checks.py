"""The exercises of the lesson on convolutional nets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.apps.course.decision import RUBRICS, Rubric
from workbench.apps.course.exercise import OverBudget, exercise, outputs_agree
from workbench.apps.course.nets import conv_net
from workbench.apps.course.progress import seconds
from workbench.core.config import Config

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison
    from workbench.features.profile.roofline.result import Roofline

WANTED_GAIN = 1.2  # recorded on a quiet machine: 1.24
NOISE = 0.9  # of the wanted gain: less is refused, beyond what load and another processor take away
_CLOSE = 0.2  # of the least time
BLOCKED = "nchwc"  # domain of the operators that work in the blocked layout


@exercise(
    "4.a",
    "roofline.to_frame() has a column could_gain_s.",
    "Sort by it: the node with the largest value, not the one with the most operations.",
    evidence="roofline",
)
def most_to_gain(answer: Any, *, roofline: Roofline) -> str | None:
    """Check the node that loses most time to its limit."""
    nodes = roofline.record.nodes
    if answer not in [node.node for node in nodes]:
        return "The answer is no node of the roofline."
    gains_s = {node.node: node.could_gain_s or 0.0 for node in nodes}
    best_s = max(gains_s.values())
    if gains_s[answer] >= 0.999 * best_s:
        return None
    largest = max(nodes, key=lambda node: node.flops or 0)
    if answer == largest.node:
        return "That node computes most, but it is nearer to its limit than another one."
    return "Another node loses more time to its limit."


@exercise(
    "4.b",
    "The blocked layout takes channels in fours. 29 is no multiple of 4, 32 is.",
    "A config can change the file before loading, by rewrites=(…,): one rewrite pads channels.",
    limit=f"at least {WANTED_GAIN:g} times faster",
)
def faster_file(answer: Any, *, model: Any) -> str | None:
    """Check a config that makes the planted net 1.2 times faster, with equal outputs.

    On a processor without a blocked layout any config with equal outputs counts. A gain counts too if the
    interval reaches nine tenths of it, so a busy machine fails nobody.
    """
    from workbench.features.compare.call import compare
    from workbench.features.explain.calls import explain

    if not isinstance(answer, Config):
        return "The answer is no wb.Config."
    if answer.precision is not None:
        return "The outputs shall stay within 60 dB: leave the precision as it is."
    plain = _in_blocked_layout(explain(model, keep=False))
    blocked = _in_blocked_layout(explain(model, answer, keep=False))
    if blocked <= plain and _in_blocked_layout(explain(conv_net(), keep=False)):
        return f"Still {plain} convolutions run in the blocked layout, no more than before."
    return gained(compare(model, Config(), answer, budget_s=seconds(30), progress=False, keep=False))


def gained(comparison: Comparison) -> str | None:
    """Return why a candidate is not as much faster as wanted, or None."""
    if not outputs_agree(comparison, "B"):
        return "The outputs are not within 60 dB of those of the file as it is."
    verdict = comparison.verdict
    if verdict.high is not None and verdict.high < NOISE * WANTED_GAIN:
        return OverBudget(f"It is at most {verdict.high:.2f} times as fast; {WANTED_GAIN:g} times was asked.")
    return None


@exercise(
    "4.c",
    "Sum flops × calls_per_run over roofline.record.nodes.",
    "Divide by roofline.record.peaks.float32_flops, and mind the unit.",
    evidence="roofline",
)
def least_time(answer: Any, *, roofline: Roofline) -> str | None:
    """Check the least time in milliseconds that the operations need at the peak, within 20 %."""
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return "The answer is no number of milliseconds."
    record = roofline.record
    if not record.peaks.float32_flops:
        return "The peak was not measured here: make the roofline again."
    operations = sum((node.flops or 0) * node.calls_per_run for node in record.nodes)
    right_ms = 1e3 * operations / record.peaks.float32_flops
    if abs(answer - right_ms) <= _CLOSE * right_ms:
        return None
    if abs(answer - right_ms / 2) <= _CLOSE * right_ms / 2:
        return "Half of it: a multiplication and an addition are two operations."
    if abs(answer - 1e-3 * right_ms) <= _CLOSE * 1e-3 * right_ms:
        return "That is in seconds; milliseconds are asked."
    return f"The number is too {'high' if answer > right_ms else 'low'}."


def _in_blocked_layout(explanation: Any) -> int:
    nodes = explanation.explained.optimized.nodes
    return sum(BLOCKED in node.domain and "Conv" in node.op_type for node in nodes)


RUBRICS["4"] = Rubric(
    ("32 channels are 1.60 (1.58 to 1.62) times as fast as 29, although they compute 22 % more.",
     "32 channels are much faster."),
    ("With 32 all convolutions run in the blocked layout; with 29 none does, as the optimized graph shows.",
     "Powers of two are good."),
    ("A processor without the blocked layout pays for the channels; a GPU has blocks of its own.",
     "GPUs are different."),
)  # fmt: skip
