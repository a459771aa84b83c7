"""What our callers add to a request: `python -m benchmarks.load`.

Bare: threads that call `session.run` with as little Python as possible, each of them timed as a whole.
Ours: the callers of `wb.load_test` on the same session, every request timed. Both in one process, in turns,
with 1, 2 and 4 callers; the overhead is the median over bursts of the difference in time per request.

The part `ways` measures callers that are threads beside callers that are processes, and, with `--runtime`,
threads of a Python without the lock: the knee, and at which load a budget of p99 breaks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.frame import table
from benchmarks.models import make
from workbench import Config, load, load_test
from workbench.core.worker.session_host import SessionHost
from workbench.core.worker.values import write_values

CALLERS = (1, 2, 4)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=__doc__)
    parser.add_argument("--bursts", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each burst")
    parser.add_argument("--models", nargs="+", default=["micro", "mlp", "cnn"])
    parser.add_argument("--parts", nargs="+", choices=("overhead", "ways"), default=["overhead", "ways"])
    parser.add_argument("--runtime", help="the free-threaded Python of an environment with ONNX Runtime")
    parser.add_argument("--duration", type=float, default=2.0, help="seconds of each load of the ways")
    parser.add_argument("--max-p99", type=float, default=1.0, help="the budget of the ways in milliseconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if "overhead" in options.parts:
            rows = [
                overhead(name, Path(folder), callers, options.bursts, options.seconds)
                for name in options.models
                for callers in CALLERS
            ]
            print(table(("model", "callers", "bare, time per answer", "overhead"), rows))
        if "ways" in options.parts:
            for name in options.models:
                path = make(name, Path(folder))
                print(ways(path, options.runtime, options.duration, options.max_p99 / 1e3), flush=True)


def ways(path: Path, runtime: str | None, duration_s: float, max_p99_s: float) -> str:
    """What threads and processes answer, and threads of another Python, and their Python."""
    configs = [Config(intra_op_threads=1)]
    if runtime:
        configs.append(configs[0].replace(runtime=runtime))
    result = load_test(
        path, *configs, callers=CALLERS, sessions=(1, "processes"), duration_s=duration_s,
        max_p99_s=max_p99_s, progress=False, keep=False,
    )  # fmt: skip
    lines = [f"{path.stem}, load {os.getloadavg()[0]:.1f}", str(result)]
    columns = ["label", "callers", "throughput_hz", "throughput_low_hz", "throughput_high_hz", "p99_s"]
    return "\n".join([*lines, result.to_frame()[columns].to_string(index=False)])


def overhead(name: str, folder: Path, callers: int, bursts: int, seconds: float) -> tuple[str, ...]:
    """Time per answer of both loops, and the median of their differences."""
    model = load(make(name, folder))
    feeds = folder / "feeds"
    write_values(feeds, model.inputs(seed=0).feeds)
    host = SessionHost()
    host.do_load(str(model.path), Config(intra_op_threads=1).plan().to_dict())
    host.do_first_run(str(feeds))
    host.do_callers(1, callers)
    bare_s, our_s = [], []
    for _ in range(bursts):
        bare_s.append(bare(host, callers, seconds))
        body, _ = host.do_serve(callers, seconds, None, 0, 1_000_000)
        pairs = zip(body["caller_counts"], body["caller_spans_ns"], strict=True)
        our_s.append(1e-9 / sum(count / span_ns for count, span_ns in pairs))
    differences = [ours - bare for ours, bare in zip(our_s, bare_s, strict=True)]
    per_answer_s, overhead_s = statistics.median(bare_s), statistics.median(differences)
    share = overhead_s / per_answer_s * 100
    return (
        name, str(callers), f"{per_answer_s * 1e6:.1f} µs", f"{overhead_s * 1e6:+.1f} µs ({share:+.1f} %)",
    )  # fmt: skip


def bare(host: SessionHost, callers: int, seconds: float) -> float:
    """Seconds per answer of threads that do nothing but run, ten times between looks at the clock."""
    session, feed = host.session, host.feeds[0]
    assert session is not None
    run, counts = session.run, [0] * callers
    end = time.perf_counter() + seconds

    def work(caller: int) -> None:
        while True:
            for _ in range(10):
                run(None, feed)
            counts[caller] += 10
            if time.perf_counter() >= end:
                return

    threads = [threading.Thread(target=work, args=(caller,)) for caller in range(callers)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - began) / sum(counts)


if __name__ == "__main__":
    main()
