"""How good the choice of `wb.tune` is: regret, false promotions and gain against an exhaustive search.

    python -m benchmarks.tune [--models NAME …] [--tries N] [--budget S] [--file ROWS.jsonl]
    python -m benchmarks.tune --worlds [--tries N]

The first form measures on this machine: every config of the default space in interleaved rounds, three times
as long as a study takes, then the studies. Rows go to the file, and a second call goes on where the first one
was stopped. Two usual ways to search are replayed on the recorded runs of that exhaustive search, one process
a config: Optuna's TPE with the mean of 50 runs, and the best mean of 20 runs, as Olive measures. `--worlds`
simulates: recorded effects as truths, and the same two ways beside our studies.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import workbench as wb
from tests.search.worlds import TRUTHS, Outcome, Truth, study
from workbench.config import Config
from workbench.records.space import Space
from workbench.search.optuna_trials import Sampler

MODELS = (
    *("digits-conv", "digits-vit", "char-gpt", "mobilenetv2", "efficientnet-b0", "llama-small"),
    *("distilbert", "bert-base-dynamo"),
)
GROUP = 8  # configs that race in one comparison of the exhaustive search
TPE = "TPE, 50 runs"
USUAL = {TPE: 50, "best mean of 20 runs": 20}
TRIALS = 40
REFUSED = -20.0  # the log speed of a config whose outputs differ
REPLAYS = 25  # of each usual way
DRIFT = 0.05  # log scatter between moments: what measurements one after the other do not share
RUN_SCATTER = 0.15  # log scatter of a single run within its process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--worlds", action="store_true", help="simulate instead of measuring")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--budget", type=float, default=120.0)
    parser.add_argument("--max-accuracy-drop", type=float, help="let int8 take part")
    parser.add_argument("--file", type=Path, default=Path("tune.jsonl"))
    options = parser.parse_args()
    if options.worlds:
        simulate(max(options.tries, 50))
        return
    rows = (
        [json.loads(line) for line in options.file.read_text().splitlines()] if options.file.exists() else []
    )
    for name in options.models:
        for row in measure(name, options, [row for row in rows if row["model"] == name]):
            rows.append(row)
            with options.file.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print(summary(rows, options.models, wb.Goal(max_accuracy_drop=options.max_accuracy_drop)))


def measure(name: str, options: argparse.Namespace, known: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one model that are missing: the truth of its space, then one row a study."""
    model = wb.load(name)
    goal = wb.Goal(max_accuracy_drop=options.max_accuracy_drop)
    space = wb.default_space(model, limits=goal)
    truths = {row["config"]: row["gain"] for row in known if row["kind"] == "truth"}
    missing = [config for config in space.configs() if config != Config() and repr(config) not in truths]
    seconds = 3 * options.budget * GROUP / max(1, len(space))
    for start in range(0, len(missing), GROUP):
        group = missing[start : start + GROUP]
        compared = wb.compare(model, Config(), *group, budget_s=seconds, progress=False, keep=False)
        yield {"kind": "default", "model": name, "means_s": means(compared.runs[0])}
        for config, verdict, run in zip(group, compared.verdicts, compared.runs[1:], strict=True):
            usable = verdict.kind != "outputs differ" and verdict.ratio
            gain = truths[repr(config)] = math.log(verdict.ratio) if usable else -math.inf
            row = {"kind": "truth", "model": name, "config": repr(config), "gain": gain}
            yield {**row, "means_s": means(run), "load": os.getloadavg()[0]}
    truths[repr(Config())] = 0.0
    again = {row["config"]: row["gain"] for row in known if row["kind"] == "again"}
    if not again:  # the best of many looks better than it is: measure the first ones once more
        every = {repr(config): config for config in space.configs()}
        leading = sorted(truths, key=lambda text: -truths[text])[:GROUP]
        first = [every[text] for text in leading if every[text] != Config()]
        compared = wb.compare(
            model, Config(), *first, budget_s=3 * options.budget, progress=False, keep=False
        )
        for config, verdict in zip(first, compared.verdicts, strict=True):
            gain = again[repr(config)] = math.log(verdict.ratio or 1.0)
            yield {"kind": "again", "model": name, "config": repr(config), "gain": gain}
    truths |= again
    best = max([0.0, *again.values()])
    for seed in range(len([row for row in known if row["kind"] == "study"]), options.tries):
        found = wb.tune(
            model, space, limits=goal, budget_s=options.budget, seed=seed, progress=False, keep=False
        )
        gain = truths.get(repr(found.best), -math.inf)
        yield {
            "kind": "study", "model": name, "try": seed, "best": repr(found.best), "gain": gain,
            "regret": max(0.0, math.expm1(best - gain)), "elapsed_s": found.record.elapsed_s,
            "load": os.getloadavg()[0], "date": datetime.now(UTC).date().isoformat(),
        }  # fmt: skip


def means(run: Any) -> dict[str, list[float]]:
    """Return the mean of the first runs of each process, for each number of runs that people take."""
    samples_s = [[s for block in process.blocks for s in block.samples_s] for process in run.processes]
    return {str(runs): [fmean(part[:runs]) for part in samples_s if part] for runs in USUAL.values()}


def summary(rows: list[dict[str, Any]], models: Sequence[str], goal: wb.Goal) -> str:
    """Return a line a model and one for all, then the usual ways replayed on the same runs."""
    lines, spaces = [], {name: wb.default_space(name, limits=goal) for name in models}
    studies = [row for row in rows if row["kind"] == "study" and row["model"] in models]
    for name in dict.fromkeys(row["model"] for row in studies):
        lines.append(f"{name}: {report([row for row in studies if row['model'] == name])}")
    lines.append(f"all: {report(studies)}")
    if studies:
        loads = sorted(row["load"] for row in studies)
        lines.append(f"load {loads[0]:.1f} to {loads[-1]:.1f}, {studies[-1]['date']}")
    for title, runs in USUAL.items():
        replays = [
            row
            for name in dict.fromkeys(row["model"] for row in studies)
            for row in replayed([row for row in rows if row["model"] == name], title, runs, spaces[name])
        ]
        lines.append(f"{title}, replayed: {report(replays)}")
    return "\n".join(lines)


def replayed(rows: list[dict[str, Any]], title: str, runs: int, space: Space) -> Iterator[dict[str, Any]]:
    """Yield the outcomes of a usual way on one model: each config is measured once, in one process."""
    truths = {row["config"]: row["gain"] for row in rows if row["kind"] == "truth"}
    means_s = {row["config"]: row["means_s"][str(runs)] for row in rows if row["kind"] == "truth"}
    default = repr(Config())
    means_s[default] = [s for row in rows if row["kind"] == "default" for s in row["means_s"][str(runs)]]
    truths[default] = 0.0
    truths |= {row["config"]: row["gain"] for row in rows if row["kind"] == "again"}
    best = max(0.0, *(row["gain"] for row in rows if row["kind"] == "again"))
    for seed in range(REPLAYS):
        rng = random.Random(seed)
        once = {text: -math.log(rng.choice(values)) for text, values in means_s.items() if values}

        def measured(config: Config, once: dict[str, float] = once) -> float:
            text = repr(config)
            return once[text] if truths.get(text, -math.inf) > -math.inf and text in once else REFUSED

        search = tpe if title == TPE else at_random
        gain = truths[repr(search(space, measured, seed, min(TRIALS, len(once))))]
        yield {"kind": title, "gain": gain, "regret": max(0.0, math.expm1(best - gain))}


def report(rows: list[dict[str, Any]]) -> str:
    """Return regret, false promotions and gain over all studies."""
    if not rows:
        return "no study was measured"
    regrets = sorted(row["regret"] for row in rows)
    false = sum(row["gain"] < 0 for row in rows)
    return (
        f"{len(rows)} studies: regret at most 2 % in {sum(r <= 0.02 for r in regrets) / len(rows):.0%}, "
        f"90 % of them at most {regrets[math.ceil(0.9 * len(rows)) - 1]:.1%}; "
        f"{false / len(rows):.1%} false promotions; gain {math.exp(fmean(row['gain'] for row in rows)):.2f}×"
    )


def simulate(tries: int) -> None:
    """Print our studies beside two usual ways to search, in the same worlds."""
    for name, (space, truth) in TRUTHS.items():
        best = min(truth(config) for config in (*space.configs(), *space.starts))
        for scatter in (0.01, 0.04):
            ours = [study(space, truth, scatter=scatter, budget_s=120.0, seed=seed) for seed in range(tries)]
            print(f"{name}, {scatter:.0%}: wb.tune {rates(ours)}")
            for title, search, runs in ((TPE, tpe, 50), ("best mean of 20 runs", at_random, 20)):
                chosen = [
                    search(space, noisy(truth, scatter, runs, random.Random(seed)), seed)
                    for seed in range(max(10, tries // 5))
                ]
                outcomes = [Outcome(c, truth(c) / best - 1, 1 / truth(c), 0.0, 0.0) for c in chosen]
                print(f"{name}, {scatter:.0%}: {title} {rates(outcomes)}")


def rates(outcomes: list[Outcome]) -> str:
    """Return the rates of some searches in words."""
    good = sum(outcome.regret <= 0.02 for outcome in outcomes) / len(outcomes)
    false = sum(outcome.gain < 1.0 for outcome in outcomes) / len(outcomes)
    mean = math.exp(fmean(math.log(outcome.gain) for outcome in outcomes))
    return f"regret at most 2 % in {good:.0%}, {false:.0%} false promotions, gain {mean:.2f}×"


def noisy(truth: Truth, scatter: float, runs: int, rng: random.Random) -> Callable[[Config], float]:
    """Return one measurement of a config by itself: the mean of some runs of one process at some moment."""

    def measured(config: Config) -> float:
        moment, process = rng.gauss(0, DRIFT), rng.gauss(0, scatter / math.sqrt(2))
        run = rng.gauss(0, RUN_SCATTER / math.sqrt(runs))
        return -math.log(truth(config)) + moment + process + run

    return measured


def tpe(space: Space, measured: Callable[[Config], float], seed: int, trials: int = TRIALS) -> Config:
    """Return what plain TPE finds: the config with the best single measurement."""
    sampler, configs = Sampler(space, Config(), seed), {"A": Config()}
    gains = {"A": {1: measured(Config())}}
    while len(configs) < trials:
        for config in sampler(configs, [gains], 4):
            label = f"L{len(configs)}"
            configs[label], gains[label] = config, {1: measured(config)}
    return configs[max(gains, key=lambda label: gains[label][1])]


def at_random(space: Space, measured: Callable[[Config], float], seed: int, trials: int = TRIALS) -> Config:
    """Return the config with the best mean among some that were drawn."""
    every = [config for config in space.configs() if config != Config()]
    drawn = [Config(), *random.Random(seed).sample(every, min(trials, len(every)))]
    return max(drawn, key=measured)


if __name__ == "__main__":
    main()
