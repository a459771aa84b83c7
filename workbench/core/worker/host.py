"""The commands that the workers of ONNX Runtime and of other engines have in common."""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.worker import sampling, usage
from workbench.core.worker.cores import cores_for_calls, hold_to
from workbench.core.worker.values import Feed, read_values, write_values


class Call:
    """A repeatable run of one feed."""

    IO = "run"

    def __init__(self, run: Callable[[], Any], portable: Callable[[Any], Sequence[Any]]) -> None:
        """`portable` returns the outputs of a run in a form that `values` can write."""
        self.run, self._portable = run, portable

    def outputs(self) -> Sequence[Any]:
        """Run once; return the outputs in the order of the model's outputs."""
        return self._portable(self.run())

    def keep_outputs(self) -> None:
        """Keep no buffers: the engine allocates new outputs each run."""


class Host:
    """The state of a worker between commands. Each `do_…` is one command and returns (body, payload)."""

    names: list[str]  # of the outputs
    binds = False  # whether timed runs use IO binding

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.decoders: list[Any] = []  # loops over tokens, one for each prompt

    def calls_of(self, feeds: Sequence[Feed], *, bind: bool) -> list[Call]:
        """Return a call of the loaded model for each feed."""
        raise NotImplementedError

    def providers(self) -> list[str]:
        """Return where the model runs."""
        raise NotImplementedError

    def do_decode(
        self, case: int, count: int, given: list[list[int]] | None, logits: str | None = None
    ) -> Any:
        """Make tokens after a prompt; write the logits of each step to a file where one is named."""
        cpu_before = time.process_time_ns()
        decoded = self.decoders[case].decode(count, given, keep_logits=logits is not None)
        cpu_ns = time.process_time_ns() - cpu_before
        if logits is not None:
            write_values(Path(logits), [{"logits": np.stack(decoded["logits"])}])
        body = {name: decoded[name] for name in ("picked", "cache_bytes", "cache_type")} | {"cpu_ns": cpu_ns}
        return body, decoded["steps"].tobytes()

    def do_first_run(self, feeds: str) -> Any:
        """Run once, and choose how the timed runs call the engine."""
        self.calls = self.calls_of(read_values(Path(feeds)), bind=self.binds)
        began = time.perf_counter()
        self.calls[0].run()
        first_run_s = time.perf_counter() - began
        gc.freeze()
        gc.disable()  # like a server in its steady state; a collection takes milliseconds
        for call in self.calls:
            call.keep_outputs()
        return {"first_run_s": first_run_s, "io": self.calls[0].IO, "feeds": len(self.calls)}, b""

    def do_outputs(self, path: str) -> Any:
        """Run each feed once and write the outputs."""
        results = [dict(zip(self.names, call.outputs(), strict=True)) for call in self.calls]
        write_values(Path(path), results)
        return {"outputs": self.names}, b""

    def do_evaluate(self, feeds: str, path: str) -> Any:
        """Run each feed of a file (a part of an evaluation set) once and write the outputs."""
        self.calls = self.calls_of(read_values(Path(feeds)), bind=False)
        return self.do_outputs(path)

    def do_warm_up(self, floor_s: float, bound_s: float, floor_runs: int, pacing_s: float | None) -> Any:
        body, payload = sampling.warm_up(self._in_turn(), floor_s, bound_s, floor_runs, pacing_s)
        return body | {"cores": cores_for_calls()}, payload

    def do_block(
        self,
        seconds: float,
        min_runs: int,
        max_runs: int,
        pacing_s: float | None,
        slow_down: float,
        lead_in: int = 0,
        core: int | None = None,
    ) -> Any:
        """Time whole passes over the feeds, from the first: every config runs the same mixture."""
        if core is not None:
            hold_to(core)
        for _ in range(lead_in):  # frozen threads wake up outside of the samples
            self.calls[0].run()
        return sampling.block(
            self._in_turn(), seconds, min_runs, max_runs, pacing_s, slow_down, whole=len(self.calls)
        )

    def do_requests(self, feeds: str) -> Any:
        """Hold a feed for each size of a stream."""
        self.calls = self.calls_of(read_values(Path(feeds)), bind=self.binds)
        gc.freeze()
        gc.disable()
        return {"rss_bytes": usage.rss_bytes()}, b""

    def do_replay(self, place: int) -> Any:
        """Run one of these feeds; return its nanoseconds, and the memory after it."""
        began = time.perf_counter_ns()
        self.calls[place].run()
        nanoseconds = time.perf_counter_ns() - began
        return {"rss_bytes": usage.rss_bytes()}, array("q", [nanoseconds]).tobytes()

    def do_usage(self) -> Any:
        return {
            "rss_bytes": usage.rss_bytes(),
            "peak_rss_bytes": usage.peak_rss_bytes(),
            "providers": self.providers(),
        }, b""

    def _in_turn(self) -> Callable[[], sampling.Run]:
        """Return a function that gives the call for the next sample: feed by feed, from the first."""
        return cycle([call.run for call in self.calls]).__next__
