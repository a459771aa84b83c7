"""The commands of the worker of ONNX Runtime."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnxruntime as ort

from workbench.core.thread_variables import OBEYED_SINCE, thread_origins
from workbench.core.worker import sampling, serving, usage
from workbench.core.worker.caller_processes import CallerProcesses
from workbench.core.worker.decoding import Decoder
from workbench.core.worker.feeding import device_of, make_calls
from workbench.core.worker.host import Call, Host
from workbench.core.worker.pipeline import StageRunner, make_stages
from workbench.core.worker.session import make_session, nodes_on, run_options, share
from workbench.core.worker.values import Feed, read_values, write_values

_READS_VARIABLES = tuple(map(int, ort.__version__.split(".")[:2])) >= OBEYED_SINCE
# ORT sets these options once per process, by its first session.
FIRST_SESSION_ONLY = frozenset({"session.set_denormal_as_zero"})


class SessionHost(Host):
    """A session, and what runs it."""

    def __init__(self) -> None:
        super().__init__()
        self.session: ort.InferenceSession | None = None
        self.feeds: Sequence[Feed] = []
        self.plan: dict[str, Any] = {}
        self.model = ""
        self.callers: list[sampling.Run] = []
        self.pipeline: StageRunner | None = None
        self.caller_processes: CallerProcesses | None = None

    def do_load(self, model: str, plan: dict[str, Any], log_severity: int | None = None) -> Any:
        """Make the session, timed as the user's load time."""
        if self.session is not None and FIRST_SESSION_ONLY & {*plan["entries"], *self.plan["entries"]}:
            entries = ", ".join(FIRST_SESSION_ONLY)
            raise RuntimeError(f"{entries} counts for the first session of a process only")
        if self.session is None:
            share(plan)
        self.plan, self.model, self.binds = plan, model, bool(plan["io_binding"])
        rss_start, threads_before = usage.rss_bytes(), usage.thread_count()
        began = time.perf_counter()
        quiet = {} if log_severity is None else {"log_severity_level": log_severity}
        self.session = make_session(model, plan, **quiet)
        self.session.disable_fallback()  # a run that fails is an error, not a run on the CPU
        load_s = time.perf_counter() - began
        threads_after = usage.thread_count()
        self.names = [arg.name for arg in self.session.get_outputs()]
        started = None if threads_after is None or threads_before is None else threads_after - threads_before
        return {
            "load_s": load_s,
            "providers": self.session.get_providers(),
            "available": ort.get_available_providers(),
            "nodes_on": nodes_on(self.session, plan),
            "rss_start_bytes": rss_start,
            "rss_loaded_bytes": usage.rss_bytes(),
            "threads": self._threads(started),
            "threads_from": thread_origins(plan["attributes"], obeyed=_READS_VARIABLES),
            "inputs": [[arg.name, arg.type, arg.shape] for arg in self.session.get_inputs()],
            "outputs": [[arg.name, arg.type, arg.shape] for arg in self.session.get_outputs()],
        }, b""

    def calls_of(self, feeds: Sequence[Feed], *, bind: bool) -> list[Call]:
        self.feeds = feeds
        return make_calls(self._session(), feeds, run_options(self.plan), bind=bind)

    def do_usage(self) -> Any:
        """Add the memory of callers that are processes."""
        body, payload = super().do_usage()
        callers = None if self.caller_processes is None else self.caller_processes.rss_bytes()
        if callers is not None and body["rss_bytes"] is not None:
            body["rss_bytes"] += callers
        return body, payload

    def providers(self) -> list[str]:
        return list(self._session().get_providers())

    def do_callers(self, sessions: int, callers: int, feeds: str | None = None) -> Any:
        """Make further sessions like the first, and the run of each caller; callers take turns at sessions.

        Each caller has calls of its own, since bound buffers serve one run at a time. With `feeds`, the file
        of the first run, each caller is a process that reads it.
        """
        if feeds is not None:
            began = time.perf_counter()
            self.caller_processes = CallerProcesses(callers, self.model, self.plan, feeds)
            return {"load_s": time.perf_counter() - began, "rss_bytes": usage.rss_bytes()}, b""
        first, options = self._session(), run_options(self.plan)
        began = time.perf_counter()
        more = [make_session(self.model, self.plan) for _ in range(sessions - 1)]
        load_s = time.perf_counter() - began
        self.callers = []
        for caller in range(callers):
            session = [first, *more][caller % sessions]
            calls = make_calls(session, self.feeds, options, bind=self.binds)
            for call in calls:
                call.run()
                call.keep_outputs()
            self.callers.append(_in_turn(calls))
        return {"load_s": load_s, "rss_bytes": usage.rss_bytes()}, b""

    def do_serve(
        self,
        callers: int,
        seconds: float,
        rate_hz: float | None,
        seed: int,
        most: int,
        begin_ns: int | None = None,
    ) -> Any:
        """Let the first callers send requests for a while, from a moment on where one is given."""
        if self.caller_processes is not None:
            return self.caller_processes.serve(callers, seconds, most)
        while begin_ns is not None and time.perf_counter_ns() < begin_ns:
            time.sleep(0)
        runs = self.callers[:callers]
        if rate_hz is None:
            return serving.closed_loop(runs, seconds, most)
        return serving.open_loop(runs, rate_hz, seconds, seed)

    def do_decoder(
        self,
        names: dict[str, Any],
        empty_shapes: list[dict[str, list[int]]],
        feeds: str,
        prompts: list[list[list[int]]],
        count: int,
    ) -> Any:
        """Make the loop of each prompt and run it once; buffers are bound where the config binds."""
        session = self._session()
        device, options = device_of(session) if self.binds else None, run_options(self.plan)
        self.decoders = [
            Decoder(session, {**names, "empty_shapes": empty}, feed, prompt, device=device, options=options)
            for empty, feed, prompt in zip(empty_shapes, read_values(Path(feeds)), prompts, strict=True)
        ]
        for decoder in self.decoders:
            decoder.decode(count, None)
        return {"io": self.decoders[0].io}, b""

    def do_pipeline(
        self, stages: list[dict[str, Any]], feeds: str, path: str, taken: str | None = None
    ) -> Any:
        """Make the stages around the session of their first model, run them once, and write the outputs.

        `taken` is where to write what each stage takes, with its number behind.
        """
        made, known = make_stages(stages, self._session(), self.plan)
        self.pipeline = StageRunner(made, read_values(Path(feeds)))
        arrived: list[list[Feed]] | None = None if taken is None else [[] for _ in made]
        write_values(Path(path), self.pipeline.connect(arrived))
        for number, values in enumerate(arrived or ()):
            write_values(Path(f"{taken}.{number}"), values)
        gc.freeze()
        gc.disable()  # as for the runs of one model
        return {"stages": known}, b""

    def do_passes(self, seconds: float) -> Any:
        """Run the pipeline for a while."""
        if self.pipeline is None:
            raise RuntimeError("no pipeline was made")
        return self.pipeline.block(seconds)

    def _threads(self, started: int | None) -> int | None:
        """Return the intra-op threads: the config's number or the started ones; None if others start too."""
        asked = self.plan["attributes"].get("intra_op_num_threads")
        if asked:
            return int(asked)
        parallel = self.plan["attributes"].get("execution_mode") == "ExecutionMode.ORT_PARALLEL"
        on_cpu = self._session().get_providers() == ["CPUExecutionProvider"]
        return None if parallel or not on_cpu or started is None else started + 1

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
