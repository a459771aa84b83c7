"""Processor time at one thread: a second clock, hardly affected by other programs' load.

For equal configs the ratio stayed within 0.92 to 1.03 on a machine where wall time spanned 0.35 to 3.45.
Processor time is never a latency: it measures the work of a run, not the user's waiting time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.core.bundle.comparison import Doubt, Verdict
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.measure.pairs import pairs_of
from workbench.core.measure.verdict import Criteria, judge
from workbench.core.measure.wording import headline

CPU = "CPUExecutionProvider"


def at_one_thread(config: Config) -> Config:
    """Return the config for `clock="cpu"`. Raise ConfigError if it uses more than one thread."""
    if any(provider.name != CPU for provider in config.providers):
        raise ConfigError(
            'clock="cpu" measures processor time, and this config runs on another provider',
            'leave out clock, or give providers=("cpu",)',
        )
    if config.execution_mode == "parallel":
        raise ConfigError(
            'clock="cpu" measures one thread, and this config runs nodes in parallel',
            "leave out execution_mode",
        )
    return config.replace(intra_op_threads=1)


def provisional_answers(
    runs: Sequence[Run], verdicts: Sequence[Verdict], criteria: Criteria
) -> Iterable[Doubt]:
    """Yield processor-time results if wall time leaves a verdict open and both configs run on one thread."""
    by_cpu = replace(criteria, clock="cpu")
    for run, verdict in zip(runs[1:], verdicts, strict=True):
        is_open = verdict.kind == "unknown" and verdict.clock == "wall"
        if not is_open or not _is_single(runs[0]) or not _is_single(run):
            continue
        answer = judge(run.label, pairs_of(runs[0], run, "cpu"), (), by_cpu, final=True)
        if answer.is_settled:
            yield Doubt(
                "processor time",
                run.label,
                f"the latency leaves it open, but {headline(answer)}",
                'compare with clock="cpu" for a verdict on processor time, or measure on when it is quiet',
            )


def _is_single(run: Run) -> bool:
    return bool(run.blocks) and run.threads == 1 and run.providers == (CPU,)
