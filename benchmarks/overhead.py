"""What our harness adds, and how long an answer takes: `python -m benchmarks.overhead`.

Latency: the median that we report against a bare loop over the same session and the same inputs, in
alternating bursts of one process. Turn-around: when the first interval comes, when the verdict is settled,
which share of the time is sampling, and how much is neither sampling nor warm-up nor ORT's own loading.
Import: `import workbench` against an empty interpreter.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import table as markdown
from benchmarks.models import make
from workbench import Config, compare, load
from workbench.core.measure.blocks import BLOCK_S, MAX_RUNS_A_BLOCK
from workbench.core.measure.limits import Progress
from workbench.core.worker.session_host import SessionHost
from workbench.core.worker.values import write_values

BURSTS = 60
TIMED = ("micro", "mlp", "cnn", "attention", "mlp-wide")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.overhead", description=__doc__)
    parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "latency": [latency(name, Path(folder)) for name in TIMED],
            "turn_around": [turn_around(name, Path(folder)) for name in ("mlp", "large")],
            "import": import_times(),
        }
    print(table(results))


def latency(name: str, folder: Path) -> dict[str, Any]:
    """Reported median against the bare loop, as the median of the ratio over bursts."""
    model = load(make(name, folder))
    feeds = folder / "feeds"
    write_values(feeds, model.inputs(seed=0).feeds)
    host = SessionHost()
    host.do_load(str(model.path), Config().plan().to_dict())
    host.do_first_run(str(feeds))
    host.do_warm_up(0.2, 2.0, 10, None)
    session, feed = host.session, host.feeds[0]
    assert session is not None
    reported, bare = [], []
    for _ in range(BURSTS):
        _, payload = host.do_block(BLOCK_S, 3, MAX_RUNS_A_BLOCK, None, 0.0, 1)
        samples = np.frombuffer(payload, np.int64)
        reported.append(float(np.median(samples)) / 1e9)
        times = []
        for _ in samples:
            start = time.perf_counter_ns()
            session.run(None, feed)
            times.append(time.perf_counter_ns() - start)
        bare.append(statistics.median(times) / 1e9)
    return {
        "model": name,
        "reported_s": statistics.median(reported),
        "bare_s": statistics.median(bare),
        "ratio": statistics.median(ours / plain for ours, plain in zip(reported, bare, strict=True)),
    }


def turn_around(name: str, folder: Path) -> dict[str, Any]:
    """Seconds to the first interval, to the settled verdict, and outside of measuring."""
    path = make(name, folder)
    first: list[float] = []

    def note(progress: Progress) -> None:
        if progress.verdicts and not first and progress.verdicts[0].low is not None:
            first.append(time.perf_counter() - began)

    began = time.perf_counter()
    result = compare(path, Config(), Config(intra_op_threads=1), progress=note, keep=False)
    settled_s = time.perf_counter() - began
    processes = [process for run in result.runs for process in run.processes]
    inference_s = sum(sum(block.samples_s) for process in processes for block in process.blocks)
    loading_s = sum(process.load_s for process in processes) + processes[0].import_s
    measuring_s = sum(
        sum(process.warmup_s) + process.first_run_s + sum(block.wall_s for block in process.blocks)
        for process in processes
    )
    return {
        "model": name,
        "file_mib": path.stat().st_size / 2**20,
        "median_ms": (result.runs[0].latency.median_s or 0) * 1e3,
        "first_interval_s": first[0] if first else None,
        "settled_s": settled_s,
        "inference_s": inference_s,
        "sampling": result.record.protocol.sampling_s / result.record.protocol.elapsed_s,
        "outside_s": settled_s - loading_s - measuring_s,
        "verdict": result.verdict.kind,
    }


def import_times(repeats: int = 15) -> dict[str, float]:
    """Fastest of several interpreters each, in turns."""
    times: dict[str, list[float]] = {"pass": [], "import workbench": []}
    for _ in range(repeats):
        for code, taken in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken.append(time.perf_counter() - start)
    empty, ours = min(times["pass"]), min(times["import workbench"])
    return {"empty_s": empty, "workbench_s": ours, "added_s": ours - empty}


def table(results: dict[str, Any]) -> str:
    bursts = [
        (
            *(row["model"], f"{row['bare_s'] * 1e6:,.1f} µs", f"{row['reported_s'] * 1e6:,.1f} µs"),
            *(f"{row['ratio']:.4f}", f"{(row['reported_s'] - row['bare_s']) * 1e6:+.2f} µs"),
        )
        for row in results["latency"]
    ]
    comparisons = [
        (
            f"{row['model']} ({row['median_ms']:.3g} ms, {row['file_mib']:.1f} MiB)",
            "none" if row["first_interval_s"] is None else f"{row['first_interval_s']:.1f} s",
            *(f"{row['settled_s']:.1f} s", f"{row['sampling']:.0%}"),
            *(f"{row['inference_s']:.1f} s", f"{row['outside_s']:.2f} s"),
        )
        for row in results["turn_around"]
    ]
    heads = ("comparison", "first interval", "settled", "sampling", "inference")
    added_ms = results["import"]["added_s"] * 1e3
    return "\n\n".join(
        [
            markdown(("model", "bare loop", "we report", "ratio", "difference"), bursts),
            markdown((*heads, "outside of measuring and loading"), comparisons),
            f"import workbench adds {added_ms:.1f} ms to an empty interpreter",
        ]
    )


if __name__ == "__main__":
    main()
