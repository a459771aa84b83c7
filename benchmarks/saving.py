"""How long it takes to save and to open results: an explanation of 12,000 nodes, a profile of 200,000 events.

`python -m benchmarks.saving [--nodes N] [--events N] [-o FILE.json]` prints a table and writes JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.graphs import explained
from workbench.analysis.profile.saved import profile_of, record_of
from workbench.analysis.profile.session_profile import Profile
from workbench.analysis.profile.trace import ABSENT, NodeCall, Trace
from workbench.records.bundle import pack_record, unpack_record
from workbench.records.origin import Origin
from workbench.results.profile import Profile as Shown
from workbench.results.registry import KINDS


def main() -> None:
    """Once each: the machine should have nothing else to do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=12_000)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    about = Origin("saving", "2026-01-01T00:00:00+00:00", None, None, None, None, None)
    told, seen = explained(asked.nodes), trace(asked.events)
    rows = {}
    for name, record in (("explanation", told), ("profile", record_of(Profile(seen)))):
        began = time.perf_counter()
        blob = pack_record(record, None, private=False, about=about, kinds=KINDS)
        saved = time.perf_counter()
        opened = unpack_record(blob, KINDS).record
        rows[name] = {"save_s": saved - began, "open_s": time.perf_counter() - saved, "bytes": len(blob)}
        if name == "profile":
            began = time.perf_counter()
            page = Shown.of(profile_of(opened)).page_html()
            rows["page of it"] = {"save_s": time.perf_counter() - began, "open_s": None, "bytes": len(page)}
    for name, row in rows.items():
        opening = "" if row["open_s"] is None else f", opened in {row['open_s']:.3f} s"
        print(f"{name}: saved in {row['save_s']:.3f} s{opening}, {row['bytes'] / 1e6:.2f} MB")
    if asked.output is not None:
        asked.output.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def trace(events: int, per_run: int = 1_000) -> Trace:
    """Runs of so many nodes one after the other, each run's own event behind its nodes."""
    runs = max(1, events // (per_run + 1))
    one = np.append(np.arange(per_run), per_run)
    name = np.tile(one, runs).astype(np.int32)
    is_run = name == per_run
    starts = np.arange(len(name), dtype=np.float64) * 10
    starts[is_run] -= per_run * 10
    return Trace(
        categories=("Node", "Session"),
        names=(*(f"/model/layer.{n // 20}/op.{n}_kernel_time" for n in range(per_run)), "model_run"),
        calls=(NodeCall("MatMul", "CPUExecutionProvider", 0, 4, 4, 4, None, None),),
        arenas=(),
        other_args=(),
        scheduling=(),
        category=is_run.astype(np.int32),
        name=name,
        call=np.where(is_run, ABSENT, 0).astype(np.int32),
        arena=np.full(len(name), ABSENT, np.int32),
        args=np.full(len(name), ABSENT, np.int32),
        pid=np.ones(len(name), np.int64),
        tid=np.ones(len(name), np.int64),
        start_us=starts,
        duration_us=np.where(is_run, per_run * 10.0, 9.0),
        complete=True,
        notes=(),
    )


if __name__ == "__main__":
    main()
