"""Is a rehydrated skeleton as fast as its export? `python -m benchmarks.skeleton_latency NAME EXPORT.onnx`.

`wb.compare` sets configs of one model side by side; here two files are. The scheme is the same: pairs of
fresh processes, short blocks in a random order with the partner frozen, one log-ratio a pair, Student's t.
The export with its original weights comes from `python -m sample_models.make NAME --keep FOLDER`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

BLOCK_S = 0.05
FEWEST_RUNS = 3
WARM_UP_S = 0.5
ALLOWED = 0.05


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.skeleton_latency", description=__doc__)
    parser.add_argument("name", help="a skeleton, or with --serve the file to run")
    parser.add_argument("export", nargs="?", type=Path, help="the same model as it was exported")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--blocks", type=int, default=10, help="blocks a side and pair")
    parser.add_argument("--serve", metavar="SAMPLE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.name, options.serve)
        return 0
    if options.export is None:
        parser.error("give the exported file too")
    from workbench.models.samples import sample_path

    paths = (sample_path(options.name), options.export)
    ratios = [one_pair(options.name, paths, options.blocks, seed) for seed in range(options.pairs)]
    low, high = interval(ratios)
    print(
        f"{options.name}: skeleton over export {math.exp(mean(ratios)):.4f} "
        f"(95 % interval {math.exp(low):.4f} to {math.exp(high):.4f}, {options.pairs} process pairs)"
    )
    return int(not -ALLOWED < low <= high < ALLOWED)


def one_pair(name: str, paths: tuple[Path, Path], blocks: int, seed: int) -> float:
    """The log-ratio of one pair of processes: the median over its blocks."""
    order = random.Random(seed)
    workers = [Worker(path, name) for path in paths]
    try:
        differences = []
        for _ in range(blocks):
            medians = {}
            for side in order.sample((0, 1), 2):
                medians[side] = workers[side].block()
            differences.append(math.log(medians[0] / medians[1]))
        return median(differences)
    finally:
        for worker in workers:
            worker.end()


def interval(ratios: list[float]) -> tuple[float, float]:
    """Student's 95 % interval of the mean."""
    from scipy.stats import t

    half = float(t.ppf(0.975, len(ratios) - 1)) * stdev(ratios) / len(ratios) ** 0.5
    return mean(ratios) - half, mean(ratios) + half


class Worker:
    """One process with one session; frozen except in its own blocks."""

    def __init__(self, path: Path, name: str) -> None:
        command = [sys.executable, "-m", "benchmarks.skeleton_latency", str(path), "--serve", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()
        self.process.send_signal(signal.SIGSTOP)

    def block(self) -> float:
        self.process.send_signal(signal.SIGCONT)
        assert self.process.stdin is not None
        self.process.stdin.write("block\n")
        self.process.stdin.flush()
        found = median(self.answer())
        self.process.send_signal(signal.SIGSTOP)
        return found

    def answer(self) -> list[float]:
        assert self.process.stdout is not None
        found: list[float] = json.loads(self.process.stdout.readline())
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def serve(path: str, name: str) -> None:
    """Load, warm up, then one block of runs for each line that comes in."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = _feeds(name)
    _runs(session, feeds, WARM_UP_S)
    print(json.dumps([]), flush=True)
    for _ in sys.stdin:
        print(json.dumps(_runs(session, feeds, BLOCK_S)), flush=True)


def _feeds(name: str) -> dict[str, Any]:
    from workbench import load

    return dict(load(name).inputs(seed=0).feeds[0])


def _runs(session: Any, feeds: dict[str, Any], least_s: float) -> list[float]:
    samples: list[float] = []
    while sum(samples) < least_s or len(samples) < FEWEST_RUNS:
        start = time.perf_counter()
        session.run(None, feeds)
        samples.append(time.perf_counter() - start)
    return samples


if __name__ == "__main__":
    sys.exit(main())
