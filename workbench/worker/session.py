"""One ORT session in the worker, made from a plan, run and timed."""

from __future__ import annotations

import gc
import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from workbench.worker import sampling, serving, usage
from workbench.worker.custom_ops import register
from workbench.worker.decoding import Decoder
from workbench.worker.feeding import (
    Call,
    bound_calls,
    device_of,
    needs_binding,
    plain_calls,
    to_portable,
)
from workbench.worker.offered import member
from workbench.worker.shared_environment import share, use_shared
from workbench.worker.values import read_values, write_values


def session_options(plan: dict[str, Any]) -> ort.SessionOptions:
    """Return the session options of a plan."""
    options = ort.SessionOptions()
    for name, value in plan["attributes"].items():
        member(ort.SessionOptions, name, _LEAVE_OUT)
        setattr(options, name, _constant(value))
    for key, value in plan["entries"].items():
        options.add_session_config_entry(key, value)
    for name, size in plan["free_dimensions"].items():
        options.add_free_dimension_override_by_name(name, size)
    register(options, plan.get("custom_ops", ()))
    use_shared(options, plan)
    return options


def make_session(
    model: str, plan: dict[str, Any], *, log_severity: int | None = None, saved_as: str | None = None
) -> ort.InferenceSession:
    """Make a session; ORT writes its optimized graph to `saved_as`."""
    options = session_options(plan)
    if saved_as is not None:
        options.optimized_model_filepath = saved_as
    if log_severity is not None:
        options.log_severity_level = log_severity
    if plan["preload_libraries"]:
        member(ort, "preload_dlls", _LEAVE_OUT)()
    providers = [(name, settings) for name, settings in plan["providers"]]
    return ort.InferenceSession(
        model, options, providers=providers, disabled_optimizers=list(plan["disabled_optimizers"]) or None
    )


def _constant(value: Any) -> Any:
    if isinstance(value, dict):
        owner, name = value["enum"].split(".")
        return member(getattr(ort, owner), name, _OTHER_LEVEL if name == "ORT_ENABLE_LAYOUT" else _LEAVE_OUT)
    return value


_OTHER_LEVEL = 'give level="all", which rewrites the layout in every version, or update onnxruntime there'
_LEAVE_OUT = "update onnxruntime there, or leave this setting out"

# ORT sets these options once per process, by its first session.
FIRST_SESSION_ONLY = frozenset({"session.set_denormal_as_zero"})


class SessionHost:
    """The state of a worker between commands. Each `do_…` is one command and returns (body, payload)."""

    def __init__(self) -> None:
        self.session: ort.InferenceSession | None = None
        self.calls: list[Call] = []
        self.feeds: list[dict[str, Any]] = []
        self.plan: dict[str, Any] = {}
        self.model = ""
        self.turn = -1
        self.callers: list[sampling.Run] = []
        self.decoder: Decoder | None = None

    def do_load(self, model: str, plan: dict[str, Any], log_severity: int | None = None) -> Any:
        """Make the session, timed as the user's load time."""
        if self.session is not None and FIRST_SESSION_ONLY & {*plan["entries"], *self.plan["entries"]}:
            entries = ", ".join(FIRST_SESSION_ONLY)
            raise RuntimeError(f"{entries} counts for the first session of a process only")
        if self.session is None:
            share(plan)
        self.plan, self.model = plan, model
        rss_start, threads_before = usage.rss_bytes(), usage.thread_count()
        began = time.perf_counter()
        self.session = make_session(model, plan, log_severity=log_severity)
        load_s = time.perf_counter() - began
        threads_after = usage.thread_count()
        started = None if threads_after is None or threads_before is None else threads_after - threads_before
        return {
            "load_s": load_s,
            "providers": self.session.get_providers(),
            "rss_start_bytes": rss_start,
            "rss_loaded_bytes": usage.rss_bytes(),
            "threads": self._threads(started),
            "inputs": [[arg.name, arg.type, arg.shape] for arg in self.session.get_inputs()],
            "outputs": [[arg.name, arg.type, arg.shape] for arg in self.session.get_outputs()],
        }, b""

    def do_first_run(self, feeds: str) -> Any:
        """Run once, and choose how the timed runs call ORT."""
        session = self._session()
        self.feeds = read_values(Path(feeds))
        options = self._run_options()
        bind = bool(self.plan["io_binding"]) or needs_binding(session, self.feeds)
        make = bound_calls if bind else plain_calls
        self.calls = make(session, self.feeds, options)
        began = time.perf_counter()
        self.calls[0].run()
        first_run_s = time.perf_counter() - began
        gc.freeze()
        gc.disable()  # like a server in its steady state; a collection takes milliseconds
        if bind:
            for call in self.calls:
                call.keep_outputs()
        io = "binding" if bind else "run"
        return {"first_run_s": first_run_s, "io": io, "feeds": len(self.calls)}, b""

    def do_outputs(self, path: str) -> Any:
        """Run each feed once and write the outputs."""
        session = self._session()
        names = [arg.name for arg in session.get_outputs()]
        results = []
        for call in self.calls:
            results.append(
                {name: to_portable(value) for name, value in zip(names, call.outputs(), strict=True)}
            )
        write_values(Path(path), results)
        return {"outputs": names}, b""

    def do_evaluate(self, feeds: str, path: str) -> Any:
        """Run each feed of a file (a part of an evaluation set) once and write the outputs."""
        session = self._session()
        self.feeds = read_values(Path(feeds))
        make = bound_calls if needs_binding(session, self.feeds) else plain_calls
        self.calls = make(session, self.feeds, self._run_options())
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
        """Time whole passes over the feeds, from the first: every config runs the same mixture."""
        for _ in range(lead_in):  # frozen threads wake up outside of the samples
            self.calls[0].run()
        self.turn = -1
        return sampling.block(
            self._next_run, seconds, min_runs, max_runs, pacing_s, slow_down, whole=len(self.calls)
        )

    def do_callers(self, sessions: int, callers: int) -> Any:
        """Make further sessions like the first, and the run of each caller; callers take turns at sessions.

        Each caller has calls of its own, since bound buffers serve one run at a time.
        """
        first, options = self._session(), self._run_options()
        began = time.perf_counter()
        more = [make_session(self.model, self.plan) for _ in range(sessions - 1)]
        load_s = time.perf_counter() - began
        bind = bool(self.plan["io_binding"]) or needs_binding(first, self.feeds)
        make = bound_calls if bind else plain_calls
        self.callers = []
        for caller in range(callers):
            calls = make([first, *more][caller % sessions], self.feeds, options)
            for call in calls:
                call.run()
                call.keep_outputs()
            self.callers.append(_in_turn(calls))
        return {"load_s": load_s, "rss_bytes": usage.rss_bytes()}, b""

    def do_serve(self, callers: int, seconds: float, rate_hz: float | None, seed: int, most: int) -> Any:
        """Let the first callers send requests for a while."""
        runs = self.callers[:callers]
        if rate_hz is None:
            return serving.closed_loop(runs, seconds, most)
        return serving.open_loop(runs, rate_hz, seconds, seed)

    def do_decoder(self, names: dict[str, Any], feeds: str, prompt: list[int], count: int) -> Any:
        """Make the loop over tokens, and run it once; buffers are bound where the config binds."""
        session = self._session()
        bind = bool(self.plan["io_binding"])
        self.decoder = Decoder(
            session,
            names,
            read_values(Path(feeds))[0],
            device=device_of(session) if bind else None,
            options=self._run_options(),
        )
        self.decoder.decode(prompt, count, None)
        return {"io": "binding" if bind else "run"}, b""

    def do_decode(
        self, prompt: list[int], count: int, given: list[int] | None, logits: str | None = None
    ) -> Any:
        """Make tokens after a prompt; write the logits of each step to a file where one is named."""
        if self.decoder is None:
            raise RuntimeError("no decoder was made")
        cpu_before = time.process_time_ns()
        decoded = self.decoder.decode(prompt, count, given, keep_logits=logits is not None)
        cpu_ns = time.process_time_ns() - cpu_before
        if logits is not None:
            write_values(Path(logits), [{"logits": np.stack(decoded["logits"])}])
        body = {"picked": decoded["picked"], "cache_bytes": decoded["cache_bytes"], "cpu_ns": cpu_ns}
        return body, decoded["steps"].tobytes()

    def do_usage(self) -> Any:
        return {
            "rss_bytes": usage.rss_bytes(),
            "peak_rss_bytes": usage.peak_rss_bytes(),
            "providers": self._session().get_providers(),
        }, b""

    def _next_run(self) -> Any:
        """Return the call for the next sample, feed by feed."""
        self.turn = (self.turn + 1) % len(self.calls)
        return self.calls[self.turn].run

    def _threads(self, started: int | None) -> int | None:
        """Return the intra-op threads: the config's number or the started ones; None if others start too."""
        asked = self.plan["attributes"].get("intra_op_num_threads")
        if asked:
            return int(asked)
        parallel = self.plan["attributes"].get("execution_mode") == {"enum": "ExecutionMode.ORT_PARALLEL"}
        on_cpu = self._session().get_providers() == ["CPUExecutionProvider"]
        return None if parallel or not on_cpu or started is None else started + 1

    def _run_options(self) -> ort.RunOptions | None:
        entries = self.plan.get("run_entries") or {}
        if not entries:
            return None
        options = ort.RunOptions()
        for key, value in entries.items():
            options.add_run_config_entry(key, value)
        return options

    def _session(self) -> ort.InferenceSession:
        if self.session is None:
            raise RuntimeError("no session was made")
        return self.session


def _in_turn(calls: list[Call]) -> sampling.Run:
    """Return a run of the next feed each time."""
    if len(calls) == 1:
        return calls[0].run
    turn = itertools.cycle(call.run for call in calls)
    return lambda: next(turn)()
