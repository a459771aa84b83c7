"""Whether the factors of static int8 hold on models that they were not fitted to.

`python -m benchmarks.int8_factors FOLDER`, a folder as of `benchmarks.zoo`. For each model with convolutions,
a row of a JSON-lines file has the shares of a run that the prediction reads, and the measured gain of static
int8. Each model is then left out in turn: the factors are fitted to all others, and predict its gain.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import workbench as wb
from benchmarks.zoo import files, name_of
from workbench.features.findings.gather import gather
from workbench.features.findings.rules import int8

SHARES = ("convolutions", "layout", "in float", "slower")
# The factors that are tried: of convolutions in int8, of casts around float operators, of integer operators.
GRID = tuple(itertools.product((1.5, 2.0, 2.5, 3.0, 4.0, 6.0), (0.0, 1.0, 2.0, 3.0), (0.0, 0.6, 1.3, 2.0)))
IN_THE_RULE = (int8.STATIC_FASTER, int8.CASTS, int8.SLOWER)
WITHIN = 1.5
Factors = tuple[float, float, float]


def row_of(path: Path, budget_s: float) -> dict[str, Any] | None:
    """Return the shares and the measured gain of a model; None without convolutions or without int8."""
    model = wb.load(path)
    inputs = model.inputs()
    model = model.with_inputs(inputs)
    shares = dict(zip(SHARES, int8.static_shares(gather(model, wb.Config(), inputs)), strict=True))
    if not shares["convolutions"]:
        return None
    static = wb.Config(precision=wb.StaticInt8(samples=4))
    result = wb.compare(model, wb.Config(), static, budget_s=budget_s, progress=False, keep=False)
    before_s, after_s = (run.latency.median_s for run in result.runs)
    if any(run.failure for run in result.runs) or before_s is None or after_s is None:
        return None
    return {"name": name_of(path), **shares, "measured": result.verdict.ratio or before_s / after_s}


def predicted(row: dict[str, Any], factors: Factors) -> float:
    """Return the speed-up that these factors predict."""
    faster, casts, slower = factors
    saved = row["convolutions"] * (1 - 1 / faster) + row["layout"]
    return float(1 / max(0.05, 1 - saved + row["in float"] * casts + row["slower"] * slower))


def error(rows: Sequence[dict[str, Any]], factors: Factors) -> float:
    """Return how far the predictions are off, as the sum of the logarithms of the ratios."""
    return sum(abs(math.log(predicted(row, factors) / row["measured"])) for row in rows)


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each model with its gain, measured, by the rule and by the factors of the others."""
    lines, held = [f"{'model':34} measured  rule  others' factors"], [0, 0]
    for row in rows:
        others = [other for other in rows if other is not row]
        fitted = min(GRID, key=lambda factors: error(others, factors))
        values = [predicted(row, factors) for factors in (IN_THE_RULE, fitted)]
        for place, value in enumerate(values):
            held[place] += abs(math.log(value / row["measured"])) <= math.log(WITHIN)
        lines.append(f"{row['name']:34} {row['measured']:8.2f} {values[0]:5.2f} {values[1]:6.2f} {fitted}")
    return "\n".join([*lines, f"within {WITHIN} times: rule {held[0]}, others' {held[1]} of {len(rows)}"])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.int8_factors", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budget", type=float, default=12.0, help="seconds of each comparison")
    parser.add_argument("-o", "--output", type=Path, default=Path("int8_factors.jsonl"))
    options = parser.parse_args(arguments)
    lines = options.output.read_text().splitlines() if options.output.exists() else []
    rows = [json.loads(line) for line in lines]
    with options.output.open("a") as output:
        for path in files(options.folder):
            if any(row["name"] == name_of(path) for row in rows):
                continue
            try:
                row = row_of(path, options.budget)
            except wb.WorkbenchError as refusal:
                print(f"{name_of(path)} is left out: {refusal.problem}")
                continue
            if row is not None:
                rows.append(row)
                output.write(json.dumps(row) + "\n")
                output.flush()
    print(report(rows))


if __name__ == "__main__":
    main()
