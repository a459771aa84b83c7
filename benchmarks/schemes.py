"""How much the ratio of equal configs scatters, by scheme and estimator: `python -m benchmarks.schemes`.

Each round measures one config in two processes by every scheme, in random order: blocks of a given length,
A B B A or B A A B, the partner frozen. The table says, for the sampling of one round, the standard deviation
of the log ratio over the rounds for each estimator, and the share of the time that was sampling.
`--series NAME` keeps the raw times in `benchmarks/series/NAME.json.gz`; `--replay NAME` prints their table
again. `--rule` draws comparisons from rounds of equal configs that `--record STATE` recorded, with and
without a planted effect, and counts what the judge concludes, so that a change of its rule shows in seconds.

`--record` makes the rounds of `wb.compare` while other load comes and goes for 0.3 to 3 s on one and on two
cores (`bursts`), keeps one or two cores busy, or is none of our own (`quiet`). `benchmarks/series/STATE.json`
keeps, for each round, the log ratio by estimator, of undisturbed cycles and of all; further runs add to it.
`--estimators` prints how wide an interval each leaves after a minute.
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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from benchmarks.burners import load_of
from benchmarks.frame import loads
from benchmarks.frame import table as markdown
from benchmarks.models import MODELS_HELP, model_paths
from workbench import Config, load
from workbench.core.bundle.comparison import Kind
from workbench.core.measure.compare import compare
from workbench.core.measure.compare_request import CompareRequest, default_budget_s, longest_s
from workbench.core.measure.pairs import (
    CLEAN_SHARE,
    FASTEST_SHARE,
    MIN_CLEAN_CYCLES,
    TYPICAL_SHARE,
    Pair,
    cycles_of,
    population_of,
    typical_s,
)
from workbench.core.measure.regime import BUSY
from workbench.core.measure.sequential import scatter_of
from workbench.core.measure.verdict import Criteria, is_enough, judge
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
STATES = ("quiet", "bursts", "one core", "two cores")  # of the machine, in series of rounds
RECORDED = ("digits-conv", "digits-vit", "mlp", "attention", "cnn")
NEVER_SETTLED = 1e-6  # a smallest effect that no interval resolves: the budget ends the comparison
STRETCH = 3  # rounds drawn as they followed each other
CASES = ("mlp:all", "attention:all", "attention:1")
TRIES = 60  # comparisons drawn for each effect
EFFECTS = (1.0, 1.02, 1.03, 1.1, 2.0)
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
    parser.add_argument("--seconds", type=float, help="of sampling, a scheme and round, or a recorded model")
    parser.add_argument("--series", metavar="NAME", help="keep the raw times in benchmarks/series")
    parser.add_argument("--replay", metavar="NAME", nargs="+", help="only print the table of such series")
    parser.add_argument("--rule", action="store_true", help="only judge comparisons drawn from series")
    parser.add_argument("--estimators", action="store_true", help="only print the table of such rounds")
    parser.add_argument("--record", choices=STATES, help="only add rounds of equal configs to a series")
    options = parser.parse_args(arguments)
    if options.record:
        record(options.record, options.models or RECORDED, options.seconds or 40.0)
        return
    if options.rule or options.estimators:
        print(rule_table(TRIES) if options.rule else estimators_table())
        return
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


def record(state: str, names: Iterable[str], seconds: float) -> None:
    """Add rounds of equal configs of each model to the series of a state of the machine."""
    output = SERIES / f"{state}.json"
    rows = json.loads(output.read_text()) if output.exists() else []
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder, load_of(state, rng):
        for name, path in model_paths(Path(folder), names).items():
            rows += recorded_rounds(name, path, seconds, rng.getrandbits(30))
            lines = ",\n".join(json.dumps(row) for row in rows)
            output.write_text(f"[\n{lines}\n]\n")


def recorded_rounds(name: str, path: Path, seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each round of a config against itself."""
    model = load(path)
    request = CompareRequest.of(
        model, (Config(), Config()), model.inputs(seed=0), budget_s=seconds, smallest_effect=NEVER_SETTLED,
        seed=seed,
    )  # fmt: skip
    made = compare(request)
    first, second = made.runs
    for a, b in zip(first.processes, second.processes, strict=True):
        every, clean = cycles_of(a, b)
        yield {
            "model": name,
            "median_ms": round((first.latency.median_s or 0.0) * 1e3, 3),
            "load": round(os.getloadavg()[0], 1),
            "round_s": round(made.protocol.elapsed_s / len(first.processes), 2),
            "all": _by_estimator(every),
            "clean": _by_estimator(clean) if len(clean) >= MIN_CLEAN_CYCLES else None,
        }


def _by_estimator(cycles: Iterable[Any]) -> list[float]:
    samples = [tuple([block.samples_s for block in side] for side in cycle) for cycle in cycles]
    return [round(estimate(samples), 4) for estimate in ESTIMATORS.values()]  # type: ignore[arg-type]


def recorded() -> Iterator[tuple[str, list[list[dict[str, Any]]]]]:
    """Yield each state that was recorded, with the rounds of each model."""
    for state in STATES:
        path = SERIES / f"{state}.json"
        rows = json.loads(path.read_text()) if path.exists() else []
        models = [[row for row in rows if row["model"] == name] for name in {row["model"]: 0 for row in rows}]
        if models:
            yield state, models


def estimators_table() -> str:
    """Return the standard error that a minute leaves, by estimator: a mean over models, as Markdown."""
    lines = []
    for number, name in enumerate(ESTIMATORS):
        cells = []
        for _, models in recorded():
            logs = [math.log(_standard_error(rounds, number)) for rounds in models]
            cells.append(f"{math.exp(fmean(logs)):.2%}")
        lines.append((name, *cells))
    return markdown(("estimator", *(state for state, _ in recorded())), lines)


def _standard_error(rounds: Sequence[dict[str, Any]], number: int) -> float:
    """Return what is left after a minute: three tenths of the rounds that count are trimmed at either end."""
    of_a_minute = 60 / rounds[0]["round_s"]
    ratios = [row["clean"] and row["clean"][number] for row in rounds]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < CLEAN_SHARE * len(rounds):
        known = [row["all"][number] for row in rounds]
    counted = of_a_minute * len(known) / len(rounds)
    return scatter_of(known, BUSY.trims[0]) / (1 - 2 * BUSY.trims[0]) / math.sqrt(counted)


def rule_table(tries: int) -> str:
    """Return what the judge concludes of drawn comparisons, by state of the machine, as Markdown."""
    kinds: tuple[Kind, ...] = ("faster", "slower", "tie", "unknown")
    lines = []
    for state, models in recorded():
        for effect in EFFECTS:
            rng = random.Random(0)
            drawn = [answer(models[number % len(models)], math.log(effect), rng) for number in range(tries)]
            counts = Counter(kind for kind, _ in drawn)
            times_s = sorted(seconds for _, seconds in drawn)
            ends = f"{median(times_s):.0f} s, {times_s[math.ceil(0.95 * tries) - 1]:.0f} s"
            lines.append(
                (state, sum(map(len, models)), f"{effect:g}", *(counts[kind] for kind in kinds), ends)
            )
    return markdown(("series", "rounds", "effect", *kinds, "median, 95 % end within"), lines)


def answer(rows: Sequence[dict[str, Any]], effect: float, rng: random.Random) -> tuple[Kind, float]:
    """Return the verdict of a default comparison drawn from rounds of one model, and how long it takes."""
    run_s, round_s = rows[0]["median_ms"] / 1e3, rows[0]["round_s"]
    ends_s, longer, looks, pairs = default_budget_s(run_s, round_s), False, (), list[Pair]()
    for pair in _drawn(rows, effect, rng):
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


def _drawn(rows: Sequence[dict[str, Any]], effect: float, rng: random.Random) -> Iterator[Pair]:
    rule = list(ESTIMATORS).index(THE_RULE)
    for number in count():
        if number % STRETCH == 0:
            start = rng.randrange(len(rows))
        row, sign = rows[(start + number) % len(rows)], rng.choice((-1, 1))  # either process is A
        clean = None if row["clean"] is None else effect + sign * row["clean"][rule]
        yield Pair(number + 1, clean, effect + sign * row["all"][rule], 0, 0)


if __name__ == "__main__":
    main()
