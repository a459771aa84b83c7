"""False alarms, power, and whether disturbed blocks are found: `python -m benchmarks.honesty`.

Parts: `quiet` and `busy` compare a config with itself; `slow3` and `slow2` plant a slow-down of 3 and 2 %
in B on a quiet machine, `busy3` plants 3 % while one core is kept busy on and off. Each comparison becomes
one line of the JSON-lines file, so a stopped run is not lost; `--append` adds to one that exists, `--report`
prints its table again. The counts go to a .json file beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.burners import pick
from benchmarks.models import MODELS as GENERATED
from benchmarks.models import make
from workbench import Config, load
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.core.measure.compare import compare
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.pairs import pairs_of

MODELS = ("mlp", "cnn", "attention", "mlp-wide", "cnn-wide")
MODELS_HELP = "generated models, samples, ONNX files, or folders of them"
KINDS = ("faster", "slower", "tie", "unknown", "outputs differ")
PARTS = {  # part: (planted slow-down of B, own load, budget in seconds; None: the default)
    "quiet": (0.0, False, None),
    "busy": (0.0, True, None),
    "slow3": (0.03, False, 15.0),
    "slow2": (0.02, False, 15.0),
    "busy3": (0.03, True, 15.0),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.honesty", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=sorted(PARTS), default=list(PARTS))
    parser.add_argument("--tries", type=int, default=100, help="comparisons a part")
    parser.add_argument("--models", nargs="+", default=MODELS, help=MODELS_HELP)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path("honesty.jsonl"))
    parser.add_argument("--append", action="store_true", help="add to the file if it exists")
    parser.add_argument("--report", action="store_true", help="only print the table of an earlier run")
    options = parser.parse_args(arguments)
    if not options.report:
        if options.output.exists() and not options.append:
            parser.error(f"{options.output} exists: give another -o, or --append to add to it")
        with tempfile.TemporaryDirectory() as folder, options.output.open("a") as output:
            paths = model_paths(Path(folder), options.models)
            for row in measure(options.parts, options.tries, options.seed, paths):
                output.write(json.dumps(row) + "\n")
                output.flush()
                print(_line(row), file=sys.stderr)
    rows = [json.loads(line) for line in options.output.read_text().splitlines()]
    print(table(rows))
    counts = json.dumps(summary(rows), indent=1)
    options.output.with_suffix(".json").write_text(counts + "\n")
    print(counts)


def measure(parts: Iterable[str], tries: int, seed: int, paths: dict[str, Path]) -> Iterable[dict[str, Any]]:
    """Yield a row for each comparison. Parts take turns, so that no part has the quiet hour for itself."""
    rng = random.Random(seed)
    names = list(paths)
    for number in range(tries):
        for part in parts:
            name = names[number % len(names)]
            slow_down, loaded, budget_s = PARTS[part]
            with pick(rng) if loaded else nullcontext() as load_now:
                row = compare_once(paths[name], slow_down, budget_s, rng.getrandbits(30))
            blocks = _block_counts(row.pop("record"), row.pop("began"), load_now)
            yield {"part": part, "model": name, **row, "blocks": blocks}


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
        "pairs": [pair.of(record.runs[0].population) for pair in pairs_of(*record.runs)],
        "pooled": _pooled_tests(record),
        "doubts": [doubt.kind for doubt in record.doubts],
        "record": record,
        "began": began,
    }


def model_paths(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the files of these models; generated ones are written to `folder`."""
    paths: dict[str, Path] = {}
    for name in names:
        if name in GENERATED:
            paths[name] = make(name, folder)
        elif Path(name).is_dir():
            paths |= {path.stem: path for path in sorted(Path(name).rglob("*.onnx"))}
        else:
            model = load(name)
            paths[model.name] = model.path
    return paths


def _pooled_tests(record: ComparisonRecord) -> dict[str, str]:
    """What a test over all samples, as if they were independent, would have said of the same data."""
    from scipy import stats

    first, second = (_samples(run) for run in record.runs)
    faster = "faster" if sum(first) / len(first) > sum(second) / len(second) else "slower"
    verdicts = {}
    for name, probability in (
        ("Mann-Whitney", stats.mannwhitneyu(first, second).pvalue),
        ("Welch", stats.ttest_ind(first, second, equal_var=False).pvalue),
    ):
        verdicts[name] = faster if probability < 0.05 else "no difference"
    return verdicts


def _samples(run: Run) -> tuple[float, ...]:
    return run.latency.samples_s


def _block_counts(record: ComparisonRecord, began: float, load_now: Any) -> dict[str, int]:
    """Blocks under our load and free of it, and how many of each were set aside."""
    counts = {"loaded": 0, "loaded_flagged": 0, "clean": 0, "clean_flagged": 0}
    for run in record.runs:
        for process in run.processes:
            for block in process.blocks:
                start = began + block.start_s
                share = load_now.share(start, start + block.wall_s) if load_now is not None else 0.0
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
        pooled = {
            name: sum(row["pooled"][name] != "no difference" for row in mine) for name in mine[0]["pooled"]
        }
        seconds = sorted(row["elapsed_s"] for row in mine)
        shares = [row["sampling"] for row in mine if "sampling" in row]
        parts[part] = {
            "tries": len(mine),
            "models": sorted({row["model"] for row in mine}),
            **kinds,
            "pooled_says_different": pooled,
            "blocks": blocks,
            "sampling": median(shares) if shares else None,
            "median_s": round(seconds[len(seconds) // 2], 1),
            "longest_s": round(seconds[-1], 1),
            "loads": [round(pick_of(row.get("load", 0.0) for row in mine), 1) for pick_of in (min, max)],
        }
    versions = {name: sorted({row[name] for row in rows if name in row}) for name in ("workbench", "ort")}
    return {"cores": os.cpu_count(), **versions, "parts": parts}


def table(rows: list[dict[str, Any]]) -> str:
    """The table of docs/measuring-evidence.md."""
    lines = [
        f"| part | tries | {' | '.join(KINDS)} | Mann-Whitney differs | Welch differs "
        "| loaded blocks found | clean blocks set aside | sampling | median, longest |",
        "|---" * (len(KINDS) + 8) + "|",
    ]
    for part, counts in summary(rows)["parts"].items():
        blocks, pooled = counts["blocks"], counts["pooled_says_different"]
        lines.append(
            f"| {part} | {counts['tries']} | " + " | ".join(str(counts[kind]) for kind in KINDS) + " "
            f"| {pooled['Mann-Whitney']} | {pooled['Welch']} "
            f"| {_share(blocks['loaded_flagged'], blocks['loaded'])} "
            f"| {_share(blocks['clean_flagged'], blocks['clean'])} "
            f"| {'unknown' if counts['sampling'] is None else format(counts['sampling'], '.0%')} "
            f"| {counts['median_s']} s, {counts['longest_s']} s |"
        )
    return "\n".join(lines)


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
