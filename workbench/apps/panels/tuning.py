"""Searching the best config from the panels: the jobs, and code that does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from workbench.apps.panels.actions import Action
from workbench.apps.panels.code import config_code, given, inputs_lines, model_line
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import SMALLEST_EFFECT, Request
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.goal import Goal, Objective
from workbench.core.config import Config
from workbench.core.config.literals import call, literal, text_literal
from workbench.core.form import Source
from workbench.features.tune.call import default_space, tune
from workbench.features.tune.result import Study
from workbench.features.tune.space import Space


@dataclass(frozen=True, slots=True)
class TuneChoice:
    """What the tab asks for. `left_out` are the names of axes that shall not vary."""

    objective: Objective = "latency"
    goal: Goal = field(default_factory=Goal)
    budget_s: float = 120.0
    left_out: tuple[str, ...] = ()
    second: Objective | None = None  # the other axis of the front
    callers: int = 4

    @property
    def objectives(self) -> Objective | tuple[Objective, ...]:
        """The objective, or both."""
        if self.second is None or self.second == self.objective:
            return self.objective
        return (self.objective, self.second)


def space_action(choice: TuneChoice) -> Action:
    """Return the action that finds what may vary."""
    return Action("What may vary", partial(find_space, choice), partial(keep_space, choice))


def tune_action(choice: TuneChoice, space: Space | None) -> Action:
    """Return the action that searches; without a space the default one is searched, and then offered."""
    offers: list[Space] = []

    def keep(state: BenchState, request: Request, study: Study) -> None:
        for offered in offers:
            keep_space(choice, state, request, offered)
        keep_study(state, request, study)

    return Action("Tune", partial(search, choice, space, offers.append), keep)


def looked_for(choice: TuneChoice, request: Request) -> tuple[object, ...]:
    """Return what the default space follows: another one of these may bring another space."""
    subject = request.subject
    return (
        choice.objectives, choice.goal, subject.a, subject.data, subject.dims, subject.calibration,
        subject.seed, request.pacing_s,
    )  # fmt: skip


def find_space(choice: TuneChoice, request: Request, job: Job) -> Space:
    """Return what may pay for the model here."""
    options = {**common_options(request, job), "on_step": job.step}
    return default_space(request.subject.model, objective=choice.objectives, limits=choice.goal, **options)


def search(
    choice: TuneChoice, space: Space | None, offer: Callable[[Space], None], request: Request, job: Job
) -> Study:
    """Search the best config from A; `offer` gets a space that was found first."""
    subject = request.subject
    if space is None:
        offer(space := find_space(choice, request, job))
    names = {axis.name for axis in space.axes}  # another goal may not vary what was left out
    varied = space.without(*(name for name in choice.left_out if name in names))
    arguments = (varied, choice.objectives, choice.goal, choice.budget_s)
    options = {
        **common_options(request, job),
        "data": subject.data or None,
        "smallest_effect": request.smallest_effect,
        "progress": job.tell,
        "callers": choice.callers,
    }
    return tune(subject.model, *arguments, on_round=job.keep, **options)


def common_options(request: Request, job: Job) -> dict[str, Any]:
    """Return the keywords that `wb.tune` and `wb.default_space` have in common."""
    subject = request.subject
    return {
        "base": subject.a,
        "inputs": subject.inputs(),
        "calibration": subject.calibration or None,
        "pacing_s": request.pacing_s,
        "seed": subject.seed,
        "cancel": job.cancel,
    }


def keep_space(choice: TuneChoice, state: BenchState, request: Request, space: Space) -> None:
    """Offer the space in the tab."""
    with state.hold_trait_notifications():
        state.run_error, state.space, state.space_for = None, space, looked_for(choice, request)


def keep_study(state: BenchState, _: Request, study: Study) -> None:
    """Show the study in the tab."""
    with state.hold_trait_notifications():
        state.run_error, state.study = None, study


def tune_code(request: Request, choice: TuneChoice) -> str:
    """Return the code from the model to the study."""
    subject, inputs = request.subject, inputs_lines(request.subject)
    under_load = "throughput" in (choice.objective, choice.second)
    limits = {name: literal(limit) for name, limit in asdict(choice.goal).items() if limit is not None}
    named = {
        "base": config_code(subject.a) if subject.a != Config() else "",
        "limits": call("wb.Goal", limits) if limits else "",
    }
    lines = [model_line(subject), *inputs, *(f"{name} = {value}" for name, value in named.items() if value)]
    same = given(  # the arguments of wb.default_space, too
        inputs=Source("inputs") if inputs else None,
        base=Source("base") if named["base"] else None,
        calibration=subject.calibration or None,
        limits=Source("limits") if named["limits"] else None,
        objective=choice.objectives if choice.objectives != "latency" else None,
        pacing_s=request.pacing_s,
    )
    arguments = same + given(
        data=subject.data or None,
        smallest_effect=request.smallest_effect if request.smallest_effect != SMALLEST_EFFECT else None,
        seed=subject.seed or None,
        budget_s=choice.budget_s,
        callers=choice.callers if under_load else None,
        space=Source("space") if choice.left_out else None,
    )
    if choice.left_out:
        names = ", ".join(map(text_literal, choice.left_out))
        lines.append(f"space = wb.default_space(model{same}).without({names})")
    made = f"study = wb.tune(model{arguments})"
    return "\n".join(["import workbench as wb", "", *lines, "", made, "study"])
