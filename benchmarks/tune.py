"""How good the choice of `wb.tune` is: regret, false promotions and gain against an exhaustive search.

    python -m benchmarks.tune [--models NAME …] [--tries N] [--budget S] [--exhaustive-budget S]
                              [--max-accuracy-drop SHARE] [--max-error SHARE] [--minutes M]
                              [--file ROWS.jsonl]
    python -m benchmarks.tune --report [--file ROWS.jsonl]     the summary of the rows, nothing is measured
    python -m benchmarks.tune --worlds [--tries N]             simulated: recorded effects as truths

For each model: every config of the default space in interleaved rounds (the exhaustive search), then the
studies, then the leading configs and all that were chosen once more on fresh rounds, from which regret and
gain follow. Rows go to the file as soon as they are measured, and a second call goes on where the first one
was stopped; `--minutes` stops it, so that it can be spread over several quiet times. With the defaults,
eight models take about 45 minutes: 180 s of exhaustive search a model, three studies of 30 s, and up to a
minute of fresh rounds. Two usual ways to search are replayed on the recorded processes of the exhaustive
search (`benchmarks.usual_searches`).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import workbench as wb
from benchmarks.frame import keep, moment, rows_of
from benchmarks.tune_summary import Rows, replays, summary
from benchmarks.tune_worlds import simulate, simulate_large
from benchmarks.usual_searches import RUNS
from sample_models.drawn_nets import encoder
from workbench.core.bundle.comparison import Verdict
from workbench.core.config import Config
from workbench.core.models import Inputs, Model
from workbench.features.accuracy.acceptance import outputs_beyond
from workbench.features.tune.space import Space

MODELS = (
    *("encoder", "digits-conv", "digits-vit", "char-gpt", "mobilenetv2", "efficientnet-b0"),
    *("llama-small", "distilbert"),
)
GENERATED = {
    "encoder": encoder,
    "encoder-tiny": partial(encoder, width=128, layers=2, heads=2),  # BERT-tiny's shape
    "encoder-small": partial(encoder, width=384, layers=6, heads=12, length=32),  # a sentence encoder's
}
SHORT = dict.fromkeys(("distilbert", "bert-base", "bert-base-dynamo"), 32)  # tokens: a study has some rounds
EXHAUSTIVE = 6.0  # times the budget of a study
REPLAYS = 10  # of each usual way a model
GROUP = 8  # configs that race in one comparison of the exhaustive search
LEADING = 6  # configs that are measured once more, beside those that a study chose
AGAIN = 2.0  # times the budget of a study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--worlds", action="store_true", help="simulate instead of measuring")
    parser.add_argument("--report", action="store_true", help="measure nothing: the summary of the rows")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--tries", type=int, default=3, help="studies a model")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds a study")
    exhaustive_help = f"seconds of each exhaustive search; {EXHAUSTIVE:.0f} times a study"
    parser.add_argument("--exhaustive-budget", type=float, help=exhaustive_help)
    parser.add_argument("--max-accuracy-drop", type=float, help="let int8 take part, on labelled examples")
    parser.add_argument("--max-error", type=float, help="let int8 take part, by the error of its outputs")
    parser.add_argument("--file", type=Path, default=Path("tune.jsonl"))
    minutes_help = "begin no measurement after this time; a second call goes on"
    parser.add_argument("--minutes", type=float, default=math.inf, help=minutes_help)
    options = parser.parse_args()
    until = time.monotonic() + 60 * options.minutes
    if options.worlds:
        simulate(max(options.tries, 50))
        simulate_large()
        return
    goal = wb.Goal(max_accuracy_drop=options.max_accuracy_drop, max_error=options.max_error)
    rows = [row for row in rows_of(options.file) if row.get("goal") == repr(goal)]
    for name in () if options.report else options.models:
        if time.monotonic() >= until:
            break
        known = [row for row in rows if row["model"] == name]
        try:
            for row in measure(name, goal, options, known, until):
                rows.append({**row, "model": name, "goal": repr(goal)})
                keep(rows[-1], options.file)
        except Exception as error:  # noqa: BLE001 - whatever one model meets, the others count
            print(f"{name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        print(summary([row for row in rows if row["model"] == name], options.budget), flush=True)
    rows = [row for row in rows if row["model"] in options.models]
    print("\n" + summary(rows, options.budget), flush=True)
    spaces = {name: space_of(name, goal)[2] for name in dict.fromkeys(row["model"] for row in rows)}
    for title in RUNS:
        print(replays(rows, title, spaces, key, REPLAYS), flush=True)


def measure(
    name: str, goal: wb.Goal, options: argparse.Namespace, known: Rows, until: float
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one model that are missing; begin no measurement after `until`."""
    model, inputs, space = space_of(name, goal)
    rows = list(known)
    exhaustive_s = options.exhaustive_budget or EXHAUSTIVE * options.budget
    for row in exhaustive(model, inputs, space, goal, exhaustive_s, known, until):
        rows.append(row)
        yield row
    studied = [row for row in known if row["kind"] == "study" and row["budget_s"] == options.budget]
    for seed in range(len(studied), options.tries):
        if time.monotonic() >= until:
            return
        row = studied_row(model, inputs, space, goal, options.budget, seed)
        rows.append(row)
        yield row
    if time.monotonic() < until:
        yield from again(model, inputs, space, AGAIN * options.budget, rows)


def space_of(name: str, goal: wb.Goal) -> tuple[Model, Inputs, Space]:
    """Return the model, its inputs and its default space; sizes stay free, or the space would double."""
    made = GENERATED[name]() if name in GENERATED else name
    model = wb.load(made)
    inputs = model.inputs(sequence=SHORT[name]) if name in SHORT else model.inputs()
    space = wb.default_space(model, inputs=inputs, limits=goal)
    fixes_sizes = any(axis.name == "free_dimensions" for axis in space.axes)
    return model, inputs, space.without("free_dimensions") if fixes_sizes else space


def key(config: Config) -> str:
    """Return the text of a config as ONNX Runtime takes it: the order of passes is of no matter, and below
    the level of fusions none of them runs anyway."""
    below = config.level in ("basic", "disabled")
    return repr(config.replace(disabled_passes=() if below else tuple(sorted(config.disabled_passes))))


def configs_of(space: Space) -> dict[str, Config]:
    """Return the configs of a space that differ for ONNX Runtime by their texts, the plainest of each."""
    configs: dict[str, Config] = {}
    for config in space.configs():
        configs.setdefault(key(config), config)
    return configs


def exhaustive(
    model: Model, inputs: Inputs, space: Space, goal: wb.Goal, budget_s: float, known: Rows, until: float
) -> Iterator[dict[str, Any]]:
    """Yield the gain of every config of the space, and the means that people would have seen."""
    configs = configs_of(space)
    del configs[key(Config())]
    refused = refused_precisions(model, goal, space)
    measured = {row["config"] for row in known if row["kind"] == "truth"}
    missing = [text for text, config in configs.items() if text not in measured]
    for text in missing:
        if configs[text].precision in refused:
            yield {"kind": "truth", "config": text, "gain": None, "rounds": 0, "means_s": {}, "changes": []}
    missing = [text for text in missing if configs[text].precision not in refused]
    timed = sum(config.precision not in refused for config in configs.values())
    for start in range(0, len(missing), GROUP):
        if time.monotonic() >= until:
            return
        group = missing[start : start + GROUP]
        began = time.perf_counter()
        compared = wb.compare(
            model, Config(), *(configs[text] for text in group), inputs=inputs, progress=False, keep=False,
            budget_s=budget_s * len(group) / timed,
        )  # fmt: skip
        elapsed_s, load = time.perf_counter() - began, os.getloadavg()[0]
        yield {"kind": "default", "means_s": means(compared.runs[0]), "elapsed_s": elapsed_s, "load": load}
        for text, verdict, run in zip(group, compared.verdicts, compared.runs[1:], strict=True):
            yield {
                "kind": "truth", "config": text, "gain": gain_of(verdict),
                "rounds": len(run.processes), "means_s": means(run),
                "changes": sorted(configs[text].changed()),
            }  # fmt: skip


def refused_precisions(model: Model, goal: wb.Goal, space: Space) -> set[Any]:
    """Return the precisions of the space that break a limit on the outputs."""
    refused = set()
    for config in (option for axis in space.axes for option in axis.options):
        if config.precision is not None:
            record = wb.accuracy(model, Config(), config, progress=False, keep=False).record
            if outputs_beyond(record, "B", goal):
                refused.add(config.precision)
    return refused


def studied_row(
    model: Model, inputs: Inputs, space: Space, goal: wb.Goal, budget_s: float, seed: int
) -> dict[str, Any]:
    """Run one study; return what it chose, and how long it measured each candidate.

    A study that ends with an error, such as a budget that is too short, leaves the defaults.
    """
    began, best, rounds = time.perf_counter(), Config(), list[int]()
    try:
        result = wb.tune(
            model, space, limits=goal, budget_s=budget_s, inputs=inputs, seed=seed, progress=False, keep=False
        )
    except wb.WorkbenchError as error:
        ended = str(error)
    else:
        best, ended = result.best, result.record.ended
        rounds = [candidate.rounds for candidate in result.record.candidates[1:] if candidate.rounds]
    return {
        "kind": "study", "try": seed, "best": key(best), "ended": ended,
        "budget_s": budget_s, "elapsed_s": time.perf_counter() - began,
        "rounds": fmean(rounds) if rounds else 0.0, **moment(),
    }  # fmt: skip


def again(
    model: Model, inputs: Inputs, space: Space, budget_s: float, rows: Rows
) -> Iterator[dict[str, Any]]:
    """Yield the gains of the leading and the chosen configs on fresh rounds: the best of many looks better
    than it is."""
    gains = {row["config"]: row["gain"] for row in rows if row["kind"] == "truth" and row["gain"] is not None}
    leading = sorted(gains, key=lambda text: -gains[text])[:LEADING]
    chosen = [row["best"] for row in rows if row["kind"] == "study" and row["best"] != key(Config())]
    measured = {row["config"] for row in rows if row["kind"] == "again"}
    missing = [text for text in dict.fromkeys((*leading, *chosen)) if text not in measured]
    configs = configs_of(space)
    if not missing:
        return
    compared = wb.compare(
        model, Config(), *(configs[text] for text in missing), inputs=inputs, budget_s=budget_s, seed=1,
        progress=False, keep=False,
    )  # fmt: skip
    for text, verdict in zip(missing, compared.verdicts, strict=True):
        yield {"kind": "again", "config": text, "gain": gain_of(verdict), "verdict": verdict.kind}


def gain_of(verdict: Verdict) -> float | None:
    """Return the log gain of a config; None where nothing was measured, or it computes something else."""
    return None if verdict.kind == "outputs differ" or verdict.ratio is None else math.log(verdict.ratio)


def means(run: Any) -> dict[str, list[float]]:
    """Return the mean of the first runs of each process, for each number of runs that people take."""
    samples_s = [[s for block in process.blocks for s in block.samples_s] for process in run.processes]
    return {str(runs): [fmean(part[:runs]) for part in samples_s if part] for runs in RUNS.values()}


if __name__ == "__main__":
    main()
