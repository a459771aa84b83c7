"""Reasons not to trust a comparison fully: typed, with the evidence and a fix."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, stdev

from workbench.core.bundle.comparison import STOPPED, Doubt, OutputAgreement, Verdict
from workbench.core.bundle.machine import Machine
from workbench.core.bundle.run import Run
from workbench.core.config.fields import BY_FIELD
from workbench.core.measure.agreement import NO_VALUES
from workbench.core.measure.load_doubts import MORE_TIME, Circumstances, counted, other_load
from workbench.core.measure.other_file import is_other_net
from workbench.core.measure.pairs import Pair
from workbench.core.measure.verdict import NOISY_SCATTER
from workbench.core.measure.wording import thread_notes
from workbench.core.text import counted as count_in_words
from workbench.core.text import in_ms

FEW_ROUNDS = 5
DRIFT = 0.10  # change of the baseline's latency from the first to the last third
_PROVIDER_LIST = re.compile(r"\s*(when using|Falling back to|using) \[")
_BACKENDS = ("TensorRT", "CUDA", "cuDNN", "OpenVINO", "DirectML", "ROCm", "QNN")
CLOCK_STEPS = 50  # a median of fewer clock ticks cannot resolve 2 %


def doubts_of(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    pairs: Sequence[Sequence[Pair]],
    agreement: Sequence[OutputAgreement],
    circumstances: Circumstances,
) -> tuple[Doubt, ...]:
    """Return the doubts of a comparison; verdicts and pairs are in the order of the candidates."""
    return (
        *_stopped(verdicts, circumstances),
        *other_load(runs, circumstances),
        *_spread(runs, verdicts, pairs),
        *_drift(runs[0]),
        *_fallbacks(runs),
        *_runtimes(runs, circumstances.software),
        *_outputs(agreement),
        *_other_nets(runs),
        *_unsteady(runs),
        *_threads(runs, circumstances.machine),
        *_clock(runs),
        *_preparation(runs),
        *_config_notes(runs, circumstances.machine),
        *counted(circumstances),
    )


def _stopped(verdicts: Sequence[Verdict], circumstances: Circumstances) -> Iterable[Doubt]:
    if circumstances.stopped:
        rounds = max((verdict.rounds for verdict in verdicts), default=0)
        yield Doubt(STOPPED, None, f"stopped on request, {count_in_words(rounds, 'round')} kept", MORE_TIME)


def _outputs(agreement: Sequence[OutputAgreement]) -> Iterable[Doubt]:
    for label in dict.fromkeys(row.label for row in agreement if row.reason == NO_VALUES):
        yield Doubt(
            "outputs",
            label,
            f"every output of A and {label} is NaN, infinite or empty, so their equality is no evidence",
            "give inputs that the model answers with numbers: inputs=…",
        )


def _other_nets(runs: Sequence[Run]) -> Iterable[Doubt]:
    for run in runs[1:]:
        if is_other_net(run.config.precision):
            yield Doubt(
                "different nets",
                run.label,
                f"the outputs of A and {run.label} were not compared, as asked for: the ratio is of time",
                "compare what both compute yourself: wb.accuracy(model, data) of each",
            )


def _preparation(runs: Sequence[Run]) -> Iterable[Doubt]:
    """Yield doubts about activation ranges measured on noise."""
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


def _spread(
    runs: Sequence[Run], verdicts: Sequence[Verdict], pairs: Sequence[Sequence[Pair]]
) -> Iterable[Doubt]:
    for run, verdict, rounds in zip(runs[1:], verdicts, pairs, strict=True):
        ratios = [ratio for pair in rounds if (ratio := pair.of(run.population)) is not None]
        if 0 < len(ratios) < FEW_ROUNDS and verdict.kind == "unknown":
            yield Doubt(
                "few rounds",
                run.label,
                f"the interval stands on {len(ratios)} rounds only",
                MORE_TIME,
            )
        if len(ratios) >= 3 and stdev(ratios) > NOISY_SCATTER:
            yield Doubt(
                "noise",
                run.label,
                f"the ratio varies by {stdev(ratios) * 100:.1f} % from one round to the next",
                f"{MORE_TIME}, or set intra_op_threads so that no core is shared",
            )


def _drift(baseline: Run) -> Iterable[Doubt]:
    blocks = sorted((b for b in baseline.blocks if not b.disturbed), key=lambda block: block.start_s)
    third = len(blocks) // 3
    if third >= 3:
        first = median(block.median_s for block in blocks[:third])
        last = median(block.median_s for block in blocks[-third:])
        if abs(math.log(last / first)) > DRIFT:
            yield Doubt(
                "drift",
                baseline.label,
                f"A's latency moved from {in_ms(first, 3)} to {in_ms(last, 3)} while measuring; "
                "the interleaving keeps a ratio fair, the latencies themselves are less sure",
                "let the machine reach a steady temperature and clock, then measure again",
            )


def _fallbacks(runs: Sequence[Run]) -> Iterable[Doubt]:
    for run in runs:
        asked = [provider.name for provider in run.config.providers]
        missing = [name for name in asked if run.providers and name not in run.providers]
        if missing and run.failure is None:
            reason = _fallback_reason(run, missing)
            yield Doubt(
                "fallback",
                run.label,
                f"{', '.join(missing)} was asked for but did not load, so {run.label} ran on "
                f"{', '.join(run.providers)}: {reason}",
                "see wb.doctor() for what this provider needs; until then the figures are of the fallback",
            )


def _fallback_reason(run: Run, missing: Sequence[str]) -> str:
    """Return ORT's message about providers that did not load.

    ORT's Python layer prints one sentence over three lines, of which the last two only list providers.
    """
    lines = [
        line.message.strip().removeprefix("EP Error ")
        for line in run.log
        if not _PROVIDER_LIST.match(line.message)
    ]
    for named in (
        [line for line in lines if any(name in line for name in missing)],
        [line for line in lines if any(word in line for word in _BACKENDS)],
    ):
        if named:
            return named[0]
    return "ORT gave no reason"


def _runtimes(runs: Sequence[Run], software: Mapping[str, Mapping[str, str]]) -> Iterable[Doubt]:
    """Yield doubts about runtimes: two builds of ORT differ in more than the config."""
    ours = software.get(runs[0].label, {})
    for run in runs[1:]:
        if run.config.engine is not None or runs[0].config.engine is not None:
            continue  # the comparison is of two engines, on purpose
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
                f"{MORE_TIME}; a model that keeps getting faster may be caching shapes",
            )


def _threads(runs: Sequence[Run], machine: Machine) -> Iterable[Doubt]:
    quota = machine.quota_cores
    for label, note in thread_notes(runs):
        fix = "set intra_op_threads or inter_op_threads in the config, or unset the variables"
        yield Doubt("threads from the environment", label, note, fix)
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
    """Yield doubts about settings that are valid but probably unintended."""
    for run in runs:
        for note in run.config.notes(machine.usable_cores):
            yield Doubt(
                "config",
                run.label,
                f"{run.label}: {note}",
                "change it with config.replace(…), or keep it knowingly",
            )
