"""The exercises of the lesson on measuring."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.apps.course.article import article_tables
from workbench.apps.course.decision import RUBRICS, Rubric
from workbench.apps.course.exercise import ANSWERS, budget_of_comparison, exercise, verdict_kind
from workbench.apps.course.saved_pairs import saved_pairs
from workbench.core.measure.sequential import interval
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison

_NEAR = 0.002
CONTRADICTIONS = {
    frozenset(cells)
    for cells in (
        # The same model, precision and GPU with two latencies.
        ("quantization-bert/FP16 (CUDA)/latency_ms", "pytorch-latency/BERT-Base/ort_cuda_ms"),
        # One pass over 256 tokens and 128 generated tokens with the same latency.
        ("provider-latency/GPT-2 Small/cuda_ms", "pytorch-latency/GPT-2 Small/ort_cuda_ms"),
        ("provider-latency/GPT-2 Small/tensorrt_fp16_ms", "pytorch-latency/GPT-2 Small/ort_tensorrt_ms"),
        # The winner has no column, and of the two columns the other one is lower.
        ("pytorch-latency/LLaMA-7B/winner", "pytorch-latency/LLaMA-7B/ort_cuda_ms"),
        # Three rows of the level table equal the A100's CUDA column, this one does not.
        ("levels-latency/BERT-Base/all_ms", "provider-latency/BERT-Base/cuda_ms"),
        ("levels-latency/ResNet-50/all_ms", "provider-latency/ResNet-50/cuda_ms"),
    )
}


@exercise(
    "1.a",
    "Reduce each pair to one number first: the logarithm of A's mean over B's mean.",
    "Student's t with 11 degrees of freedom is 2.201; the half width is 2.201 × stdev / √12.",
)
def interval_of_pairs(answer: Any) -> str | None:
    """Check (ratio, low, high) of the saved pairs against Student's t over one number a pair."""
    try:
        ratio, low, high = (float(number) for number in answer)
    except (TypeError, ValueError):
        return "The answer is not three numbers: (ratio, low, high)."
    if not low < ratio < high:
        return "The ratio does not lie inside the interval."
    log_ratios = [math.log(fmean(pair.a_ms) / fmean(pair.b_ms)) for pair in saved_pairs()]
    right = interval(log_ratios, error=0.05)
    assert right is not None
    if max(abs(low - math.exp(right.low)), abs(high - math.exp(right.high))) <= _NEAR:
        return (
            None if abs(ratio - math.exp(right.middle)) <= _NEAR else "The interval is right, the ratio not."
        )
    width, right_width = high - low, math.exp(right.high) - math.exp(right.low)
    if width < 0.7 * right_width:
        return (
            f"The interval is {right_width / width:.1f} times too narrow: samples of one process are no "
            "independent evidence, so pooling them promises too much."
        )
    return "The interval is not that of Student's t at 95 % over twelve numbers."


@exercise(
    "1.b",
    "Where does the interval lie? Above 1, below 1, close around 1, or none of these?",
    "comparison.verdict.kind is the library's word; unknown means not settled.",
    budget_s=20.0,
    spent=budget_of_comparison,
    evidence="comparison",
)
def verdict_in_words(answer: Any, *, comparison: Comparison) -> str | None:
    """Check a verdict in words against that of the comparison."""
    if answer not in ANSWERS:
        return f"The answer is none of: {', '.join(ANSWERS)}."
    kind = verdict_kind(comparison.verdict)
    if answer == kind:
        return None
    if kind == "not settled":
        return "The interval allows more than one answer, so the question is not settled."
    return f"The interval excludes {answer!r}."


@exercise(
    "1.c",
    "Look for BERT in float16 on the A100: it stands in two tables.",
    "Compare what the columns of the LLaMA-7B row say with the row's winner.",
)
def contradictions(answer: Any) -> str | None:
    """Check two pairs of cells that contradict each other."""
    try:
        pairs = {frozenset(pair) for pair in answer}
    except TypeError:
        return "The answer is no list of pairs of cells."
    cells = {name for table in article_tables().values() for name in table.cells()}
    for pair in pairs:
        if unknown := sorted(str(name) for name in pair if name not in cells):
            return f"The tables have no cell {one_line(unknown[0], 80)!r}."
        if pair not in CONTRADICTIONS:
            names = " and ".join(sorted(pair))
            return f"{names} can both be true: a condition that is not stated may differ."
    return None if len(pairs) >= 2 else "Two different pairs are wanted."


RUBRICS["1"] = Rubric(
    ("One thread is 1.07 (1.02 to 1.12) times as fast as the default, over 14 pairs of processes.",
     "One thread is 7 % faster."),
    ("Two threads of this small net wait for each other: 1.9 times the processor time for the same work.",
     "Threads have overhead."),
    ("A quiet machine, or a model of more than 5 ms a run, may turn the answer: compare again there.",
     "It depends."),
)  # fmt: skip
