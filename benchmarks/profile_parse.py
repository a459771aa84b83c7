"""How fast a trace is parsed, against orjson that only decodes it: `python -m benchmarks.profile_parse`.

The promise is against `orjson.loads` of the whole file, which is what a user would write. Each in a process
of its own, by turns, and the best of each counts, in processor time: so other load changes the ratio little.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROMISED, PROMISED_BYTES = 1.2, 1.5e9  # of what orjson takes for the whole file; resident at the peak
RUNS, ROUNDS = 40, 3


def make_trace(path: Path, events: int) -> None:
    """Copies of a real trace, each later in time, until there are that many events."""
    import numpy as np
    import onnxruntime as ort

    from benchmarks.models import MODELS

    options = ort.SessionOptions()
    options.enable_profiling = True
    options.intra_op_num_threads = 1
    options.profile_file_prefix = str(path.parent / "seed")
    model = MODELS["attention"]().model()
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (fed,) = session.get_inputs()
    for _ in range(RUNS):
        session.run(None, {fed.name: np.ones(fed.shape, np.float32)})
    lines = Path(session.end_profiling()).read_bytes().splitlines(keepends=True)[1:-1]
    lines[-1] = lines[-1].rstrip(b",\n") + b",\n"
    with path.open("wb") as file:
        file.write(b"[\n")
        written = 0
        while written < events - 1:
            some = lines[: events - 1 - written]
            file.writelines(some)
            written += len(some)
        file.write(lines[0].rstrip(b",\n") + b"\n]\n")


def whole(path: Path) -> int:
    import orjson

    return len(orjson.loads(path.read_bytes()))


def ours(path: Path) -> int:
    from workbench.features.profile.reader import read_trace

    return len(read_trace(path))


WAYS = {
    "ours": ours,
    "orjson, whole": whole,
}


def child(way: str, path: Path) -> None:
    import numpy  # noqa: F401 - its import is nobody's parsing
    import orjson  # noqa: F401

    from workbench.core.worker.usage import peak_rss_bytes
    from workbench.features.profile import reader  # noqa: F401

    wall, cpu = time.perf_counter(), time.process_time()
    count = WAYS[way](path)
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    print(
        json.dumps({"way": way, "events": count, "wall_s": wall_s, "cpu_s": cpu_s, "rss": peak_rss_bytes()})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="a million need about 7 GB, whole")
    parser.add_argument("--child", nargs=2, metavar=("WAY", "PATH"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child[0], Path(asked.child[1]))
        return
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        make_trace(path, asked.events)
        print(f"{asked.events:,} events, {path.stat().st_size / 1e6:,.0f} MB; the best of {ROUNDS}")
        for _ in range(ROUNDS):
            for way in WAYS:  # by turns, so that other load falls on all alike
                command = [sys.executable, "-m", "benchmarks.profile_parse", "--child", way, str(path)]
                results.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    best = {way: min((r for r in results if r["way"] == way), key=lambda r: r["cpu_s"]) for way in WAYS}
    for way, row in best.items():
        ratio = best["ours"]["cpu_s"] / row["cpu_s"]
        times = f"{row['cpu_s']:7.2f} s CPU {row['wall_s']:7.2f} s wall"
        print(f"{way:30} {times} {row['rss'] / 1e6:8,.0f} MB  ours is {ratio:.2f}x")
    ratio = best["ours"]["cpu_s"] / best["orjson, whole"]["cpu_s"]
    verdict = "kept" if ratio <= PROMISED and best["ours"]["rss"] < PROMISED_BYTES else "NOT kept"
    print(f"promised: at most {PROMISED} times orjson on the whole file, below {PROMISED_BYTES / 1e9} GB")
    print(f"found:    {ratio:.2f} times, {best['ours']['rss'] / 1e9:.2f} GB: {verdict}")


if __name__ == "__main__":
    main()
