"""A comparison of configs: prepares them, measures them, and records measurements and conclusions."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord, Protocol
from workbench.core.bundle.machine import Machine
from workbench.core.bundle.origin import new_id
from workbench.core.bundle.run import Run
from workbench.core.measure.blocks import BLOCK_S
from workbench.core.measure.candidates import make_candidates
from workbench.core.measure.compare_request import STEP_PREPARE, CompareRequest, check
from workbench.core.measure.continuing import check_same_files, check_same_machine
from workbench.core.measure.counters import Counters, on_battery, read_counters
from workbench.core.measure.doubts import doubts_of
from workbench.core.measure.evidence import RoundsEvidence
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.measure.load_doubts import Circumstances
from workbench.core.measure.measuring import Measuring
from workbench.core.measure.processor_time import provisional_answers
from workbench.core.measure.surroundings import StartWorker, surroundings_here
from workbench.core.measure.verdict import Criteria

HUB_VARIABLES = ("JUPYTERHUB_API_URL", "JUPYTERHUB_USER")  # other users work on this machine too


def compare(
    request: CompareRequest,
    *,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
    clock: Callable[[], float] = time.perf_counter,
    start_worker: StartWorker | None = None,
) -> ComparisonRecord:
    """Measure and judge the configs. Raise RunFailed if no config could run at all."""
    check(request)
    with surroundings_here(cancel, start_worker, clock) as surroundings:
        began = clock()

        def report_step(step: str) -> None:
            elapsed_s = clock() - began
            words = request.step_in_words(STEP_PREPARE)
            on_progress(Progress(step, 0, elapsed_s, elapsed_s, None, None, step=words))

        candidates = make_candidates(request, surroundings.folder, on_step=report_step, cancel=cancel)
        prepared_s = clock() - began
        earlier_s = 0.0
        if request.earlier is not None:
            check_same_files(request.earlier, candidates)
            earlier_s = request.earlier.protocol.elapsed_s
            check_same_machine(request.earlier.machine, surroundings.machine)
        counters = read_counters()
        measuring = Measuring(
            request,
            candidates,
            surroundings,
            began=request.began + prepared_s - earlier_s,  # the budget excludes preparation
            on_progress=on_progress,
        )
        measuring.run()
        return _record(request, measuring, surroundings.machine, read_counters().since(counters))


def _record(
    request: CompareRequest, measuring: Measuring, machine: Machine, counters: Counters
) -> ComparisonRecord:
    evidence, verdicts = measuring.evidence, measuring.verdicts
    runs, now = evidence.runs(), datetime.now(UTC)
    earlier_s = 0.0 if request.earlier is None else request.earlier.protocol.elapsed_s
    circumstances = Circumstances(
        machine=machine,
        counters=counters,
        elapsed_s=measuring.elapsed_s - earlier_s,
        software=evidence.software(),
        on_battery=on_battery(),
        shared=any(name in os.environ for name in HUB_VARIABLES),
        default_s=measuring.budget_s if measuring.took_longer else None,
        stopped=measuring.was_stopped,
    )
    pairs = [evidence.pairs(label) for label in request.labels[1:]]
    return comparison_record(
        request,
        evidence,
        machine,
        id=new_id(now),
        created_utc=now.isoformat(timespec="seconds"),
        budget_s=measuring.budget_s,
        elapsed_s=measuring.elapsed_s,
        runs=runs,
        verdicts=verdicts,
        doubts=(
            *provisional_answers(runs, verdicts, Criteria(request.smallest_effect)),
            *doubts_of(runs, verdicts, pairs, evidence.agreement, circumstances),
        ),
    )


def comparison_record(
    request: CompareRequest,
    evidence: RoundsEvidence,
    machine: Machine,
    *,
    budget_s: float,
    elapsed_s: float,
    runs: tuple[Run, ...],
    **fields: Any,
) -> ComparisonRecord:
    """Return the record of these rounds; `fields` are its id, time, verdicts and doubts."""
    return ComparisonRecord(
        model=request.model_record(),
        inputs=request.inputs,
        machine=machine,
        versions=evidence.versions(),
        protocol=Protocol(
            budget_s=budget_s,
            smallest_effect=request.smallest_effect,
            pacing_s=request.pacing_s,
            block_s=BLOCK_S,
            tolerance=request.tolerance,
            seed=request.seed,
            allow_fallback=request.allow_fallback,
            frozen_partner=evidence.partners_were_frozen(),
            elapsed_s=elapsed_s,
            sampling_s=sum(block.wall_s for run in runs for block in run.blocks),
        ),
        runs=runs,
        agreement=evidence.agreement,
        **fields,
    )
