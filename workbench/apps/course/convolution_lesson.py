"""The exercises of the lesson on convolutional nets."""

from __future__ import annotations

from typing import Any

import workbench as wb
from sample_models.drawn_nets import conv_net
from workbench.apps.course.exercise import exercise, problem_of_speed, wrong
from workbench.apps.course.level_lesson import BLOCKED
from workbench.apps.course.progress import seconds
from workbench.core.config import Config

WANTED_GAIN = 1.2  # recorded on a quiet machine: 1.24
NOISE = 0.9  # of the wanted gain: less is refused, beyond what load and another processor take away
_CLOSE = 0.2  # of the least time


@exercise("4.a", evidence="roofline")
def most_to_gain(answer: Any, *, roofline: wb.Roofline) -> str | None:
    """Check the node that loses most time to its limit."""
    nodes = roofline.record.nodes
    if answer not in [node.node for node in nodes]:
        return wrong("4.a", "no node")
    gains_s = {node.node: node.could_gain_s for node in nodes if node.could_gain_s is not None}
    if not gains_s:
        return wrong("4.a", "no limit")
    if answer in gains_s and gains_s[answer] >= 0.999 * max(gains_s.values()):
        return None
    largest = max(nodes, key=lambda node: node.flops or 0)
    return wrong("4.a", "computes most" if answer == largest.node else "other")


@exercise("4.b", answers=Config, limit=f"at least {WANTED_GAIN:g} times faster")
def faster_file(answer: Config, *, model: Any) -> str | None:
    """Check a config that makes the planted net 1.2 times faster, with equal outputs.

    On a processor without a blocked layout any config with equal outputs counts. A gain counts too if the
    interval reaches nine tenths of it, so a busy machine fails nobody.
    """
    if answer.precision is not None:
        return wrong("4.b", "precision")
    plain, blocked = _in_blocked_layout(model), _in_blocked_layout(model, answer)
    if blocked <= plain and _in_blocked_layout(conv_net()):
        return wrong("4.b", "not blocked", plain=plain)
    comparison = wb.compare(model, Config(), answer, budget_s=seconds(30), progress=False, keep=False)
    return problem_of_speed(comparison, NOISE * WANTED_GAIN, wrong("4.b", "asked", gain=WANTED_GAIN))


@exercise("4.c", answers=float, evidence="roofline")
def least_time(answer: float, *, roofline: wb.Roofline) -> str | None:
    """Check the least time in milliseconds that the operations need at the peak, within 20 %."""
    record = roofline.record
    if not record.peaks.float32_flops:
        return wrong("4.c", "no peak")
    operations = sum((node.flops or 0) * node.calls_per_run for node in record.nodes)
    right_ms = 1e3 * operations / record.peaks.float32_flops
    for times, problem in ((1.0, None), (0.5, wrong("4.c", "half")), (1e-3, wrong("4.c", "seconds"))):
        if abs(answer - times * right_ms) <= _CLOSE * times * right_ms:
            return problem
    return wrong("4.c", "too high" if answer > right_ms else "too low")


def _in_blocked_layout(model: Any, config: Config | None = None) -> int:
    """Return how many convolutions of the optimized graph work in the blocked layout."""
    nodes = wb.explain(model, config, keep=False).explained.optimized.nodes
    return sum(BLOCKED in node.domain and "Conv" in node.op_type for node in nodes)
