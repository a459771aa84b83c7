"""Cold start, step by step, in fresh processes: as asked, without prepacking, from a graph saved ahead."""

from __future__ import annotations

import tempfile
import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.measure.limits import Limits
from workbench.worker.launch import Worker, WorkerFolder, call_job
from workbench.worker.values import Feed, write_values

if TYPE_CHECKING:
    import pandas as pd

REPEATS = 3
STEADY_S = 0.3
NO_PREPACKING = ("session.disable_prepacking", "1")


@dataclass(frozen=True, slots=True)
class Start:
    """One process from its start to its steady state. Resident memory None: the system does not tell."""

    process_s: float  # starting the interpreter, up to its first word, without the import
    import_s: float
    load_s: float
    first_run_s: float
    steady_s: float  # the median run once warm
    import_bytes: int | None
    load_bytes: int | None
    run_bytes: int | None


@dataclass(frozen=True, slots=True)
class ColdStart:
    """Repeated starts of one config in three ways, each in a process of its own."""

    label: str
    as_asked: tuple[Start, ...]
    without_prepacking: tuple[Start, ...]
    saved_ahead: tuple[Start, ...]  # empty: this graph cannot be saved

    @property
    def load_s(self) -> float:
        return median(each.load_s for each in self.as_asked)

    @property
    def prepack_s(self) -> float:
        """What loading takes longer for prepacking; never below 0, which is noise."""
        return max(0.0, self.load_s - median(each.load_s for each in self.without_prepacking))

    @property
    def optimize_s(self) -> float | None:
        """What loading takes longer than from a graph saved ahead."""
        if not self.saved_ahead:
            return None
        return max(0.0, self.load_s - median(each.load_s for each in self.saved_ahead))

    @property
    def steps(self) -> tuple[tuple[str, float | None], ...]:
        """Seconds of each step in order; reading the file is what optimizing and prepacking leave of load."""
        read_s = None if self.optimize_s is None else max(0.0, self.load_s - self.optimize_s - self.prepack_s)
        return (
            ("process start", median(each.process_s for each in self.as_asked)),
            ("import", median(each.import_s for each in self.as_asked)),
            ("read", read_s),
            ("optimize", self.optimize_s),
            ("prepack", self.prepack_s),
            ("first run", median(each.first_run_s for each in self.as_asked)),
            ("steady run", median(each.steady_s for each in self.as_asked)),
        )

    @property
    def until_first_answer_s(self) -> float:
        """From nothing to the first output."""
        return median(e.process_s + e.import_s + e.load_s + e.first_run_s for e in self.as_asked)

    def to_frame(self) -> pd.DataFrame:
        """A row a way of starting: medians of the steps and of resident memory after them."""
        import pandas as pd

        rows = []
        for name in ("as_asked", "without_prepacking", "saved_ahead"):
            starts: tuple[Start, ...] = getattr(self, name)
            if starts:
                fields = Start.__dataclass_fields__
                rows.append({"label": self.label, "start": name, **{f: _median(starts, f) for f in fields}})
        return pd.DataFrame(rows)


def cold_start(
    model: Path,
    config: Config,
    feeds: Sequence[Feed],
    *,
    label: str = "A",
    repeats: int = REPEATS,
    savable: bool = True,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
) -> ColdStart:
    """Start processes by turns, so that a drift of the machine falls on all ways alike."""
    limits = limits or Limits()
    bare = config.replace(session_entries=dict([*config.session_entries, NO_PREPACKING]))
    found: dict[str, list[Start]] = {"as_asked": [], "without_prepacking": [], "saved_ahead": []}
    with tempfile.TemporaryDirectory(prefix="ort-workbench-coldstart-") as name:
        folder = Path(name)
        write_values(folder / "feeds", feeds)
        ways = {"as_asked": (model, config), "without_prepacking": (model, bare)}
        if savable:
            saved = _save(model, config, folder, limits, cancel)
            ways["saved_ahead"] = (saved, config.replace(level="disabled", disabled_passes=()))
        for _ in range(repeats):
            for way, (path, each) in ways.items():
                found[way].append(_start(path, each, folder / "feeds", limits, cancel))
    return ColdStart(label, *(tuple(starts) for starts in found.values()))


def _start(model: Path, config: Config, feeds: Path, limits: Limits, cancel: threading.Event | None) -> Start:
    with WorkerFolder() as folder, Worker(folder, name="coldstart") as worker:
        hello = worker.hello(timeout_s=limits.start_s, cancel=cancel)

        def ask(kind: str, stage: str, limit_s: float, **body: Any) -> Any:
            return worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=cancel)

        plan = config.plan().to_dict()
        loaded = ask("load", "load", limits.load_s, model=str(model), plan=plan).body
        first = ask("first_run", "first run", limits.run_s, feeds=str(feeds)).body
        run = ask("usage", "run", limits.run_s).body
        warm = ask(
            "warm_up",
            "warm-up",
            limits.run_s,
            floor_s=STEADY_S,
            bound_s=4 * STEADY_S,
            floor_runs=8,
            pacing_s=None,
        )
    samples = array("q")
    samples.frombytes(warm.payload)
    return Start(
        process_s=max(0.0, hello["spawn_s"] - hello["import_s"]),
        import_s=hello["import_s"],
        load_s=loaded["load_s"],
        first_run_s=first["first_run_s"],
        steady_s=median(samples[len(samples) // 2 :]) / 1e9,
        import_bytes=loaded["rss_start_bytes"],
        load_bytes=loaded["rss_loaded_bytes"],
        run_bytes=run["rss_bytes"],
    )


def _save(model: Path, config: Config, folder: Path, limits: Limits, cancel: threading.Event | None) -> Path:
    target = folder / "saved.onnx"
    call_job(
        "profiling",
        {
            "model": str(model),
            "plan": config.plan().to_dict(),
            "feeds": str(folder / "feeds"),
            "trace_prefix": None,
            "warmup_runs": 0,
            "max_runs": 1,
            "budget_s": 0.0,
            "optimized": str(target),
        },
        timeout_s=limits.load_s + limits.run_s,
        cancel=cancel,
    )
    return target


def _median(starts: tuple[Start, ...], name: str) -> float | None:
    values = [getattr(each, name) for each in starts]
    return None if None in values else float(median(values))
