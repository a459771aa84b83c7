"""Searching the best config from the panels: the jobs, and the code that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from workbench.api.tuning import default_space, tune
from workbench.config import Config
from workbench.config.literals import call, literal, text_literal
from workbench.panels.actions import Action
from workbench.panels.cluster_tuning import ClusterChoice, search_cluster
from workbench.panels.code import config_code, inputs_lines, model_line
from workbench.panels.jobs import Job
from workbench.panels.request import SMALLEST_EFFECT, Request
from workbench.panels.state import BenchState
from workbench.records.goal import Goal, Objective
from workbench.records.space import Space
from workbench.results.study import Study
from workbench.results.target_studies import TargetStudies


@dataclass(frozen=True, slots=True)
class TuneChoice:
    """What the tab asks for. `left_out` are the names of axes that shall not vary."""

    objective: Objective = "latency"
    goal: Goal = field(default_factory=Goal)
    budget_s: float = 120.0
    left_out: tuple[str, ...] = ()
    second: Objective | None = None  # the other axis of the front
    callers: int = 4
    cluster: ClusterChoice = field(default_factory=ClusterChoice)

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


def search(choice: TuneChoice, space: Space | None, request: Request, job: Job) -> Study | TargetStudies:
    """Search the best config from A, here or on the cluster that was chosen."""
    subject, cluster = request.subject, choice.cluster
    if cluster.address and not choice.left_out:
        varied = None  # each machine makes its own space
    else:
        varied = (space or find_space(choice, request, job)).without(*choice.left_out)
    arguments = (subject.model, varied, choice.objectives, choice.goal, choice.budget_s)
    options: dict[str, Any] = {
        "base": subject.a,
        "inputs": subject.inputs(),
        "calibration": subject.calibration or None,
        "data": subject.data or None,
        "smallest_effect": request.smallest_effect,
        "pacing_s": request.pacing_s,
        "seed": subject.seed,
        "progress": job.tell,
        "cancel": job.cancel,
        "callers": choice.callers,
    }
    if cluster.address:
        return search_cluster(cluster, job, *arguments, **options)
    return tune(*arguments, on_round=job.keep, **options)


def keep_space(state: BenchState, _: Request, space: Space) -> None:
    """Offer the space in the tab."""
    with state.hold_trait_notifications():
        state.run_error, state.space = None, space


def keep_study(state: BenchState, _: Request, made: Study | TargetStudies) -> None:
    """Show the study in the tab; of several targets, that of the first."""
    targets = made if isinstance(made, TargetStudies) else None
    study = made if targets is None else next(iter(targets.values()))
    with state.hold_trait_notifications():
        state.run_error, state.targets, state.study = None, targets, study


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
    arguments: dict[str, Any] = {**same}
    if subject.data:
        arguments["data"] = text_literal(subject.data)
    if request.smallest_effect != SMALLEST_EFFECT:
        arguments["smallest_effect"] = literal(request.smallest_effect)
    if subject.seed:
        arguments["seed"] = literal(subject.seed)
    arguments["budget_s"] = literal(choice.budget_s)
    if "throughput" in (choice.objective, choice.second):
        arguments["callers"] = literal(choice.callers)
    if choice.left_out:
        names = ", ".join(text_literal(name) for name in choice.left_out)
        rest = "".join(f", {name}={value}" for name, value in same.items())
        lines.append(f"space = wb.default_space(model{rest}).without({names})")
        arguments["space"] = "space"
    imports = ["import workbench as wb"]
    if choice.cluster.address:
        imports.append("from distributed import Client")
        lines.append(f"client = Client({text_literal(choice.cluster.address)})")
    return "\n".join([*imports, "", *lines, "", *_calling(choice.cluster, arguments)])


def _calling(cluster: ClusterChoice, arguments: Mapping[str, str]) -> list[str]:
    """Return the line that searches, and the name of what it returns."""
    named = "".join(f", {name}={value}" for name, value in arguments.items())
    if cluster.targets:
        return [f"studies = wb.tune_targets(model, {literal(cluster.targets)}, client{named})", "studies"]
    where = ", client=client" if cluster.address else ""
    return [f"study = wb.tune(model{named}{where})", "study"]
