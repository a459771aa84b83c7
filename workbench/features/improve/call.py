"""`wb.improve`: a better config within limits, proven, in one budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.core.config.fields import BY_FIELD
from workbench.core.errors import ConfigError
from workbench.core.measure.limits import Progress
from workbench.core.models import Inputs, Model, load
from workbench.core.prepare.real_data import data_from, inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.core.text import quoted
from workbench.features.base.result import origin_of
from workbench.features.base.running import finding_inputs, kept
from workbench.features.findings.calls import check_examples
from workbench.features.improve.improving import Improving
from workbench.features.improve.request import ImproveRequest
from workbench.features.improve.result import Improvement

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
    progress: bool | Callable[[Progress], None] = True,
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
    loaded, start, calibration = load(model), config or Config(), replayed(calibration)
    goal = limits or Goal()
    goal.check()
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
