"""Verdicts while other programs use the machine: `python -m benchmarks.busy`.

One core is kept busy all the time, or with `--bursts` one or both cores for 0.3 to 3 s with pauses as long.
`equal` compares a config with itself, `tenth` and `double` slow B down by a tenth and to half the speed. The
table says how often each verdict came, how many had too few rounds for an interval, and the load meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.burners import busy_cores, pick
from benchmarks.honesty import KINDS, MODELS, MODELS_HELP, compare_once, model_paths
from workbench.core.measure.regime import MIN_ROUNDS

PARTS = {"equal": 0.0, "tenth": 0.1, "double": 1.0}  # planted slow-down of B


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.busy", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--tries", type=int, default=20, help="comparisons a part")
    parser.add_argument("--burners", type=int, default=1, help="cores kept busy")
    parser.add_argument("--bursts", action="store_true", help="load that comes and goes instead")
    parser.add_argument("--budget", type=float, help="seconds a comparison; default: that of wb.compare")
    parser.add_argument("--models", nargs="+", default=MODELS, help=MODELS_HELP)
    parser.add_argument("-o", "--output", type=Path, default=Path("busy.jsonl"))
    options = parser.parse_args(arguments)
    rng, rows = random.Random(0), []
    with (
        pick(rng, cores=2) if options.bursts else busy_cores(options.burners),
        tempfile.TemporaryDirectory() as folder,
        options.output.open("w") as output,
    ):
        paths = list(model_paths(Path(folder), options.models).items())
        for number in range(options.tries):
            for part in options.parts:
                name, path = paths[number % len(paths)]
                row = compare_once(path, PARTS[part], options.budget, rng.getrandbits(30))
                del row["record"]
                rows.append({"part": part, "model": name, **row})
                output.write(json.dumps(rows[-1]) + "\n")
                output.flush()
    print(table(rows))


def table(rows: list[dict[str, Any]]) -> str:
    """Return the verdicts by part, as Markdown."""
    loads = [row["load"] for row in rows]
    lines = [
        f"{os.cpu_count()} cores, load {min(loads):.1f} to {max(loads):.1f}",
        "",
        f"| part | tries | {' | '.join(KINDS)} | too few rounds | sampling | median, longest |",
        "|---" * (len(KINDS) + 5) + "|",
    ]
    for part in dict.fromkeys(row["part"] for row in rows):
        mine = [row for row in rows if row["part"] == part]
        kinds = " | ".join(str(sum(row["kind"] == kind for row in mine)) for kind in KINDS)
        few = sum(row["rounds"] < MIN_ROUNDS for row in mine)
        sampling, times_s = median(row["sampling"] for row in mine), [row["elapsed_s"] for row in mine]
        times = f"{median(times_s):.1f} s, {max(times_s):.1f} s"
        lines.append(f"| {part} | {len(mine)} | {kinds} | {few} | {sampling:.0%} | {times} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
