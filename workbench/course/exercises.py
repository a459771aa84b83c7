"""The exercises of the lessons: how each answer is checked, and the hints for wrong ones."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.config.plan import LEVELS
from workbench.course import (
    convolution_checks,
    fusion_checks,
    int8_checks,
    memory_checks,
    provider_checks,
    transformer_checks,
    tuning_checks,
)
from workbench.course.article import article_tables
from workbench.course.exercise import ANSWERS, Exercise, budget_of_comparison, outputs_agree, verdict_kind
from workbench.course.saved_pairs import saved_pairs
from workbench.course.thread_checks import enough_threads, most_throughput, seconds_of_load
from workbench.judge.sequential import interval
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.results.comparison import Comparison
    from workbench.results.explanation import Explanation
    from workbench.results.levels import Levels

NEAR = 0.002
BLOCKED = "nchwc"  # in the name of the operators that work in the blocked layout
CONTRADICTIONS: dict[frozenset[str], str] = {
    frozenset(cells): reason
    for cells, reason in (
        (
            ("quantization-bert/FP16 (CUDA)/latency_ms", "pytorch-latency/BERT-Base/ort_cuda_ms"),
            "the same model, precision and GPU with two latencies",
        ),
        (
            ("provider-latency/GPT-2 Small/cuda_ms", "pytorch-latency/GPT-2 Small/ort_cuda_ms"),
            "one pass over 256 tokens and 128 generated tokens with the same latency",
        ),
        (
            ("provider-latency/GPT-2 Small/tensorrt_fp16_ms", "pytorch-latency/GPT-2 Small/ort_tensorrt_ms"),
            "one pass over 256 tokens and 128 generated tokens with the same latency",
        ),
        (
            ("pytorch-latency/LLaMA-7B/winner", "pytorch-latency/LLaMA-7B/ort_cuda_ms"),
            "the winner has no column, and of the two columns the other one is lower",
        ),
        (
            ("levels-latency/BERT-Base/all_ms", "provider-latency/BERT-Base/cuda_ms"),
            "three rows of the level table equal the A100's CUDA column, this one does not",
        ),
        (
            ("levels-latency/ResNet-50/all_ms", "provider-latency/ResNet-50/cuda_ms"),
            "three rows of the level table equal the A100's CUDA column, this one does not",
        ),
    )
}


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
    if max(abs(low - math.exp(right.low)), abs(high - math.exp(right.high))) <= NEAR:
        return (
            None if abs(ratio - math.exp(right.middle)) <= NEAR else "The interval is right, the ratio not."
        )
    width, right_width = high - low, math.exp(right.high) - math.exp(right.low)
    if width < 0.7 * right_width:
        return (
            f"The interval is {right_width / width:.1f} times too narrow: samples of one process are no "
            "independent evidence, so pooling them promises too much."
        )
    return "The interval is not that of Student's t at 95 % over twelve numbers."


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


def level_of_blocked_layout(answer: Any, *, levels: Levels) -> str | None:
    """Check the first level whose graph holds operators of the blocked layout."""
    rows = levels.record.rows
    right = next((row.level for row in rows if any(BLOCKED in op.casefold() for op, _ in row.ops)), "none")
    if answer == right:
        return None
    if answer == "extended":
        return "The article says so. Look for operators with nchwc in their name at each level."
    return "The operators at each level say something else."


def _rank(config: Config) -> int:
    names: list[str | None] = [*LEVELS, None]  # None: ORT's default
    return names.index(config.level)


EXERCISES = {
    **fusion_checks.EXERCISES,
    **convolution_checks.EXERCISES,
    **memory_checks.EXERCISES,
    **transformer_checks.EXERCISES,
    "1.a": Exercise(
        interval_of_pairs,
        (
            "Reduce each pair to one number first: the logarithm of A's mean over B's mean.",
            "Student's t with 11 degrees of freedom is 2.201; the half width is 2.201 × stdev / √12.",
        ),
    ),
    "1.b": Exercise(
        verdict_in_words,
        (
            "Where does the interval lie? Above 1, below 1, close around 1, or none of these?",
            "comparison.verdict.kind is the library's word; unknown means not settled.",
        ),
        budget=20.0,
        spent=budget_of_comparison,
    ),
    "1.c": Exercise(
        contradictions,
        (
            "Look for BERT in float16 on the A100: it stands in two tables.",
            "Compare what the columns of the LLaMA-7B row say with the row's winner.",
        ),
    ),
    "2.a": Exercise(
        removing_pass,
        (
            "explanation.provenance.to_frame() has a column passes.",
            "A node may be changed by several passes; the last of its own list removed it.",
        ),
    ),
    "2.b": Exercise(
        fewest_optimizations,
        (
            "Give wb.compare the default first, then the lower levels.",
            "A tie counts. Where nothing is settled, the default is the answer: wb.Config().",
        ),
        budget=40.0,
        spent=budget_of_comparison,
    ),
    "2.c": Exercise(
        level_of_blocked_layout,
        (
            "Each row of levels.record.rows has its operators in .ops.",
            "Operators of the blocked layout have nchwc in their name.",
        ),
    ),
    "5.a": Exercise(
        enough_threads,
        (
            "threads.to_frame() has latency_s for each count; take the rows that spin.",
            "threads.record.knee() is the fewest threads within 5 % of the best.",
        ),
        limit="at most 5 % above the best latency",
    ),
    "5.b": Exercise(
        most_throughput,
        (
            "load.to_frame() has a row for each config and number of callers.",
            "First leave out what exceeds the p99, then take the largest throughput.",
        ),
        budget=90.0,
        spent=seconds_of_load,
        limit="99 of 100 requests within the goal",
    ),
    "5.c": Exercise(
        verdict_in_words,
        (
            "In sequential mode one node runs after the other: who would use a second pool?",
            "comparison.verdict.kind is the library's word; unknown means not settled.",
        ),
        budget=20.0,
        spent=budget_of_comparison,
    ),
    **int8_checks.EXERCISES,
    **provider_checks.EXERCISES,
    **tuning_checks.EXERCISES,
}
