"""False alarms, power, and whether disturbed blocks are found: `python -m benchmarks.honesty`.

Parts: `quiet` and `busy` compare a config with itself; `slow3` and `slow2` plant a slow-down of 3 and 2 %
in B on a quiet machine, `busy3` plants 3 % while one core is kept busy on and off. `equal`, `tenth` and
`double` compare a config with itself, with one slower by a tenth and at half the speed, under the load that
`--load` makes: that of the machine, bursts on one and on two cores, or one or two cores busy all the time.
Each comparison becomes one line of the JSON-lines file, so a stopped run is not lost; `--append` adds to one
that exists, `--report` prints its table again. The counts go to a .json file beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.burners import busy_cores, pick
from benchmarks.frame import keep, loads, rows_of
from benchmarks.frame import table as markdown
from benchmarks.models import MODELS_HELP, model_paths
from workbench import Config, load
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.measure.compare import compare
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.regime import MIN_ROUNDS

MODELS = ("mlp", "cnn", "attention", "mlp-wide", "cnn-wide")
KINDS = ("faster", "slower", "tie", "unknown", "outputs differ")
PARTS = {  # part: (planted slow-down of B, own load, budget in seconds; None: the default)
    "quiet": (0.0, False, None),
    "busy": (0.0, True, None),
    "slow3": (0.03, False, None),
    "slow2": (0.02, False, None),
    "busy3": (0.03, True, 15.0),
    "equal": (0.0, False, None),
    "tenth": (0.1, False, None),
    "double": (1.0, False, None),
}
LOADS = ("none", "bursts", "one core", "two cores")  # of our own, around every comparison
Share = Callable[[float, float], float | None]  # of a span that was under our load


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.honesty", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=sorted(PARTS), default=list(PARTS))
    parser.add_argument("--tries", type=int, default=100, help="comparisons a part")
    parser.add_argument("--models", nargs="+", default=MODELS, help=MODELS_HELP)
    parser.add_argument("--load", choices=LOADS, default="none", help="of our own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path("honesty.jsonl"))
    parser.add_argument("--append", action="store_true", help="add to the file if it exists")
    parser.add_argument("--report", action="store_true", help="only print the table of an earlier run")
    options = parser.parse_args(arguments)
    if not options.report:
        if options.output.exists() and not options.append:
            parser.error(f"{options.output} exists: give another -o, or --append to add to it")
        with tempfile.TemporaryDirectory() as folder:
            paths = model_paths(Path(folder), options.models)
            for row in measure(options.parts, options.tries, options.seed, paths, options.load):
                keep(row, options.output)
                print(_line(row), file=sys.stderr)
    rows = rows_of(options.output)
    print(table(rows))
    counts = json.dumps(summary(rows), indent=1)
    options.output.with_suffix(".json").write_text(counts + "\n")
    print(counts)


def measure(
    parts: Iterable[str], tries: int, seed: int, paths: dict[str, Path], load: str
) -> Iterator[dict[str, Any]]:
    """Yield a row for each comparison. Parts take turns, so that no part has the quiet hour for itself."""
    rng = random.Random(seed)
    names = list(paths)
    for number in range(tries):
        for part in parts:
            name = names[number % len(names)]
            slow_down, on_and_off, budget_s = PARTS[part]
            with _under_load("one at times" if on_and_off else load, rng) as share:
                row = compare_once(paths[name], slow_down, budget_s, rng.getrandbits(30))
            blocks = _block_counts(row.pop("record"), row.pop("began"), share)
            yield {"part": part, "model": name, **row, "blocks": blocks}


@contextmanager
def _under_load(kind: str, rng: random.Random) -> Iterator[Share]:
    """Make a load of our own; what is yielded says afterwards which share of a span was under it."""
    if kind in ("one at times", "bursts"):
        with pick(rng, cores=1 if kind == "one at times" else 2) as on_and_off:
            yield on_and_off.share
    else:
        cores = {"none": 0, "one core": 1, "two cores": 2}[kind]
        with busy_cores(cores):
            yield lambda _start, _end: float(cores > 0)


def compare_once(path: Path, slow_down: float, budget_s: float | None, seed: int) -> dict[str, Any]:
    """Compare a config with itself, slowed down by this share, and return what was concluded."""
    model = load(path)
    inputs = model.inputs(seed=0)
    began, load_before = time.perf_counter(), os.getloadavg()[0]
    record = compare(
        CompareRequest(
            model=model.path,
            model_name=model.name,
            model_bytes=model.graph_bytes,
            model_record=model.record,
            configs=(Config(), Config()),
            feeds=inputs.feeds,
            inputs=inputs.record(),
            budget_s=budget_s,
            until_decided=True,
            seed=seed,
            slow_downs=(0.0, slow_down),
            began=began,
        )
    )
    verdict = record.verdict
    return {
        "workbench": record.versions.workbench,
        "ort": record.versions.onnxruntime,
        "kind": verdict.kind,
        "ratio": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "rounds": verdict.rounds,
        "reason": verdict.reason,
        "elapsed_s": time.perf_counter() - began,
        "load": load_before,
        "population": record.runs[0].population,
        "sampling": record.protocol.sampling_s / record.protocol.elapsed_s,
        "median_ms": (record.runs[0].latency.median_s or 0) * 1e3,
        "doubts": [doubt.kind for doubt in record.doubts],
        "record": record,
        "began": began,
    }


def _block_counts(record: ComparisonRecord, began: float, share_of: Share) -> dict[str, int]:
    """Blocks under our load and free of it, and how many of each were excluded."""
    counts = {"loaded": 0, "loaded_flagged": 0, "clean": 0, "clean_flagged": 0}
    for run in record.runs:
        for process in run.processes:
            for block in process.blocks:
                start = began + block.start_s
                share = share_of(start, start + block.wall_s)
                if share is None or 0.0 < share < 0.5:
                    continue
                kind = "loaded" if share else "clean"
                counts[kind] += 1
                counts[f"{kind}_flagged"] += bool(block.disturbed)
    return counts


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and shares a part."""
    parts = {}
    for part in dict.fromkeys(row["part"] for row in rows):
        mine = [row for row in rows if row["part"] == part]
        kinds = {kind: sum(row["kind"] == kind for row in mine) for kind in KINDS}
        blocks = {key: sum(row["blocks"][key] for row in mine) for key in mine[0]["blocks"]}
        seconds = sorted(row["elapsed_s"] for row in mine)
        shares = [row["sampling"] for row in mine if "sampling" in row]
        parts[part] = {
            "tries": len(mine),
            "models": sorted({row["model"] for row in mine}),
            **kinds,
            "blocks": blocks,
            "sampling": median(shares) if shares else None,
            "too_few_rounds": sum(row["rounds"] < MIN_ROUNDS for row in mine),
            "median_s": round(seconds[len(seconds) // 2], 1),
            "longest_s": round(seconds[-1], 1),
            "load": loads(mine) if all("load" in row for row in mine) else "unknown",
        }
    versions = {name: sorted({row[name] for row in rows if name in row}) for name in ("workbench", "ort")}
    return {"cores": os.cpu_count(), **versions, "parts": parts}


def table(rows: list[dict[str, Any]]) -> str:
    """The table of docs/measuring-evidence.md."""
    heads = (
        *("part", "load", "tries", *KINDS, "too few rounds"),
        *("loaded blocks found", "clean blocks excluded", "sampling", "median, longest"),
    )
    lines = []
    for part, counts in summary(rows)["parts"].items():
        blocks = counts["blocks"]
        sampling = "unknown" if counts["sampling"] is None else format(counts["sampling"], ".0%")
        lines.append((
            *(part, counts["load"], counts["tries"], *(counts[kind] for kind in KINDS)),
            counts["too_few_rounds"],
            _share(blocks["loaded_flagged"], blocks["loaded"]),
            _share(blocks["clean_flagged"], blocks["clean"]),
            *(sampling, f"{counts['median_s']} s, {counts['longest_s']} s"),
        ))  # fmt: skip
    return markdown(heads, lines)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of {whole:,}" if whole else "none"


def _line(row: dict[str, Any]) -> str:
    low, high = (f"{value:.4f}" if value is not None else "-" for value in (row["low"], row["high"]))
    ratio = f"{row['ratio']:.4f}" if row["ratio"] is not None else "-"
    return (
        f"{row['part']:6} {row['model']:10} {row['median_ms']:7.3f} ms  {row['kind']:8} "
        f"{ratio} [{low}, {high}] {row['rounds']} rounds {row['elapsed_s']:.1f} s {row['blocks']}"
    )


if __name__ == "__main__":
    main()
