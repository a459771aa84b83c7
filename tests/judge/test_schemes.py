"""What the recorded series says of schemes and estimators; `benchmarks.schemes` made it on a busy machine."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import stdev

from benchmarks.schemes import ESTIMATORS, table

SERIES = Path(__file__).parents[2] / "benchmarks" / "series" / "busy-two-cores.json.gz"
ROWS = json.loads(gzip.decompress(SERIES.read_bytes()))


def scatter(case: str, scheme: str, estimator: str) -> float:
    mine = [row["cycles"] for row in ROWS if (row["case"], row["scheme"]) == (case, scheme)]
    return stdev(ESTIMATORS[estimator](cycles) for cycles in mine)


def test_single_runs_scatter_least_where_all_threads_are_used() -> None:
    for case in ("digits-vit:all", "digits-conv:all", "mlp:all"):
        single = scatter(case, "1 run", "fastest three quarters")
        assert single < scatter(case, "20 ms", "fastest three quarters") / 2


def test_the_fastest_quarter_scatters_less_than_more_of_the_runs_do() -> None:
    quarter, most = (
        sum(scatter(row["case"], row["scheme"], name) for row in ROWS)
        for name in ("fastest quarter", "fastest three quarters")
    )
    assert quarter < most


def test_the_committed_table_is_the_one_of_the_series() -> None:
    page = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text("utf-8")
    assert table(ROWS).partition("\n\n")[2] in page
