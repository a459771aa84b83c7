"""The accuracy of configs and the error of their outputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbench.core.bundle.comparison import Verdict
from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.goal import Goal
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.measure.bar import bar
from workbench.core.measure.gates import FINE, OF_ANSWER, OPEN, Gate
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Model, load
from workbench.core.prepare.real_data import data_from
from workbench.core.text import share_of
from workbench.features.accuracy import accuracy as evaluation
from workbench.features.accuracy.acceptance import Check, checks, drop_check
from workbench.features.accuracy.chart import headline
from workbench.features.accuracy.record import AccuracyRecord, OutputFidelity, Paired, Score, check_accuracy
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import check_configs, finding_inputs, kept, sized_as


class AccuracyTable(Result):
    """The accuracy of each config, and the distance of its outputs from the first's.

    Made by `wb.accuracy`.
    """

    record: AccuracyRecord

    @property
    def scores(self) -> tuple[Score, ...]:
        """The accuracy of each config with its interval, and the difference to the first config's."""
        return self.record.scores

    @property
    def fidelity(self) -> tuple[OutputFidelity, ...]:
        """Each output of each candidate against the first config's."""
        return self.record.fidelity

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks to read before trusting it."""
        return self.record.notes

    def within(self, points: float = 1.0) -> dict[str, bool | None]:
        """Return whether each candidate loses at most that many points, where its interval settles it.

        None stands where the interval allows both, or where there is no accuracy.
        """
        return {
            score.label: None if score.against is None else score.against.within(points / 100)
            for score in self.record.scores
            if score.label != self.record.labels[0]
        }

    def accepts(
        self,
        verdict: Verdict,
        *,
        min_speedup: float = 1.0,
        max_error: float | None = None,
        max_drop: float | None = None,
    ) -> tuple[Check, ...]:
        """Return whether a config is faster for certain and within each limit, with the reasons.

        `verdict` is that of a comparison on the config; 0.01 is 1 %, and one point of the accuracy.
        """
        limits = Goal(min_speedup=min_speedup, max_error=max_error, max_accuracy_drop=max_drop)
        return checks(verdict, self.record, verdict.label, limits)

    def fidelity_frame(self) -> DataFrame:
        """Return one row per output of a candidate."""
        return self.record.fidelity_frame()

    def _in_words(self) -> str:
        data = self.record.data
        lines = [f"{headline(self.record)}; {data.item_count:,} items of {data.made_by}"]
        for score in self.record.scores:
            if score.problem is not None:
                lines.append(f"{score.label} has no score: {score.problem}")
            elif score.against is not None:
                lines.append(f"{score.label} against {self.record.labels[0]}: {_gap(score.against)}")
        for row in self.record.fidelity:
            lines.append(f"{row.label} {row.output}: {_error(row)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.record.notes)])


def _gap(gap: Paired) -> str:
    text = f"{gap.value * 100:+.2f} points"
    if gap.low is not None and gap.high is not None:
        text += f" ({gap.low * 100:+.2f} to {gap.high * 100:+.2f})"
    if gap.gained_count is not None and gap.lost_count is not None:
        text += f"; {gap.lost_count} items lost, {gap.gained_count} gained"
    return text


def _error(row: OutputFidelity) -> str:
    if row.problem is not None:
        return row.problem
    if row.equal:
        return "equal to the last bit"
    parts = []
    if row.rms_error is not None and row.sqnr_db is not None:
        parts.append(f"error {share_of(row.rms_error, 'the output')} (SQNR {row.sqnr_db:.1f} dB)")
    elif row.is_endless:
        parts.append("an error without end")
    if row.max_abs_error is not None:
        parts.append(f"largest {row.max_abs_error:.3g}")
    if row.cosine is not None:
        parts.append(f"cosine {row.cosine.value:.5f}")
    if row.top1 is not None:
        parts.append(f"same first choice {row.top1.text(100, ' %')}")
    if row.nan_count or row.inf_count:
        parts.append(f"{row.nan_count:,} NaN, {row.inf_count:,} Inf")
    return ", ".join(parts) or "nothing to compare"


@finding_inputs
def accuracy(
    model: Model | Any,
    *configs: Config,
    data: Any = None,
    metric: str | Callable[[Mapping[str, Any], Any], Any] | None = None,
    output: str | None = None,
    scores: Mapping[str, bool] | None = None,
    calibration: Any = None,
    items: int | None = None,
    batch: int | None = None,
    seed: int = 0,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> AccuracyTable:
    """Evaluate configs on the same examples: accuracy where there are labels, and the error of every output.

    `data`: nothing (a trained sample's own evaluation set, else random inputs), an .npz file with an array
    for each input and one called `labels`, a dict of such arrays, (feeds, labels), or an iterable of feeds.
    `metric`: "top1", "top5", "f1", or a function of (outputs by name, labels) that gives one number an item;
    `output` names the output that it reads. `scores` says of outputs whether they hold one score a class,
    where their name does not. The first config is the baseline of all errors and differences. `keep` adds the
    result to the history.
    """
    check_configs(configs, "wb.accuracy(model, wb.Config(), …)")
    loaded = sized_as(load(model), data)
    data = data_from(loaded, data, items)
    with bar(progress) as on_progress:
        record = evaluation.accuracy(
            loaded, configs or (Config(),), data=data, metric=metric, output=output, scores=scores,
            calibration=calibration, most=items, batch=batch, seed=seed, limits=worker_limits,
            cancel=cancel, on_progress=on_progress,
        )  # fmt: skip
    return kept(
        AccuracyTable(record, origin_of(loaded, configs[0] if configs else None, cancel=cancel)), keep
    )


def accuracy_gates(record: AccuracyRecord, max_accuracy_drop: float | None = None) -> Iterator[Gate]:
    """Yield a check for each config; the drop of a candidate is judged where a largest one is given."""
    for label in record.labels:
        score = record.score(label)
        if score is not None and score.problem is not None:
            yield Gate(label, OPEN, score.problem)
        elif max_accuracy_drop is not None and label != record.labels[0]:
            check = drop_check(record, label, max_accuracy_drop)
            yield Gate(label, OF_ANSWER[check.passed], check.reason)
        else:
            known = None if score is None else score.score
            yield Gate(label, FINE, "there are no labels" if known is None else f"{known.value:.2%}")


FEATURE = Feature(
    "accuracy",
    AccuracyRecord,
    check_accuracy,
    result=AccuracyTable,
    chart="workbench.features.accuracy.chart:accuracy_chart",
    per="runs",
    call="workbench.features.accuracy.result:accuracy",
    fact="accuracy",
    takes=("data", "calibration", "seed", "progress", "keep"),
    cards="workbench.features.accuracy.cards:cards",
    button="Measure accuracy",
    hint="A and B on the same examples: accuracy where there are labels, every output's error",
    step="evaluating",
    effort=(2.0, 4, 400),
    next_question=(2, "precisions", "Is the accuracy kept?"),
    role="judges outputs",
    tabs=("Outputs",),
    code="result.accuracy()",
    gates=accuracy_gates,
    command=Command(
        example="digits-conv --b precision=static_int8",
        names={"output": "metric-output"},
        hints={
            "data": "examples (.npz): an array for each input, and one called labels; default: a trained "
            "sample's own evaluation set, else random inputs",
            "metric": "top1, top5 or f1; default: what fits the labels",
            "output": "the output that the metric reads",
            "items": "take the first N examples",
            "batch": "examples in one run",
            "seed": "seed of random inputs",
            "max_accuracy_drop": "end with exit code 1 if one loses more",
        },
    ),
)
