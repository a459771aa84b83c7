"""Whether the shares of a pipeline foretell what a faster stage gives: `python -m benchmarks.pipelines`.

A stage of known length is planted behind a model. Its measured share says what the whole gains when this
stage takes half as long; the same pipeline with the shorter stage is then measured beside it.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from statistics import fmean
from typing import Any

import workbench as wb
from workbench.features.pipelines.sessions import pipeline_pairs

LONG_S = 0.004


def long(logits: Any) -> Any:
    """Wait awake for `LONG_S`."""
    return _wait(logits, LONG_S)


def short(logits: Any) -> Any:
    """Wait awake for half of it."""
    return _wait(logits, LONG_S / 2)


def _wait(logits: Any, seconds: float) -> Any:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return logits


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.pipelines", description=__doc__)
    parser.add_argument("--models", nargs="+", default=["digits-conv", "mobilenetv2"])
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of each model")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; the planted stage takes {LONG_S * 1e3:g} ms, then half of it")
    for model in options.models:
        pipelines = [wb.Pipeline([model, ("wait", function)]) for function in (long, short)]
        result = wb.measure_pipelines(*pipelines, budget_s=options.budget, progress=False, keep=False)
        first, second = result.record.runs
        stage = result.stages()[1]
        share, told = stage.share, stage.gain(2)
        seen = math.exp(fmean(pair.log_ratio_all for pair in pipeline_pairs(first, second)))
        verdict = result.record.verdicts[0]
        ends = verdict.reason if verdict.low is None else f"{verdict.low:.3f} to {verdict.high:.3f}"
        parts = sum(row.time.value or 0.0 for row in first.figures)
        print(
            f"{model}: share {share.value:.3f} ({share.low:.3f} to {share.high:.3f}); foretold "
            f"{told.value:.3f}× ({told.low:.3f} to {told.high:.3f}), measured {seen:.3f}× ({ends}); "
            f"stages sum to {parts / (first.whole.value or 1):.3f} of a pass with one clock"
        )


if __name__ == "__main__":
    main()
