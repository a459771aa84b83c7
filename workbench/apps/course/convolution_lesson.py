"""The lesson on convolutional nets: where the time goes by kind of convolution, and the exercises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sample_models.drawn_nets import conv_net
from workbench.apps.course.exercise import exercise, is_number, problem_of_speed, wrong
from workbench.apps.course.lesson_figure import LessonFigure
from workbench.apps.course.level_lesson import BLOCKED
from workbench.apps.course.progress import seconds
from workbench.core.config import Config
from workbench.core.text import in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, percent, series_look

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison
    from workbench.features.profile.result import Profile
    from workbench.features.profile.roofline.node_limits import NodeLimit
    from workbench.features.profile.roofline.result import Roofline

WANTED_GAIN = 1.2  # recorded on a quiet machine: 1.24
NOISE = 0.9  # of the wanted gain: less is refused, beyond what load and another processor take away
_CLOSE = 0.2  # of the least time
OTHERS = "no convolution"


def conv_kinds(profile: Profile, roofline: Roofline) -> LessonFigure:
    """Set operations beside time for each kind of node: depthwise, 1×1, larger convolutions, the rest."""
    kinds = {} if profile.optimized is None else kinds_of(profile.optimized)
    return grouped(roofline.record.nodes, kinds)


def kinds_of(model: Any) -> dict[str, str]:
    """Return the kind of each convolution of a graph by the node's name."""
    kinds = {}
    for node in model.graph.node:
        if "Conv" in node.op_type:
            attributes = {attribute.name: attribute for attribute in node.attribute}
            sizes = attributes["kernel_shape"].ints if "kernel_shape" in attributes else ()
            kernel = "×".join(map(str, sizes)) or "of unknown size"
            grouped_channels = "group" in attributes and attributes["group"].i > 1
            kinds[node.name] = f"depthwise {kernel}" if grouped_channels else kernel
    return kinds


def grouped(nodes: tuple[NodeLimit, ...], kinds: Mapping[str, str]) -> LessonFigure:
    """Sum operations and time up by kind, the most time first.

    `bound` is what binds most of the time of a kind; `achieved` is the limit of its time over its time.
    """
    groups: dict[str, list[NodeLimit]] = defaultdict(list)
    for node in nodes:
        groups[kinds.get(node.node, OTHERS)].append(node)
    all_operations, all_s = _operations(nodes), _seconds(nodes)
    looks = series_look(0, "share of the operations"), series_look(1, "share of the time")
    rows, sentences, bars = [], [], []
    computed = groups.items() if all_operations and all_s else ()
    for kind, members in sorted(computed, key=lambda group: -_seconds(group[1])):
        shares = _operations(members) / all_operations, _seconds(members) / all_s
        bound, achieved = _binding(members)
        rows.append((kind, len(members), *shares, bound, achieved))
        drawn = zip(shares, looks, strict=True)
        values = tuple(Value(percent(share), f"{share:.0%}", look) for share, look in drawn)
        bars.append(ChartRow(kind, (values,)))
        sentences.append(
            f"{kind} ({len(members)}): {shares[0]:.0%} of the operations, {shares[1]:.0%} of the time, "
            f"{in_ms(_seconds(members), 3)}{f', mostly bound by {bound}' if bound else ''}"
        )
    sentence = "; ".join(sentences) or f"No node {'computed anything' if nodes else 'was profiled'}."
    chart = Chart((f"Operations are no time; {sentence}",), (Axis("share of a run (%)"),), tuple(bars))
    columns = ("kind", "nodes", "operations_share", "time_share", "bound", "achieved")
    return LessonFigure(sentence, chart, columns, rows)


def _operations(nodes: Iterable[NodeLimit]) -> int:
    return sum(int((node.flops or 0) * node.calls_per_run) for node in nodes)


def _seconds(nodes: Iterable[NodeLimit]) -> float:
    return sum(node.time_s for node in nodes)


def _binding(nodes: list[NodeLimit]) -> tuple[str | None, float | None]:
    """Return what binds most of the time, and how near to their limits the nodes come, where it is known."""
    bounds: dict[str, float] = defaultdict(float)
    for node in nodes:
        if node.bound is not None:
            bounds[node.bound] += node.time_s
    limited = [node for node in nodes if node.limit_s is not None]
    limited_s = _seconds(limited)
    achieved = sum(node.limit_s or 0.0 for node in limited) / limited_s if limited_s else None
    return max(bounds, key=lambda bound: bounds[bound], default=None), achieved


@exercise("4.a", evidence="roofline")
def most_to_gain(answer: Any, *, roofline: Roofline) -> str | None:
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
    from workbench.features.compare.call import compare
    from workbench.features.explain.calls import explain

    if answer.precision is not None:
        return wrong("4.b", "precision")
    plain = _in_blocked_layout(explain(model, keep=False))
    blocked = _in_blocked_layout(explain(model, answer, keep=False))
    if blocked <= plain and _in_blocked_layout(explain(conv_net(), keep=False)):
        return wrong("4.b", "not blocked", plain=plain)
    return gained(compare(model, Config(), answer, budget_s=seconds(30), progress=False, keep=False))


def gained(comparison: Comparison) -> str | None:
    """Return why a candidate is not as much faster as wanted, or None."""
    return problem_of_speed(comparison, NOISE * WANTED_GAIN, wrong("4.b", "asked", gain=WANTED_GAIN))


@exercise("4.c", evidence="roofline")
def least_time(answer: Any, *, roofline: Roofline) -> str | None:
    """Check the least time in milliseconds that the operations need at the peak, within 20 %."""
    if not is_number(answer):
        return wrong("4.c", "no number")
    record = roofline.record
    if not record.peaks.float32_flops:
        return wrong("4.c", "no peak")
    operations = sum((node.flops or 0) * node.calls_per_run for node in record.nodes)
    right_ms = 1e3 * operations / record.peaks.float32_flops
    for times, problem in ((1.0, None), (0.5, wrong("4.c", "half")), (1e-3, wrong("4.c", "seconds"))):
        if abs(answer - times * right_ms) <= _CLOSE * times * right_ms:
            return problem
    return wrong("4.c", "too high" if answer > right_ms else "too low")


def _in_blocked_layout(explanation: Any) -> int:
    nodes = explanation.explained.optimized.nodes
    return sum(BLOCKED in node.domain and "Conv" in node.op_type for node in nodes)
