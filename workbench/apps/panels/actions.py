"""What the buttons run: the comparison, and a further result of each kind in the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import workbench as wb
from workbench.apps.panels.code import argument_of_inputs, compare_code, made_code, more_code
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import Request
from workbench.apps.panels.state import BenchState
from workbench.core.errors import ConfigError, WorkbenchError
from workbench.core.feature import Feature
from workbench.core.measure.limits import Progress
from workbench.features.base.registry import KINDS
from workbench.features.compare.reason import explain_why, why_is_cheap

MORE_S = 30.0  # further seconds of a comparison, if the panels set no budget


@dataclass(frozen=True, slots=True)
class Action:
    """One button: its name, the work that it runs in a thread, and where the result goes."""

    name: str
    run: Callable[[Request, Job], Any]
    store: Callable[[BenchState, Request, Any], None]
    check: Callable[[Request], None] | None = None  # raises an error that says what is missing


def action_of(kind: str) -> Action:
    """Return the action that makes a result of this kind."""
    offered = [offer.name for offer in KINDS.offers]
    if kind not in offered:
        raise ConfigError(f"{kind!r} is no kind of result", f"choose from: {', '.join(offered)}")
    made = KINDS.named(kind)
    return Action(made.button, partial(make_parts, made), partial(show_parts, made), partial(check, made))


def compare(request: Request, job: Job) -> wb.Comparison:
    """Compare all configs, and keep with the comparison what was made of them before."""

    def show_step(step: str) -> None:
        last = job.progress or Progress(step, 0, 0.0, 0.0, None, None)
        job.tell(replace(last, doing=f"finding out why, {step}", round=0, remaining_s=None, step="last step"))

    subject = request.subject
    job.step("making inputs")
    comparison = wb.compare(
        subject.model, *subject.configs.values(), inputs=subject.inputs(), seed=subject.seed,
        progress=job.tell, cancel=job.cancel, **request.compare_options(),
    )  # fmt: skip
    if request.clock == "wall":  # processor time is that of one thread, the parts are of the configs as set
        keep_parts(comparison, request.parts)
        if why_is_cheap(comparison) and not job.cancel.is_set():
            explain_why(comparison, job.cancel, show_step)
    return comparison


def show_comparison(state: BenchState, request: Request, comparison: wb.Comparison) -> None:
    """Put a comparison into the results, with the code that makes it."""
    if comparison.record.has_failed:
        state.took_s = {}  # it ended early, which says nothing about one that runs
    state.show_comparison(comparison, request.subject, compare_code(request))


COMPARE = Action("Compare", compare, show_comparison)


def more_action(comparison: wb.Comparison, code: str, *, reopened: bool) -> Action:
    """Return the action that measures further rounds of the comparison on the screen.

    `code` makes the comparison; that of a reopened one attaches the open model.
    """

    def measure_more(request: Request, job: Job) -> wb.Comparison:
        return comparison.measure_more(
            budget_s=request.budget_s or MORE_S, progress=job.tell, cancel=job.cancel
        )

    def show(state: BenchState, request: Request, longer: wb.Comparison) -> None:
        attached = request.subject if reopened else None
        made_by = more_code(code, attached, request.budget_s or MORE_S)
        state.show_comparison(longer, request.subject, made_by)

    return Action("Measure longer", measure_more, show)


def make_parts(kind: Feature, request: Request, job: Job) -> dict[str, Any]:
    """Make the results of a kind, by part name such as "levels/B"; the comparison, if any, keeps them."""
    comparison = request.comparison
    again = kind.role == "finds"  # of what else was made since
    if comparison is not None and kind.examine is not None and (again or lacks(comparison, kind.name)):
        comparison.examine(kind.name, again=again, cancel=job.cancel, on_step=job.step)
        return {}
    options, doing = options_of(kind, request, job), kind.step or kind.name
    parts = {}
    if kind.per == "candidate" and comparison is not None:
        job.step(doing)
        parts[f"{kind.name}/{comparison.verdict.label}"] = kind.function(comparison, **options)
    elif kind.per == "runs":
        job.step(doing)
        parts[kind.name] = kind.make(request.subject.model, list(request.subject.distinct.values()), options)
    else:
        for label, config in request.configs_of(kind).items():
            job.check()
            job.step(f"{label}: {doing}")
            parts[f"{kind.name}/{label}"] = kind.make(request.subject.model, [config], options)
    if not kind.says_stopped:
        job.check()
    if comparison is not None:
        keep_parts(comparison, parts)
    return parts


def show_parts(kind: Feature, state: BenchState, request: Request, parts: dict[str, Any]) -> None:
    """Put results of a kind into the results, and keep the code that makes them."""
    state.show_parts(request, parts, kind.name)
    compared, labels = request.comparison, [*request.configs_of(kind)]
    if compared is not None and kind.per == "candidate":
        labels = [compared.verdict.label]
    state.remember(made_code(kind, request, labels))


def check(kind: Feature, request: Request) -> None:
    """Raise an error that says what a result of this kind needs and does not have."""
    request.options(kind)
    if "comparison" in kind.needs and request.comparison is None:
        raise WorkbenchError(
            "A and B as they are in the panels have not been compared.",
            "Press Compare first: what is explained is what was measured.",
        )
    if "precision" in kind.needs and not request.configs_of(kind):
        owner = f"{request.shown} has" if kind.per == "config" else "Neither A nor B has"
        raise WorkbenchError(
            f"{owner} no precision, so no layer is quantized.",
            "Choose one in the line of a config, such as dynamic int8.",
        )


def options_of(kind: Feature, request: Request, job: Job) -> dict[str, Any]:
    """Return the keywords of a kind's function, as the panels have them."""
    own: dict[str, Any] = {"progress": job.tell, "on_step": job.step}
    own["keep"] = request.comparison is None  # else the comparison keeps it
    if (name := argument_of_inputs(kind, request)) is not None:
        job.step("making inputs")
        own[name] = request.subject.inputs()
    return {"cancel": job.cancel, **request.options(kind, **own)}


def lacks(comparison: wb.Comparison, kind: str) -> bool:
    """Return whether a run that did not fail has no part of this kind."""
    names = {part.name for part in comparison.parts}
    return any(f"{kind}/{run.label}" not in names for run in comparison.runs if run.failure is None)


def keep_parts(comparison: wb.Comparison, parts: Mapping[str, Any]) -> None:
    """Keep further results with the comparison: its bundle, its page and the history then hold them."""
    for name, result in parts.items():
        comparison.add(result, name.partition("/")[2] or "B")
