"""Record rounds of equal configs: `python -m benchmarks.bursts`, for `benchmarks.schemes`.

The rounds are those of `wb.compare`. Other load comes and goes for 0.3 to 3 s on one and on two cores
(`--state bursts`), keeps both cores busy (`busy`), or is that of the machine (`quiet` and `others`, which
only name it). A series keeps, for each round, the log ratio by share of the fastest passes, of undisturbed
cycles and of all, in `benchmarks/series/STATE.json`; further runs add to it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.burners import busy_cores, pick
from benchmarks.honesty import MODELS_HELP, model_paths
from benchmarks.schemes import SERIES, SHARES, STATES
from workbench import Config, load
from workbench.core.measure.compare import compare
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.pairs import MIN_CLEAN_CYCLES, cycles_of, log_ratio_over

MODELS = ("digits-conv", "digits-vit", "mlp", "attention", "cnn")
NEVER_SETTLED = 1e-6  # a smallest effect that no interval resolves: the budget ends the comparison


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.bursts", description=__doc__)
    parser.add_argument("--state", choices=STATES, default="bursts")
    parser.add_argument("--models", nargs="+", default=MODELS, help=MODELS_HELP)
    parser.add_argument("--seconds", type=float, default=40.0, help="a model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="default: benchmarks/series/STATE.json")
    options = parser.parse_args(arguments)
    output = options.output or SERIES / f"{options.state}.json"
    rows = json.loads(output.read_text()) if output.exists() else []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        rng = random.Random(options.seed)
        if options.state == "busy":
            stack.enter_context(busy_cores(2))
        elif options.state == "bursts":
            stack.enter_context(pick(rng, cores=2))
        for name, path in model_paths(Path(folder), options.models).items():
            rows += rounds(name, path, options.seconds, rng.getrandbits(30))
            lines = ",\n".join(json.dumps(row) for row in rows)
            output.write_text(f"[\n{lines}\n]\n")


def rounds(name: str, path: Path, seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each round of a config against itself."""
    model = load(path)
    request = CompareRequest.of(
        model,
        (Config(), Config()),
        model.inputs(seed=0),
        budget_s=seconds,
        smallest_effect=NEVER_SETTLED,
        seed=seed,
    )
    record = compare(request)
    first, second = record.runs
    for a, b in zip(first.processes, second.processes, strict=True):
        every, clean = cycles_of(a, b)
        yield {
            "model": name,
            "median_ms": round((first.latency.median_s or 0.0) * 1e3, 3),
            "load": round(os.getloadavg()[0], 1),
            "round_s": round(record.protocol.elapsed_s / len(first.processes), 2),
            "cycles": len(every),
            "clean_cycles": len(clean),
            "all": _by_share(every, a.feeds),
            "clean": _by_share(clean, a.feeds) if len(clean) >= MIN_CLEAN_CYCLES else None,
        }


def _by_share(cycles: Iterable[Any], feeds: int) -> list[float]:
    return [round(log_ratio_over(list(cycles), feeds, share), 4) for share in SHARES]


if __name__ == "__main__":
    main()
