"""Searching the best config from the panels: the jobs, and the code that does the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from workbench.api.tuning import default_space, tune
from workbench.config import Config
from workbench.config.literals import call, literal, text_literal
from workbench.panels.actions import Action
from workbench.panels.code import config_code, inputs_lines, model_line
from workbench.panels.jobs import Job
from workbench.panels.request import Request
from workbench.panels.state import BenchState
from workbench.records.goal import Goal, Objective
from workbench.records.space import Space
from workbench.results.study import Study


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

    @property
    def goal_code(self) -> str:
        """The goal as Python text."""
        names = Goal.__dataclass_fields__
        values = {name: getattr(self.goal, name) for name in names}
        return call("wb.Goal", {name: literal(value) for name, value in values.items() if value is not None})


def space_action(choice: TuneChoice) -> Action:
    """Return the action that finds what may vary."""
    return Action("What may vary", partial(find_space, choice), keep_space)


def tune_action(choice: TuneChoice, space: Space | None) -> Action:
    """Return the action that searches; without a space the default one is searched."""
    return Action("Tune", partial(search, choice, space), keep_study)


def find_space(choice: TuneChoice, request: Request, job: Job) -> Space:
    """Return what may pay for the model here."""
    job.step("which passes fire")
    subject = request.subject
    return default_space(
        subject.model,
        base=subject.a,
        objective=choice.objectives,
        limits=choice.goal,
        inputs=subject.inputs(),
        pacing_s=request.pacing_s,
        calibration=subject.calibration or None,
        seed=subject.seed,
        cancel=job.cancel,
    )


def search(choice: TuneChoice, space: Space | None, request: Request, job: Job) -> Study:
    """Search the best config from A."""
    varied = space or find_space(choice, request, job)
    subject = request.subject
    return tune(
        subject.model,
        varied.without(*choice.left_out),
        choice.objectives,
        choice.goal,
        choice.budget_s,
        base=subject.a,
        inputs=subject.inputs(),
        calibration=subject.calibration or None,
        smallest_effect=request.smallest_effect,
        pacing_s=request.pacing_s,
        seed=subject.seed,
        progress=job.tell,
        cancel=job.cancel,
        callers=choice.callers,
        on_round=job.keep,
    )


def keep_space(state: BenchState, _: Request, space: Space) -> None:
    """Offer the space in the tab."""
    with state.hold_trait_notifications():
        state.run_error, state.space = None, space


def keep_study(state: BenchState, _: Request, study: Study) -> None:
    """Show the study in the tab."""
    with state.hold_trait_notifications():
        state.run_error, state.study, state.space = None, study, state.space


def tune_code(request: Request, choice: TuneChoice) -> str:
    """Return the code from the model to the study."""
    subject = request.subject
    lines, same = [model_line(subject)], dict[str, str]()
    if inputs := inputs_lines(subject):
        lines += inputs
        same["inputs"] = "inputs"
    if subject.a != Config():
        lines.append(f"base = {config_code(subject.a)}")
        same["base"] = "base"
    if subject.calibration:
        same["calibration"] = text_literal(subject.calibration)
    if choice.goal != Goal():
        lines.append(f"limits = {choice.goal_code}")
        same["limits"] = "limits"
    if choice.objectives != "latency":
        same["objective"] = literal(choice.objectives)
    if request.pacing_s is not None:
        same["pacing_s"] = literal(request.pacing_s)
    arguments: dict[str, Any] = {**same, "budget_s": literal(choice.budget_s)}
    if "throughput" in (choice.objective, choice.second):
        arguments["callers"] = literal(choice.callers)
    if choice.left_out:
        names = ", ".join(text_literal(name) for name in choice.left_out)
        rest = "".join(f", {name}={value}" for name, value in same.items())
        lines.append(f"space = wb.default_space(model{rest}).without({names})")
        arguments["space"] = "space"
    named = "".join(f", {name}={value}" for name, value in arguments.items())
    return "\n".join(["import workbench as wb", "", *lines, "", f"study = wb.tune(model{named})", "study"])
