"""What our callers add to a request: `python -m benchmarks.load`.

Bare: threads that call `session.run` with as little Python as possible, each of them timed as a whole.
Ours: the callers of `wb.load_test` on the same session, every request timed. Both in one process, in turns,
with 1, 2 and 4 callers; the overhead is the median over bursts of the difference in time per request.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.models import make
from workbench import Config, load
from workbench.core.worker.session_host import SessionHost
from workbench.core.worker.values import write_values

CALLERS = (1, 2, 4)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=__doc__)
    parser.add_argument("--bursts", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each burst")
    parser.add_argument("--models", nargs="+", default=["micro", "mlp", "cnn"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            overhead(name, Path(folder), callers, options.bursts, options.seconds)
            for name in options.models
            for callers in CALLERS
        ]
    print(table(rows))


def overhead(name: str, folder: Path, callers: int, bursts: int, seconds: float) -> dict[str, Any]:
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
    return {
        "model": name,
        "callers": callers,
        "bare_s": statistics.median(bare_s),
        "overhead_s": statistics.median(differences),
    }


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


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| model | callers | bare, time per answer | overhead |", "|---|---|---|---|"]
    lines += [
        f"| {row['model']} | {row['callers']} | {row['bare_s'] * 1e6:.1f} µs | "
        f"{row['overhead_s'] * 1e6:+.1f} µs ({row['overhead_s'] / row['bare_s'] * 100:+.1f} %) |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
