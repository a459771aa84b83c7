"""The commands of a session's worker, for PyTorch, OpenVINO or TensorRT."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from workbench.worker import sampling, usage
from workbench.worker.values import read_values, write_values


class Loaded(Protocol):
    """A model in an engine."""

    names: list[str]  # of its outputs
    runs_on: list[str]  # as a run records its providers
    threads: int | None

    def call(self, feed: Mapping[str, Any]) -> Callable[[], Any]:
        """Return a repeatable run of one feed, whose result is complete when it returns."""
        ...

    def arrays(self, result: Any) -> list[Any]:
        """Return the outputs of a run as arrays, in the order of `names`."""
        ...


class EngineHost:
    """The state of a worker between commands. Each `do_…` is one command and returns (body, payload)."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.calls: list[Callable[[], Any]] = []
        self.turn = -1

    def do_load(self, model: str, plan: dict[str, Any], log_severity: int | None = None) -> Any:
        """Load the model, timed as the user's load time."""
        del log_severity  # of ONNX Runtime
        rss_start = usage.rss_bytes()
        began = time.perf_counter()
        self.loaded: Loaded = self.engine.load(model, plan)
        load_s = time.perf_counter() - began
        return {
            "load_s": load_s,
            "providers": self.loaded.runs_on,
            "rss_start_bytes": rss_start,
            "rss_loaded_bytes": usage.rss_bytes(),
            "threads": self.loaded.threads,
            "inputs": plan["inputs"],
            "outputs": self.loaded.names,
        }, b""

    def do_first_run(self, feeds: str) -> Any:
        self._take(feeds)
        began = time.perf_counter()
        self.calls[0]()
        first_run_s = time.perf_counter() - began
        gc.freeze()
        gc.disable()  # as in a session's worker
        return {"first_run_s": first_run_s, "io": "run", "feeds": len(self.calls)}, b""

    def do_outputs(self, path: str) -> Any:
        """Run each feed once and write the outputs."""
        results = []
        for call in self.calls:
            values = self.loaded.arrays(call())
            if len(values) != len(self.loaded.names):
                raise RuntimeError(
                    f"{len(values)} outputs, and the ONNX file has {len(self.loaded.names)}: "
                    f"{', '.join(self.loaded.names)}"
                )
            results.append(dict(zip(self.loaded.names, values, strict=True)))
        write_values(Path(path), results)
        return {"outputs": self.loaded.names}, b""

    def do_evaluate(self, feeds: str, path: str) -> Any:
        """Run each feed of a file once and write the outputs."""
        self._take(feeds)
        return self.do_outputs(path)

    def do_warm_up(self, floor_s: float, bound_s: float, floor_runs: int, pacing_s: float | None) -> Any:
        return sampling.warm_up(self._next_run, floor_s, bound_s, floor_runs, pacing_s)

    def do_block(
        self,
        seconds: float,
        min_runs: int,
        max_runs: int,
        pacing_s: float | None,
        slow_down: float,
        lead_in: int = 0,
    ) -> Any:
        """Time whole passes over the feeds, as a session's worker does."""
        for _ in range(lead_in):
            self.calls[0]()
        self.turn = -1
        return sampling.block(
            self._next_run, seconds, min_runs, max_runs, pacing_s, slow_down, whole=len(self.calls)
        )

    def do_usage(self) -> Any:
        return {
            "rss_bytes": usage.rss_bytes(),
            "peak_rss_bytes": usage.peak_rss_bytes(),
            "providers": self.loaded.runs_on,
        }, b""

    def _take(self, feeds: str) -> None:
        self.calls = [self.loaded.call(feed) for feed in read_values(Path(feeds))]

    def _next_run(self) -> Callable[[], Any]:
        self.turn = (self.turn + 1) % len(self.calls)
        return self.calls[self.turn]
