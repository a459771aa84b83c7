"""A config that was improved within limits, as notebooks hold it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from workbench.core.bounds import check_number
from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.core.config.fields import BY_FIELD
from workbench.core.errors import ConfigError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names
from workbench.core.goal_fields import GOAL_FIELDS, at_least_zero
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.prepare.examples import has_labels
from workbench.core.prepare.real_data import check_examples, data_from, inputs_from
from workbench.core.text import quoted
from workbench.drawing.card import ConfigUse
from workbench.drawing.chart import Axis, Chart, ChartRow, Look, ReferenceLine, Value, value_of
from workbench.drawing.palette import GAIN, LOSS, TEXT
from workbench.features.accuracy.accuracy import check_labels
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import finding_inputs, kept
from workbench.features.compare.result import Comparison
from workbench.features.improve.html import steps_html
from workbench.features.improve.improving import Improving
from workbench.features.improve.record import ImprovementRecord, ImprovementStep, check_improvement
from workbench.features.improve.request import ImproveRequest

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.improve.record import Trial
    from workbench.features.tune.result import Study


_TIMES = (("3 minutes", ""), ("1 minute", "60"), ("10 minutes", "600"), ("30 minutes", "1800"))


def _first_drop(model: Any, data: str) -> str:
    """Return 1 % of the accuracy where the examples have labels, by which it is judged; else no limit."""
    return "1" if model is not None and has_labels(model, data) else ""


_DROP, *_OTHERS = GOAL_FIELDS
FORM = (
    replace(_DROP, text=_first_drop),
    *_OTHERS,
    Field("without", "may not vary", "Settings that stay as they are", names, example="level, precision"),
    Field("budget_s", "may take (s)", "The seconds that all of it may take", at_least_zero, example="180",
          choices=_TIMES),
)  # fmt: skip
LIMITS = tuple(limit.name for limit in fields(Goal))


def arguments_of(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `improve`; the limits stand in one goal."""
    limits = {name: value for name, value in options.items() if name in LIMITS}
    others = {name: value for name, value in options.items() if name not in LIMITS}
    return (model, *configs), {**({"limits": Goal(**limits)} if limits else {}), **others}


_KEPT, _REFUSED = Look(GAIN, "", "circle", "kept"), Look(LOSS, "/", "diamond", "not kept")
_PREDICTED = Look(TEXT, "", "square", "predicted", hollow=True)
_MOST_TRIALS = 16


def improvement_chart(record: ImprovementRecord) -> Chart:
    """Return the measured speed-up of each fix and config that was tried, beside the predicted one."""
    trials = [trial for trial in record.trials if trial.way == "fix" or trial.measured.value is not None]
    rows = tuple(map(_row, trials[:_MOST_TRIALS]))
    axis = Axis("speed-up (times)", "dot", (ReferenceLine(1.0),))
    return Chart((record.headline,), (axis,), rows, record.ended)


def _row(trial: Trial) -> ChartRow:
    look = _KEPT if trial.kept else _REFUSED
    values = [Value(None, trial.measured_text, look, detail=trial.reason)]
    if trial.measured.value is not None and trial.measured.low is not None:
        values = [value_of(trial.measured, f"{trial.measured_text}, {look.name}", look, trial.reason)]
    if trial.predicted is not None:
        values.append(Value(trial.predicted, f"predicted {trial.predicted_text}", _PREDICTED))
    return ChartRow(trial.title, (tuple(values),))


class Improvement(Result):
    """The steps from a config to a better one, and the final comparison. Made by `wb.improve`."""

    record: ImprovementRecord

    @property
    def steps(self) -> tuple[ImprovementStep, ...]:
        """Every fix that was tried, in order."""
        return self.record.steps

    @property
    def search(self) -> Study | None:
        """The search around what the fixes gave, with its table and its front; None: nothing was searched."""
        from workbench.features.tune.result import Study

        return None if self.record.search is None else Study(self.record.search, structure=self.structure)

    @property
    def config(self) -> Config:
        """The proven config; the first one where nothing helped."""
        return self.record.config

    @property
    def comparison(self) -> Comparison | None:
        """The first config against the proven one, measured after the choice; None: nothing is proven."""
        record = self.record.comparison
        return None if record is None else Comparison(record, structure=self.structure)

    def to_python(self, model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs the final config."""
        return self.config.to_python(model, inputs=self.about.inputs)

    def html(self, label: str) -> str:
        """Return what happened to a config that was improved, which is called `label`."""
        return steps_html(label, self.record)

    def uses(self) -> tuple[ConfigUse, ...]:
        """Return the proven config, if it is another one."""
        proven = ConfigUse("B", "", "Put the proven config into B", lambda _: self.config)
        return (proven,) if self.config != self.record.start else ()

    def figure(self) -> go.Figure | None:
        """Draw the speed-ups; return None where nothing was tried."""
        return super().figure() if self.record.trials else None


_BUDGET_S = 180.0
_SEARCH_S = 45.0  # of the search where neither a budget nor a limit was given


@finding_inputs
def improve(
    model: Model | Any,
    config: Config | None = None,
    limits: Goal | None = None,
    budget_s: float | None = None,
    *,
    without: Sequence[str] = (),
    data: Any = None,
    inputs: Inputs | Any = None,
    seed: int = 0,
    calibration: Any = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] | None = None,
    keep: bool = True,
) -> Improvement:
    """Find a better config within limits: try what the findings propose, search around it, prove the answer.

    The fixes come first, the most promising one first; each that was measured better is kept. Then configs
    around the result race each other, as in `wb.tune`. The answer is measured against the first config again
    after it was chosen: if that says slower, or contradicts what was measured before, it is not the answer.
    `limits` are bounds that the answer must keep; a config that breaks one is named and never the answer.
    Other arithmetic (int8, 16 bits) is tried only with `Goal(max_accuracy_drop=…)`, judged on the evaluation
    set or on `data`, or with `Goal(max_error=…)`. `without` names settings that may not vary. `budget_s`
    bounds all of it, by default to three minutes, of which the search takes 45 seconds at most unless a limit
    or a budget is given. A cancelled call returns what is proven by then; after
    Ctrl-C the history has it.
    """
    loaded, start = load(model), config or Config()
    goal = Goal.of(limits)
    _check_settings(without)
    if budget_s is not None:
        check_number("budget_s", budget_s, "give seconds, like 180.0, or leave it out", least=0)
    data = data_from(loaded, data, None)
    check_examples(loaded, data, calibration)
    fed = inputs_from(loaded, inputs, seed=seed)
    request = ImproveRequest(
        model=loaded.with_inputs(fed),
        inputs=fed,
        start=start,
        limits=goal,
        without=tuple(without),
        until=time.monotonic() + (_BUDGET_S if budget_s is None else budget_s),
        most_search_s=_SEARCH_S if budget_s is None and goal == Goal() else float("inf"),
        data=data,
        calibration=calibration,
        seed=seed,
        progress=progress,
        cancel=cancel,
        on_step=on_step,
        keep=keep,
    )
    if goal.max_accuracy_drop is not None and data is not None:
        check_labels(request.model, start, data, calibration, cancel)
    improving = Improving(request)

    def result() -> Improvement:
        structure = request.model.structure.SerializeToString()
        origin = origin_of(request.model, start, fed)
        return kept(Improvement(improving.record, origin, structure=structure), keep)

    try:
        improving.run()
    except KeyboardInterrupt:
        if improving.has_measured:
            result()  # what is proven by then is in the history
        raise
    return result()


def _check_settings(names: Sequence[str]) -> None:
    """Refuse what names no setting."""
    for name in names:
        if not isinstance(name, str) or name.partition(".")[0] not in {*BY_FIELD, "findings"}:
            raise ConfigError(
                f"without={quoted(name)} names no setting",
                'give fields of wb.Config in a list, ["level"], or axes of wb.default_space(model)',
            )


FEATURE = Feature(
    "improvement",
    ImprovementRecord,
    check_improvement,
    result=Improvement,
    chart="workbench.features.improve.result:improvement_chart",
    per="baseline",
    call="workbench.features.improve.result:improve",
    takes=("inputs", "data", "calibration", "progress", "keep", "on_step"),
    form=FORM,
    arguments=arguments_of,
    says_stopped=True,
    heading="What was tried",
    button="Improve",
    hint="Try what the findings propose, search around what was better, prove the answer",
    step="trying the largest finding first",
    role="improves",
    tabs=("Improve",),
    cards="workbench.features.improve.cards:cards",
)
