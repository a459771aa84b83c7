"""The exercises of the lesson on transformers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import workbench as wb
from workbench.apps.course.exercise import exercise, wrong
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.measure.percentiles import Figure

_CLOSE = 0.25  # of the ends of the measured interval
ROUNDED = 0.02  # of a value on the line
ROUGHLY = 2.0  # times the latency, where it has no interval
NOT_SETTLED = "not settled"


@exercise("6.a")
def fused_attention(answer: Any, *, model: Any) -> str | None:
    """Check a config whose transformer fusion makes one operator of each attention."""
    if not isinstance(answer, Config) or answer.fusion is None:
        return wrong("6.a", "no fusion")
    loaded = wb.load(model)
    wanted = sum(node.op_type == "Softmax" for node in loaded.structure.graph.node)
    try:
        prepared = wb.prepare(loaded, answer)
    except WorkbenchError as error:
        return wrong("6.a", "refused", problem=one_line(str(error.args[0]), 160))
    step = next(step for step in prepared.steps if step.name == "transformer fusion")  # rewrites come first
    fused = sum(dict(step.statistics).get(name, 0) for name in ("Attention", "MultiHeadAttention"))
    if fused == wanted:
        return None
    note = wrong("6.a", "record", note=one_line(prepared.notes[0], 160)) if prepared.notes else ""
    return wrong("6.a", "unfused", fused=fused, wanted=wanted) + note


@exercise("6.b", budget_s=120.0, evidence="comparison")
def fastest_file(answer: Any, *, comparison: wb.Comparison) -> str | None:
    """Check the label of the fastest file; of several that are not settled apart each is right."""
    labels = [run.label for run in comparison.runs]
    if answer not in (NOT_SETTLED, *labels):
        return wrong("6.b", "no label", labels=", ".join([*labels, NOT_SETTLED]))
    faster = {verdict.label: verdict for verdict in comparison.verdicts if verdict.kind == "faster"}
    if not faster:
        slower = [verdict.label for verdict in comparison.verdicts if verdict.kind == "slower"]
        return wrong("6.b", "slower") if answer in slower else None
    best = max(faster.values(), key=lambda verdict: verdict.bound or 0.0)
    if answer == NOT_SETTLED:
        return wrong("6.b", "settled", label=best.label)
    if answer not in faster:
        return wrong("6.b", "not faster")
    high = faster[answer].high
    return None if (math.inf if high is None else high) >= (best.low or 0.0) else wrong("6.b", "less")


@exercise("6.c", answers=float)
def expected_latency(answer: float, *, sweep: wb.Sweep, axis: str, size: int) -> str | None:
    """Check a latency in milliseconds that was foreseen for a size, within 25 % of its interval.

    Sizes are measured one after the other, and other programs come and go meanwhile: what follows from the
    two sizes before is right even if the third was disturbed.
    """
    rows = [row for row in sweep.record.all_cells() if row.label == "A"]
    measured = {dict(row.place.sizes)[axis]: row.latency() for row in rows}
    value = measured[size].value if size in measured else None
    if value is None:
        return wrong("6.c", "not measured", axis=axis, size=size)
    low_ms, high_ms = accepted_ms(measured[size], value)
    foreseen_ms = line_ms({point: row.value for point, row in measured.items() if row.value}, size)
    follows = foreseen_ms is not None and abs(answer - foreseen_ms) <= ROUNDED * abs(foreseen_ms)
    if low_ms <= answer <= high_ms or follows:
        return None
    return wrong("6.c", "too high" if answer > high_ms else "too low", answer=answer)


def accepted_ms(estimate: Figure, value: float) -> tuple[float, float]:
    """Return the accepted range: wider where too few rounds were measured for an interval."""
    if estimate.low is None or estimate.high is None:
        return 1e3 * value / ROUGHLY, 1e3 * value * ROUGHLY
    return 1e3 * estimate.low * (1 - _CLOSE), 1e3 * estimate.high * (1 + _CLOSE)


def line_ms(values_s: dict[int, float], size: int) -> float | None:
    """Return the latency at a size on the line through the two largest sizes before it."""
    before = sorted(point for point in values_s if point < size)[-2:]
    if len(before) < 2:
        return None
    first, second = before
    slope = (values_s[second] - values_s[first]) / (second - first)
    return 1e3 * (values_s[second] + slope * (size - second))
