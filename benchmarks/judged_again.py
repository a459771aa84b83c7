"""Recorded comparisons, judged by the rule of today: `python -m benchmarks.judged_again FILE`.

A file is one of `benchmarks.honesty`; without one it is `benchmarks/series/bursts-comparisons.jsonl`, the
comparisons of 28 November 2026 while load came and went. Each comparison has the rounds that it had then, so
that a change of the rule shows on the same rounds. One that is not decided where its rounds end is unknown.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.frame import loads, rows_of, table
from workbench.core.bundle.comparison import Kind
from workbench.core.measure.compare_request import default_budget_s, longest_s
from workbench.core.measure.pairs import Pair, population_of
from workbench.core.measure.verdict import Criteria, is_enough, judge

SERIES = Path(__file__).parent / "series"
RECORDED_COMPARISONS = SERIES / "bursts-comparisons.jsonl"
VERDICTS: tuple[Kind, ...] = ("faster", "slower", "tie", "unknown")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.judged_again", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=RECORDED_COMPARISONS)
    print(judged_again_table(rows_of(parser.parse_args(arguments).file)))


def judged_again_table(rows: list[dict[str, Any]]) -> str:
    """Return what was concluded of each part, and what is concluded now, as Markdown."""
    lines = []
    for part in dict.fromkeys(row["part"] for row in rows):
        mine = [row for row in rows if row["part"] == part]
        again = [judged_again(row) for row in mine]
        for when, kinds, times_s in (
            ("then", [row["kind"] for row in mine], [row["elapsed_s"] for row in mine]),
            ("now", [kind for kind, _ in again], [time_s for _, time_s in again]),
        ):
            counts = Counter(kinds)
            lines.append(
                (part, loads(mine), when, *(counts[kind] for kind in VERDICTS), f"{median(times_s):.0f} s")
            )
    return table(("part", "load", "judged", *VERDICTS, "median"), lines)


def judged_again(row: dict[str, Any]) -> tuple[Kind, float]:
    """Return the verdict on the rounds of a comparison, and the time it takes.

    Of a round without undisturbed cycles the file has no ratio; it counts in no verdict on the others.
    """
    is_busy = row["population"] == "all"
    pairs = [
        Pair(number, None if is_busy else ratio, math.nan if ratio is None else ratio, 0, 0)
        for number, ratio in enumerate(row["pairs"], 1)
    ]
    return concluded(pairs, row["median_ms"] / 1e3, row["elapsed_s"] / len(pairs))


def concluded(rounds: Iterable[Pair], run_s: float, round_s: float) -> tuple[Kind, float]:
    """Return the verdict of a default comparison on these rounds, or on as many as it takes, and the time."""
    ends_s, longer, looks, pairs = default_budget_s(run_s, round_s), False, (), list[Pair]()
    for pair in rounds:
        pairs.append(pair)
        criteria = Criteria(population=population_of([pairs]), looks=looks)
        verdict = judge("B", pairs, (), criteria, final=True)
        spent_s = len(pairs) * round_s
        if is_enough(pairs, criteria, narrow=not longer):
            break
        if spent_s + round_s > ends_s:
            if longer or verdict.kind != "unknown":
                break
            longer, ends_s, looks = True, longest_s(ends_s, run_s), (verdict.rounds,)
    return verdict.kind, spent_s


if __name__ == "__main__":
    main()
