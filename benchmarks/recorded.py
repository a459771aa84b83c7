"""What the judge concludes of rounds of equal configs that were recorded: `python -m benchmarks.recorded`.

It draws comparisons from the rounds, with and without a planted effect, and counts what the judge concludes,
so that a change of its rule shows in seconds. `--estimators` prints how wide an interval each estimator
leaves after a minute. `--record STATE` makes the rounds of `wb.compare` while other load comes and goes for
0.3 to 3 s on one and on two cores (`bursts`), keeps one or two cores busy, or is none of our own (`quiet`).
`benchmarks/series/STATE.json` keeps, for each round, the log ratio by estimator, of undisturbed cycles and of
all; further runs add to it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.burners import load_of
from benchmarks.frame import table as markdown
from benchmarks.models import MODELS_HELP, model_paths
from benchmarks.schemes import ESTIMATORS, SERIES, THE_RULE
from workbench import Config, load
from workbench.core.bundle.comparison import Kind
from workbench.core.measure.compare import compare
from workbench.core.measure.compare_request import CompareRequest, default_budget_s, longest_s
from workbench.core.measure.pairs import CLEAN_SHARE, MIN_CLEAN_CYCLES, Pair, cycles_of, population_of
from workbench.core.measure.regime import BUSY
from workbench.core.measure.sequential import scatter_of
from workbench.core.measure.verdict import Criteria, is_enough, judge

STATES = ("quiet", "bursts", "one core", "two cores")  # of the machine, in series of rounds
RECORDED = ("digits-conv", "digits-vit", "mlp", "attention", "cnn")
NEVER_SETTLED = 1e-6  # a smallest effect that no interval resolves: the budget ends the comparison
STRETCH = 3  # rounds drawn as they followed each other
TRIES = 60  # comparisons drawn for each effect
EFFECTS = (1.0, 1.02, 1.03, 1.1, 2.0)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.recorded", description=__doc__)
    parser.add_argument("--estimators", action="store_true", help="print their table instead")
    parser.add_argument("--record", choices=STATES, help="only add rounds of equal configs to a series")
    parser.add_argument("--models", nargs="+", default=RECORDED, help=MODELS_HELP)
    parser.add_argument("--seconds", type=float, default=40.0, help="of a recorded model")
    options = parser.parse_args(arguments)
    if options.record:
        record(options.record, options.models, options.seconds)
    else:
        print(estimators_table() if options.estimators else rule_table(TRIES))


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
