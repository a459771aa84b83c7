"""Reasons not to trust a comparison fully: typed, with the evidence and what to do."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, stdev

from workbench.config.knobs import BY_FIELD
from workbench.judge.pairs import Pair
from workbench.measure.counters import Counters
from workbench.records.comparison import Doubt
from workbench.records.machine import Machine
from workbench.records.run import Block, Run
from workbench.text import in_ms

DISTURBED_SHARE = 0.10  # of the blocks
FEW_ROUNDS = 5
PAIR_SPREAD = 0.03  # standard deviation of the log ratio between process pairs
DRIFT = 0.10  # change of the baseline's latency from the first to the last third
STEAL_SHARE = 0.02
CLOCK_STEPS = 50  # a median of fewer clock ticks cannot resolve 2 %


def doubts_of(
    runs: Sequence[Run],
    pairs: Sequence[Sequence[Pair]],
    machine: Machine,
    *,
    counters: Counters,
    elapsed_s: float,
    software: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Doubt, ...]:
    """Return the doubts of a comparison."""
    doubts: list[Doubt] = []
    doubts += _other_load(runs)
    doubts += _spread(runs, pairs)
    doubts += _drift(runs[0])
    doubts += _fallbacks(runs)
    doubts += _runtimes(runs, software or {})
    doubts += _unsteady(runs)
    doubts += _threads(runs, machine)
    doubts += _clock(runs)
    doubts += _preparation(runs)
    doubts += _config_notes(runs, machine)
    doubts += _system(counters, elapsed_s)
    return tuple(doubts)


def _preparation(runs: Sequence[Run]) -> Iterable[Doubt]:
    """Yield doubts about ranges that were measured on noise."""
    for run in runs:
        if run.preparation is None:
            continue
        calibration = run.preparation.calibration
        if calibration is not None and not calibration.representative:
            yield Doubt(
                "calibration",
                run.label,
                f"its ranges were measured on RANDOM data ({calibration.count} examples, "
                f"{calibration.made_by}), which is not representative: its accuracy and error say nothing "
                "about real inputs",
                "give real examples: wb.compare(…, calibration=) takes a folder, an .npz file or feeds",
            )


def _other_load(runs: Sequence[Run]) -> Iterable[Doubt]:
    blocks = [block for run in runs for block in _blocks(run)]
    if not blocks:
        return
    if all(block.run_delay_s is None and block.others_cpu_s is None for block in blocks):
        yield Doubt(
            "other load",
            None,
            "this system does not report what other processes use, so disturbed blocks could not be found",
            "close other programs while measuring, or measure on Linux",
        )
        return
    if all(block.others_cpu_s is None for block in blocks):
        yield Doubt(
            "other load",
            None,
            "this container hides the machine's other processes: only blocks that waited long for a core "
            "could be found",
            "measure outside of the container, or start it with the host's process namespace",
        )
    disturbed = [block for block in blocks if block.disturbed]
    if len(disturbed) > DISTURBED_SHARE * len(blocks):
        cores = [block.others_cpu_s / block.wall_s for block in disturbed if block.others_cpu_s is not None]
        used = f"; others used {fmean(cores):.1f} cores meanwhile" if cores else ""
        yield Doubt(
            "other load",
            None,
            f"{len(disturbed)} of {len(blocks)} blocks were disturbed by other work and set aside{used}",
            "close other programs and notebooks, then compare again",
        )


def _system(counters: Counters, elapsed_s: float) -> Iterable[Doubt]:
    if counters.steal_s is not None and elapsed_s > 0 and counters.steal_s / elapsed_s > STEAL_SHARE:
        yield Doubt(
            "steal",
            None,
            f"the hypervisor gave {counters.steal_s / elapsed_s * 100:.0f} % of a core to other guests",
            "use a machine of your own, or repeat at another time",
        )
    if counters.thermal_throttles:
        yield Doubt(
            "throttling",
            None,
            f"the processor slowed down {counters.thermal_throttles} times because of heat",
            "let it cool, or measure with fewer threads",
        )
    if counters.quota_throttles:
        yield Doubt(
            "quota",
            None,
            f"the container's CPU quota stopped work {counters.quota_throttles} times while measuring",
            "set intra_op_threads to the quota or below, or raise the quota",
        )


def _spread(runs: Sequence[Run], pairs: Sequence[Sequence[Pair]]) -> Iterable[Doubt]:
    for run, rounds in zip(runs[1:], pairs, strict=True):
        ratios = [pair.log_ratio for pair in rounds if pair.log_ratio is not None]
        if 0 < len(ratios) < FEW_ROUNDS:
            yield Doubt(
                "few rounds",
                run.label,
                f"the interval stands on {len(ratios)} rounds only",
                "give more time with budget_s=…",
            )
        if len(ratios) >= 3 and stdev(ratios) > PAIR_SPREAD:
            yield Doubt(
                "noise",
                run.label,
                f"the ratio varies by {stdev(ratios) * 100:.1f} % from one pair of processes to the next",
                "give more time with budget_s=…, or set intra_op_threads so that no core is shared",
            )


def _drift(baseline: Run) -> Iterable[Doubt]:
    blocks = sorted((b for b in _blocks(baseline) if not b.disturbed), key=lambda block: block.start_s)
    third = len(blocks) // 3
    if third >= 3:
        first = median(block.median_s for block in blocks[:third])
        last = median(block.median_s for block in blocks[-third:])
        if abs(math.log(last / first)) > DRIFT:
            yield Doubt(
                "drift",
                baseline.label,
                f"A's latency moved from {in_ms(first, 3)} to {in_ms(last, 3)} while measuring; "
                "the interleaving keeps the ratio fair, the latencies themselves are less sure",
                "let the machine reach a steady temperature and clock, then compare again",
            )


def _fallbacks(runs: Sequence[Run]) -> Iterable[Doubt]:
    for run in runs:
        asked = [provider.name for provider in run.config.providers]
        missing = [name for name in asked if run.providers and name not in run.providers]
        if missing:
            reason = next(
                (line.message for line in run.log if any(name in line.message for name in missing)),
                "ORT gave no reason",
            )
            yield Doubt(
                "fallback",
                run.label,
                f"{', '.join(missing)} was asked for but did not load, so {run.label} ran on "
                f"{', '.join(run.providers)}: {reason}",
                "see wb.doctor() for what this provider needs; until then the figures are of the fallback",
            )


def _runtimes(runs: Sequence[Run], software: Mapping[str, Mapping[str, str]]) -> Iterable[Doubt]:
    """Yield doubts about runtimes: two builds of ORT differ in more than the config says."""
    ours = software.get(runs[0].label, {})
    for run in runs[1:]:
        theirs = software.get(run.label, {})
        differing = [name for name in ours if name in theirs and ours[name] != theirs[name]]
        if not differing and (run.config.runtime == runs[0].config.runtime or not theirs):
            continue
        reason = ", ".join(f"{name} {theirs[name]} instead of {ours[name]}" for name in differing)
        where = BY_FIELD["runtime"].words(run.config.runtime)
        yield Doubt(
            "runtime",
            run.label,
            f"{run.label} ran in another environment than A ({where}): {reason or 'of the same versions'}; "
            "the ratio compares the two builds of ORT too, not the configs alone",
            "give A the same runtime to compare the configs alone",
        )


def _unsteady(runs: Sequence[Run]) -> Iterable[Doubt]:
    for run in runs:
        unsteady = sum(not process.steady for process in run.processes)
        if run.processes and unsteady > len(run.processes) / 2:
            yield Doubt(
                "warm-up",
                run.label,
                f"in {unsteady} of {len(run.processes)} processes the latency was still falling when "
                "measuring began",
                "give more time with budget_s=…; a model that keeps getting faster may be caching shapes",
            )


def _threads(runs: Sequence[Run], machine: Machine) -> Iterable[Doubt]:
    quota = machine.quota_cores
    for run in runs:
        if run.threads is None:
            continue
        if quota is not None and run.threads > math.ceil(quota):
            yield Doubt(
                "quota",
                run.label,
                f"{run.label} runs {run.threads} threads, but the container may use {quota:g} cores",
                f"set intra_op_threads={max(1, int(quota))}",
            )
        elif run.threads > machine.usable_cores and run.config.intra_op_threads is None:
            yield Doubt(
                "threads",
                run.label,
                f"{run.label} runs {run.threads} threads on {machine.usable_cores} usable cores",
                f"set intra_op_threads={machine.usable_cores} or fewer",
            )


def _clock(runs: Sequence[Run]) -> Iterable[Doubt]:
    tick_s = time.get_clock_info("perf_counter").resolution
    for run in runs:
        middle_s = run.latency.median_s
        if middle_s is not None and middle_s < CLOCK_STEPS * tick_s:
            yield Doubt(
                "clock",
                run.label,
                f"{run.label}'s median of {middle_s * 1e6:.2g} µs is only {middle_s / tick_s:.0f} ticks of "
                "this system's clock",
                "use a larger batch, so that one run takes longer",
            )


def _config_notes(runs: Sequence[Run], machine: Machine) -> Iterable[Doubt]:
    """Yield doubts about settings that are legal but probably not meant."""
    for run in runs:
        for note in run.config.notes(machine.usable_cores):
            yield Doubt(
                "config",
                run.label,
                f"{run.label}: {note}",
                "change it with config.replace(…), or keep it knowingly",
            )


def _blocks(run: Run) -> list[Block]:
    return [block for process in run.processes for block in process.blocks]
