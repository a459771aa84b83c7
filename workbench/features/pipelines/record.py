"""What measured pipelines showed: each pass as a whole, and the time of each stage."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame, typed
from workbench.core.bundle.kinds import check_ratios, check_seconds
from workbench.core.bundle.run import Failure
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.measure.gates import FINE, OPEN, Gate, code_of
from workbench.core.measure.pairs import LEAST_S, TYPICAL_SHARE, typical_s
from workbench.core.measure.percentiles import Figure, mean_of
from workbench.core.measure.wording import headline
from workbench.core.text import in_digits, in_ms, quoted


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage: a model with its config, or a function, of which only its name and its digest are kept."""

    name: str
    function: str | None  # its qualified name; None: a model
    source_sha256: str | None  # of the source that it stands in
    model_sha256: str | None
    config: Config | None
    providers: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """What the stage is."""
        if self.function is not None:
            return f"function {self.function}"
        return "" if self.config is None else config_in_words(self.config)


@dataclass(frozen=True, slots=True)
class PipelineSlice:
    """Passes in turns in a short time: one with a clock around it, one with a clock at each stage."""

    round: int
    order: int  # position among all slices of its round
    whole_s: tuple[float, ...]
    stage_s: tuple[tuple[float, ...], ...]  # of each stage, its time in each of the other passes
    cpu_s: float
    others_cpu_s: float | None
    disturbed: tuple[str, ...]  # reasons to exclude it; empty: clean


@dataclass(frozen=True, slots=True)
class StageFigures:
    """The cost of a stage, and what a faster one would give to the whole (Amdahl's law)."""

    stage: StageRecord
    time: Figure  # seconds of a pass
    share: Figure

    def gain(self, factor: float | None) -> Figure:
        """Return how many times as fast the whole is with this stage `factor` times as fast; None: free."""
        kept = 1.0 if factor is None else 1 - 1 / factor
        gain = self.share.rising(lambda share: None if kept * share >= 1 else 1 / (1 - kept * share))
        return replace(gain, name="speed-up")


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """One pipeline, in one process per round."""

    label: str
    stages: tuple[StageRecord, ...]
    slices: tuple[PipelineSlice, ...]
    rss_bytes: tuple[int, ...]  # of each process at its end
    failure: Failure | None

    @property
    def name(self) -> str:
        return " → ".join(stage.name for stage in self.stages)

    def of_round(self, number: int) -> tuple[PipelineSlice, ...]:
        """Return the slices of one process."""
        return tuple(part for part in self.slices if part.round == number)

    @property
    def rounds(self) -> tuple[int, ...]:
        return tuple(sorted({part.round for part in self.slices}))

    def whole_in(self, number: int) -> float:
        """Return the typical seconds of a pass in one process, by the clock around it."""
        return max(typical_s(s for part in self.of_round(number) for s in part.whole_s), LEAST_S)

    @property
    def whole(self) -> Figure:
        """Seconds of a pass, by the clock around it."""
        return mean_of("pass", [self.whole_in(number) for number in self.rounds])

    @property
    def figures(self) -> tuple[StageFigures, ...]:
        """The time and the share of each stage."""
        times = [_stage_times(self.of_round(number)) for number in self.rounds]
        sums = [max(sum(row), LEAST_S) for row in times]
        return tuple(
            StageFigures(
                stage,
                mean_of("stage", [row[index] for row in times]),
                mean_of("share", [row[index] / whole for row, whole in zip(times, sums, strict=True)]),
            )
            for index, stage in enumerate(self.stages)
        )


def _stage_times(slices: Sequence[PipelineSlice]) -> list[float]:
    """Return the mean seconds of each stage over the fastest passes, as `typical_s` chooses them."""
    passes = sorted((row for part in slices for row in zip(*part.stage_s, strict=True)), key=sum)
    fastest = passes[: -int(-TYPICAL_SHARE * len(passes) // 1)]
    return [fmean(column) for column in zip(*fastest, strict=True)]


@dataclass(frozen=True, slots=True)
class PipelinesRecord:
    """Pipelines measured in turns, and the verdicts against the first."""

    seed: int
    runs: tuple[PipelineRun, ...]  # the baseline first
    agreement: tuple[OutputAgreement, ...]  # of the outputs of the last stage
    verdicts: tuple[Verdict, ...]

    def __str__(self) -> str:
        lines = [line for run in self.runs for line in _sentences(run)]
        return "\n".join([*lines, *map(headline, self.verdicts)])

    def to_frame(self) -> DataFrame:
        """Return one row for each stage of each pipeline."""
        rows = []
        for run in self.runs:
            figures = run.figures if run.slices else [None] * len(run.stages)
            for stage, row in zip(run.stages, figures, strict=True):
                time, share = (Figure(), Figure()) if row is None else (row.time, row.share)
                rows.append(
                    {
                        "label": run.label,
                        "stage": stage.name,
                        "what": stage.in_words,
                        **time.cells("time", "_s"),
                        **share.cells("share"),
                        "twice_as_fast": None if row is None else row.gain(2).value,
                        "at_most": None if row is None else row.gain(None).value,
                        "failure": run.failure.problem if run.failure else None,
                    }
                )
        return typed(data_frame(rows))


def _sentences(run: PipelineRun) -> list[str]:
    head = f"{run.label} ({run.name})"
    if run.failure is not None:
        return [f"{head}: failed during {run.failure.in_words}"]
    if not run.slices:
        return [f"{head}: nothing was measured"]
    lines = [f"{head}: {in_ms(run.whole.value, 3)} a pass{_interval(run.whole.times(1e3), ' ms')}"]
    for row in run.figures:
        share = row.share.times(100)
        number = in_digits(share.value or 0.0, 3)
        line = f"{run.label}: {row.stage.name} takes {number} %{_interval(share, ' %')}"
        if row.stage.function is None:
            twice, most = row.gain(2).value, row.gain(None).value
            line += f"; a session twice as fast gives {in_digits(twice or 0.0, 3)}×"
            line += "" if most is None else f", and none gives more than {in_digits(most, 3)}×"
        lines.append(line)
    return lines


def _interval(figure: Figure, unit: str) -> str:
    if figure.low is None or figure.high is None:
        return f" ({figure.note})" if figure.note else ""
    return f" (95 % CI {in_digits(figure.low, 3)} to {in_digits(figure.high, 3)}{unit})"


def check_pipelines(record: PipelinesRecord, fix: str) -> None:
    """Refuse a record that no pipelines could have made."""
    labels = [run.label for run in record.runs]
    if not labels or len(set(labels)) != len(labels):
        raise BundleError("runs: expected one or more, each with its own label.", fix)
    for run in record.runs:
        for part in run.slices:
            counts = {len(column) for column in part.stage_s}
            if not part.whole_s or len(part.stage_s) != len(run.stages) or len(counts) != 1 or counts == {0}:
                raise BundleError(f"runs: a slice of {quoted(run.label)} contradicts its stages.", fix)
            for column in (part.whole_s, *part.stage_s):
                check_seconds(column, "slices", fix)
    if any(row.label not in labels[1:] for row in record.verdicts):
        raise BundleError("verdicts: expected one of a candidate.", fix)
    check_ratios(record.verdicts, fix)


def pipelines_gates(record: PipelinesRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each pipeline, and one for each verdict."""
    for run in record.runs:
        if run.failure is not None:
            yield Gate(run.label, OPEN, f"not measured: {run.failure.problem}")
        else:
            yield Gate(run.label, FINE, f"{len(run.rounds)} processes")
    for verdict in record.verdicts:
        yield Gate(f"{verdict.label} against A", code_of(verdict.kind, fail_if), headline(verdict))
