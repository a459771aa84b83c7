"""The proof of a deployment: its server is started, asked, compared, and measured beside the bare session."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.core.background import check_cancel
from workbench.core.errors import DeployError
from workbench.core.measure.agreement import compare_outputs
from workbench.core.measure.blocks import seconds_of
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.limits import Limits, OnProgress, Progress
from workbench.core.measure.outcomes import Outcome
from workbench.core.measure.rounds import Participant
from workbench.core.measure.tolerance import least_sqnr_db
from workbench.core.prepare.preparing import Prepared
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.packages import packages_of
from workbench.core.worker.values import read_values, write_values
from workbench.features.deploy.processes import ClientProcess, Server
from workbench.features.deploy.record import DeploymentCheck, ServedRound
from workbench.features.deploy.texts import EXTRA, SERVER_PACKAGES

CALLERS = (1, 4)
ROUNDS = 5
CHECK_BLOCK_S = 0.5
_LEAST_RUNS = 5
_MOST_RUNS = 100_000


def check_deployment(
    folder: Path,
    prepared: Prepared,
    feed: Mapping[str, Any],
    *,
    callers: Sequence[int],
    rounds: int,
    block_s: float,
    limits: Limits | None,
    on_progress: OnProgress,
    cancel: threading.Event | None,
) -> DeploymentCheck:
    """Start the server of a deployment on a free loopback port and hold it against the measured config."""
    python = prepared.asked.interpreter
    _check_installed(python)
    limits = limits or Limits()
    steps = max(1, rounds * (1 + len(callers)))
    began, done = time.perf_counter(), 0

    def report(doing: str) -> None:
        nonlocal done
        check_cancel(cancel)
        elapsed_s = time.perf_counter() - began
        budget_s, fraction = max(elapsed_s, steps * block_s), min(1.0, done / steps)
        on_progress(Progress(doing, done // (1 + len(callers)), elapsed_s, budget_s, fraction))

    with ExitStack() as stack:
        temporary = stack.enter_context(WorkerFolder())
        report("starting the bare session")
        bare = stack.enter_context(_bare(temporary, prepared, feed, limits, cancel))
        expected = read_values(temporary / "expected")
        report("starting the server")
        server = stack.enter_context(Server(folder, temporary / "server.log", python))
        bare.worker.freeze()
        ready_s = server.wait_until_ready(cancel)
        client = stack.enter_context(ClientProcess(server, prepared, temporary, feed))
        client.ask("outputs", path=str(temporary / "served"))
        agreement = compare_outputs(
            "HTTP",
            expected,
            read_values(temporary / "served"),
            least_sqnr_db=least_sqnr_db(prepared.asked, prepared.model),
            structure=prepared.original.structure,
        )
        measured = []
        for _ in range(rounds):
            report("measuring the bare session")
            bare.worker.thaw()
            answer = bare.ask(
                "block", "run", seconds=block_s, min_runs=_LEAST_RUNS, max_runs=_MOST_RUNS,
                pacing_s=None, slow_down=0.0, lead_in=1,
            )  # fmt: skip
            bare.worker.freeze()
            done += 1
            loads = []
            for count in callers:
                report(f"measuring through HTTP with {count} at once")
                loads.append(client.load(count, block_s))
                done += 1
            measured.append(ServedRound(seconds_of(answer.payload), tuple(loads)))
        return DeploymentCheck(ready_s, server.providers(), agreement, tuple(measured))


def _check_installed(python: str) -> None:
    """Refuse to check without the server's packages in its environment, or without a client in this one."""
    if find_spec("tritonclient") is None:
        raise DeployError("the check asks the server with tritonclient, which is not installed", EXTRA)
    packages = packages_of(python, SERVER_PACKAGES)
    missing = [name for name in SERVER_PACKAGES if name not in packages.versions]
    if missing:
        raise DeployError(
            f"the check runs the server, and its environment lacks {', '.join(missing)}",
            f"{python} -m pip install {' '.join(missing)}",
        )


@contextmanager
def _bare(
    folder: Path,
    prepared: Prepared,
    feed: Mapping[str, Any],
    limits: Limits,
    cancel: threading.Event | None,
) -> Iterator[Participant]:
    """Give a warm worker with the session of the config; its outputs lie in `expected`."""
    feeds, plan, python = folder / "feeds", prepared.config.plan().to_dict(), prepared.asked.interpreter
    write_values(feeds, [feed])
    candidate = Candidate("bare", prepared.config, prepared.model.path, plan, feeds, python)
    with Worker(folder, name="bare", python=python, memory_bytes=limits.memory_bytes) as worker:
        bare = Participant(worker, candidate, Outcome("bare"), limits, cancel)
        bare.greet()
        bare.load()
        bare.ask("first_run", "first run", feeds=str(feeds))
        bare.ask("outputs", "outputs", path=str(folder / "expected"))
        bare.ask("warm_up", "warm-up", floor_s=0.2, bound_s=2.0, floor_runs=3, pacing_s=None)
        yield bare
