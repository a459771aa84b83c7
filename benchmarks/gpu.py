"""Everything that needs a GPU, in one run of under ten minutes: `python -m benchmarks.gpu -o FOLDER`.

Each part answers one question on an NVIDIA GPU, prints its answer as it comes, and saves its bundles; a part
that fails says why, one whose share of the time is spent ends, and the others go on. `--stand-in` runs every
part on the CPU in place of CUDA and TensorRT, to try the program where there is no GPU: nothing of it is a
result about a GPU, and its report and its files say so.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks import gpu_parts, gpu_tensorrt
from benchmarks.frame import table
from benchmarks.gpu_bench import Bench
from workbench.core.errors import Cancelled

SAMPLES = ("digits-conv", "mobilenetv2", "resnet50", "bert-base", "gpt2")
SMALL = ("digits-conv", "char-gpt", "digits-vit", "mobilenetv2", "resnet50")  # of the stand-in
BUDGET_S = 6.0  # of a comparison of two configs
MINUTES = 9.5
STAND_IN = "On the CPU in place of CUDA and TensorRT: no figure here says anything about a GPU.\n"


@dataclass(frozen=True)
class Part:
    """A part and its share of the time, as a weight."""

    run: Callable[[Bench], Iterator[str]]
    weight: float


PARTS: dict[str, Part] = {
    "doctor": Part(gpu_parts.doctor, 20),
    "cuda": Part(gpu_parts.against_the_cpu, 50),
    "levels": Part(gpu_parts.levels, 60),
    "arithmetic": Part(gpu_parts.arithmetic, 80),
    "options": Part(gpu_parts.options, 60),
    "streams": Part(gpu_parts.streams, 25),
    "placement": Part(gpu_parts.placement, 40),
    "profile": Part(gpu_parts.profile, 20),
    "memory": Part(gpu_parts.memory, 30),
    "fallback": Part(gpu_parts.fallback, 10),
    "plugins": Part(gpu_parts.plugins, 30),
    "tensorrt": Part(gpu_tensorrt.engines, 70),
    "tensorrt-int8": Part(gpu_tensorrt.int8, 25),
    "tensorrt-shapes": Part(gpu_tensorrt.shapes, 50),
    "tensorrt-other-card": Part(gpu_tensorrt.other_card, 25),
    "tensorrt-alone": Part(gpu_tensorrt.alone, 30),
    "pytorch": Part(gpu_parts.pytorch, 90),
}


@dataclass(frozen=True)
class Outcome:
    """How a part ended."""

    name: str
    took_s: float
    end: str  # "done", "failed: …", or that its time was spent


def main(arguments: list[str] | None = None) -> int:
    """Run the parts and write report.md beside the bundles."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("gpu"), metavar="FOLDER")
    parser.add_argument("--stand-in", action="store_true", help="run on the CPU in place of CUDA")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--samples", nargs="+", metavar="NAME", help=f"by default {', '.join(SAMPLES)}")
    parser.add_argument("--runtime", help="the Python of an environment with torch (and tensorrt)")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of all parts together")
    parser.add_argument(
        "--budget", type=float, default=BUDGET_S, metavar="S", help="of one comparison of two configs"
    )
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir(parents=True, exist_ok=True)
    samples = tuple(chosen.samples or (SMALL if chosen.stand_in else SAMPLES))
    bench = Bench(chosen.output, chosen.stand_in, samples, chosen.budget, chosen.runtime)
    with (chosen.output / "report.md").open("w", encoding="utf-8") as report:
        if chosen.stand_in:
            _print(report, STAND_IN)
        outcomes = run_parts(bench, chosen.parts, chosen.minutes * 60, lambda text: _print(report, text))
        _print(report, summary(outcomes))
    return 1 if any(outcome.end.startswith("failed") for outcome in outcomes) else 0


def run_parts(
    bench: Bench,
    names: list[str],
    total_s: float,
    write: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> list[Outcome]:
    """Run the parts in order; what one leaves of its time goes to those after it."""
    outcomes, until = [], clock() + total_s
    for place, name in enumerate(names):
        weights = [PARTS[other].weight for other in names[place:]]
        share_s = max(0.0, until - clock()) * weights[0] / sum(weights)
        began = clock()
        write(f"## {name}\n\n{inspect.getdoc(PARTS[name].run)}\n")
        end = run_part(bench, PARTS[name], share_s, write)
        outcomes.append(Outcome(name, clock() - began, end))
        write(f"{end} ({outcomes[-1].took_s:.0f} s)\n")
    return outcomes


def run_part(bench: Bench, part: Part, share_s: float, write: Callable[[str], None]) -> str:
    """Run one part for at most about this time; return how it ended."""
    bench.cancel.clear()
    timer = threading.Timer(share_s, bench.cancel.set)
    timer.daemon = True
    timer.start()
    try:
        for text in part.run(bench):
            write(f"{text}\n")
            if bench.cancel.is_set():
                return f"ended: its {share_s:.0f} s are spent"
    except Cancelled:
        return f"ended: its {share_s:.0f} s are spent"
    except Exception as error:  # noqa: BLE001 - each part fails alone
        return f"failed: {error}"
    finally:
        timer.cancel()
    return "done"


def summary(outcomes: list[Outcome]) -> str:
    """Return a table of how the parts ended."""
    rows = [(row.name, f"{row.took_s:.0f} s", " ".join(row.end.split())) for row in outcomes]
    total_s = sum(row.took_s for row in outcomes)
    return table(("part", "took", "end"), [*rows, ("all", f"{total_s:.0f} s", "")])


def _print(report: IO[str], text: Any) -> None:
    print(text, flush=True)
    report.write(f"{text}\n")
    report.flush()


if __name__ == "__main__":
    sys.exit(main())
