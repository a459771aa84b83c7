"""How much the ratio of equal configs scatters, by scheme and estimator: `python -m benchmarks.schemes`.

Each round measures one config in two processes by every scheme, in random order: blocks of a given length,
A B B A or B A A B, the partner frozen. The table says, for the sampling of one round, the standard deviation
of the log ratio over the rounds for each estimator, and the share of the time that was sampling.
`--series NAME` keeps the raw times in `benchmarks/series/NAME.json.gz`; `--replay NAME` prints their table
again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median, stdev
from typing import Any

from benchmarks.frame import loads
from benchmarks.frame import table as markdown
from benchmarks.models import MODELS_HELP, model_paths
from workbench import Config, load
from workbench.core.measure.pairs import (
    FASTEST_SHARE,
    TYPICAL_SHARE,
    typical_s,
)
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import write_values

SCHEMES = {  # name: (seconds a block, least runs, runs before the first sample)
    "20 ms": (0.020, 3, 0),
    "10 ms, lead-in": (0.010, 2, 1),
    "5 ms, lead-in": (0.005, 2, 1),
    "2 ms, lead-in": (0.002, 1, 1),
    "1 run": (0.0, 1, 0),
}
SERIES = Path(__file__).parent / "series"
CASES = ("mlp:all", "attention:all", "attention:1")
WARM_UP = {"floor_s": 0.06, "bound_s": 1.5, "floor_runs": 4, "pacing_s": None}
Cycle = tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]  # blocks of samples, a side each


def _pooled(share: float) -> Callable[[Sequence[Cycle]], float]:
    """Return the estimator from the fastest passes of all blocks of a side."""

    def log_ratio(cycles: Sequence[Cycle]) -> float:
        first_s, second_s = ([s for cycle in cycles for s in _flat(cycle[side])] for side in (0, 1))
        return _log_ratio(first_s, second_s, share)

    return log_ratio


def _neighbours(share: float) -> Callable[[Sequence[Cycle]], float]:
    """Return the estimator from the fastest passes of each two blocks that follow each other."""

    def log_ratio(cycles: Sequence[Cycle]) -> float:
        return median(_log_ratio(a, b, share) for cycle in cycles for a, b in zip(*cycle, strict=True))

    return log_ratio


def _log_ratio(first_s: Sequence[float], second_s: Sequence[float], share: float) -> float:
    return math.log(typical_s(first_s, share) / typical_s(second_s, share))


def _flat(blocks: Iterable[Sequence[float]]) -> list[float]:
    return [sample for block in blocks for sample in block]


THE_RULE = "neighbours, fastest third"
ESTIMATORS: dict[str, Callable[[Sequence[Cycle]], float]] = {
    "all runs": _pooled(1.0),
    "fastest three quarters": _pooled(TYPICAL_SHARE),
    "fastest third": _pooled(1 / 3),
    "fastest twentieth": _pooled(1 / 20),
    "neighbours, all": _neighbours(1.0),
    "neighbours, fastest half": _neighbours(0.5),
    THE_RULE: _neighbours(FASTEST_SHARE),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.schemes", description=__doc__)
    models_help = f"{MODELS_HELP}; `:1` behind one are its threads"
    parser.add_argument("--models", nargs="+", help=models_help)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, help="of sampling, a scheme and round")
    parser.add_argument("--series", metavar="NAME", help="keep the raw times in benchmarks/series")
    parser.add_argument("--replay", metavar="NAME", nargs="+", help="only print the table of such series")
    options = parser.parse_args(arguments)
    if options.replay:
        rows = [row for name in options.replay for row in series(name)]
    else:
        path = SERIES / f"{options.series}.json.gz"
        if options.series and path.exists():
            parser.error(f"there is a series {options.series!r}; give another name")
        rows = list(measure(options.models or CASES, options.rounds, options.seconds or 0.4))
        if options.series:
            path.write_bytes(gzip.compress(json.dumps(rows).encode(), mtime=0))
    print(table(rows))


def series(name: str) -> list[dict[str, Any]]:
    """Return the raw times of a series, a row for each model, round and scheme."""
    rows: list[dict[str, Any]] = json.loads(gzip.decompress((SERIES / f"{name}.json.gz").read_bytes()))
    return rows


def measure(models: Iterable[str], rounds: int, seconds: float) -> Iterable[dict[str, Any]]:
    """Yield a row for each model, round and scheme."""
    rng = random.Random(0)
    for case in models:
        name, _, threads = case.partition(":")
        config = Config() if threads in ("", "all") else Config(intra_op_threads=int(threads))
        with tempfile.TemporaryDirectory() as folder:
            (path,) = model_paths(Path(folder), [name]).values()
            model = load(path)
            feeds = Path(folder) / "feeds"
            write_values(feeds, model.inputs(seed=0).feeds)
            load_body = {"model": str(model.path), "plan": config.plan().to_dict()}
            for _ in range(rounds):
                with Worker(Path(folder), name="A") as first, Worker(Path(folder), name="B") as second:
                    for worker in (first, second):
                        worker.hello(timeout_s=60)
                    for worker in (first, second):
                        _ask(worker, "load", load_body)
                        _ask(worker, "first_run", {"feeds": str(feeds)})
                        _ask(worker, "warm_up", WARM_UP)
                        worker.freeze()
                    for scheme in rng.sample(list(SCHEMES), len(SCHEMES)):
                        began, load_now = time.perf_counter(), os.getloadavg()[0]
                        cycles = _cycles((first, second), scheme, seconds, rng)
                        yield {
                            "case": case,
                            "scheme": scheme,
                            "wall_s": time.perf_counter() - began,
                            "load": load_now,
                            "cycles": cycles,
                        }


def _cycles(workers: tuple[Worker, Worker], scheme: str, seconds: float, rng: random.Random) -> list[Cycle]:
    block_s, least, lead_in = SCHEMES[scheme]
    body = {"seconds": block_s, "min_runs": least, "max_runs": 500, "pacing_s": None, "slow_down": 0.0}
    cycles: list[Cycle] = []
    spent_s = 0.0
    while spent_s < seconds:
        order = rng.sample([0, 1], 2)
        sides: tuple[list[list[float]], list[list[float]]] = ([], [])
        for side in order + order[::-1]:
            workers[side].thaw()
            payload = _ask(workers[side], "block", {**body, "lead_in": lead_in})
            workers[side].freeze()
            samples = array("q")
            samples.frombytes(payload)
            sides[side].append([sample / 1e9 for sample in samples])
            spent_s += sum(sides[side][-1])
        cycles.append(sides)
    return cycles


def _ask(worker: Worker, kind: str, body: dict[str, Any]) -> bytes:
    return worker.request(kind, body, stage=kind, timeout_s=120).payload


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the scatter by case, scheme and estimator, as Markdown."""
    lines = []
    for case in dict.fromkeys(row["case"] for row in rows):
        for scheme in SCHEMES:
            mine = [row for row in rows if (row["case"], row["scheme"]) == (case, scheme)]
            samples = [s for row in mine for cycle in row["cycles"] for side in cycle for s in _flat(side)]
            share = sum(samples) / sum(row["wall_s"] for row in mine)
            scatter = (
                f"{stdev(estimate(row['cycles']) for row in mine) * 100:.1f} %"
                for estimate in ESTIMATORS.values()
            )
            lines.append((case, scheme, f"{median(samples) * 1e3:.2f} ms", f"{share:.0%}", *scatter))
    heads = ("model", "scheme", "median", "sampling", *ESTIMATORS)
    return f"{os.cpu_count()} cores, load {loads(rows)}\n\n{markdown(heads, lines)}"


if __name__ == "__main__":
    main()
