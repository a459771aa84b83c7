"""What each button runs: one call of the public API for the comparison, or one for each config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.config import Config
from workbench.config.literals import text_literal
from workbench.panels import code
from workbench.panels.jobs import Job
from workbench.panels.recent import remember
from workbench.panels.state import BenchState


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, two configs and what they are fed: what results are about."""

    model: Any
    a: Config
    b: Config
    shown: str = field(compare=False)  # the label of the config that the panels show
    inputs: tuple[Any, ...] = ()  # how the panels say that inputs are made

    @property
    def both(self) -> dict[str, Config]:
        """By label; one alone where they are equal."""
        return {"A": self.a} if self.a == self.b else {"A": self.a, "B": self.b}

    @property
    def one(self) -> tuple[str, Config]:
        """The config that the panels show."""
        return (self.shown, self.a if self.shown == "A" else self.b)


def subject_of(state: BenchState) -> Subject:
    """The panels as they are."""
    inputs = (tuple(state.dims), state.seed, state.given, state.calibration)
    return Subject(state.model, state.a, state.b, state.editing, inputs)


def compared(state: BenchState, subject: Subject) -> wb.Comparison | None:
    """The comparison that is shown, where it is about these."""
    return state.result if state.result is not None and state.result_subject == subject else None


def add_parts(result: wb.Comparison, found: dict[str, Any]) -> None:
    """Keep what was made with the comparison, so that a saved bundle, its page and the history hold it."""
    for name, one in found.items():
        result.add(one, name.partition("/")[2] or "B")


Work = Callable[[Job], Any]
Make = Callable[[BenchState, Subject], Work]


def open_model(source: Any, job: Job) -> Any:
    """With what is known of it, so that no panel waits for that."""

    def told(done: int, whole: int | None) -> None:
        share = f" of {whole / 1e6:,.0f}" if whole else ""
        job.step(f"getting it ready: {done / 1e6:,.0f}{share} MB")

    job.step("opening")
    model = wb.load(source, progress=told)
    model.describe()
    remember(source)
    return model


def feeds(state: BenchState, model: Any) -> Callable[[], Any]:
    """A function that makes the inputs, since that takes time."""
    given, seed, dims = state.given, state.seed, dict(state.dims)
    if given:
        return lambda: model.inputs(given)
    return lambda: model.inputs(seed=seed, **dims)


def asked(state: BenchState, *, with_seed: bool = True) -> dict[str, Any]:
    """What `wb.compare` is told beside the model and the configs, where it is not its default."""
    given: dict[str, Any] = {"budget_s": state.budget_s, "pacing_s": state.pacing_s}
    given["calibration"] = state.calibration or None
    if state.smallest_effect != 0.01:
        given["smallest_effect"] = state.smallest_effect
    if with_seed:
        given["seed"] = state.seed
    return {name: value for name, value in given.items() if value is not None}


def compare(state: BenchState, subject: Subject) -> Work:
    """A against B. What was made of these two before stays with their comparison."""
    make, told = feeds(state, subject.model), asked(state)
    before = dict(state.parts) if state.subject == subject else {}

    def work(job: Job) -> Any:
        job.step("making inputs")
        inputs = make()
        result = wb.compare(
            subject.model, subject.a, subject.b, inputs=inputs, progress=job.tell, cancel=job.cancel, **told
        )
        add_parts(result, before)
        return result

    return work


def examine(state: BenchState, subject: Subject, what: str) -> Work:
    """What is missing of the comparison that is shown; it keeps it. Where nothing is missing, all anew."""
    result = compared(state, subject)
    there = {part.name for part in result.parts} if result else set()
    if result is None or all(f"{what}/{run.label}" in there for run in result.runs if run.failure is None):
        return alone(state, subject, what)
    missing: Any = what

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{what} of A and B")
        result.examine(missing, cancel=job.cancel, on_step=job.step)
        return {}

    return work


def alone(state: BenchState, subject: Subject, what: str) -> Work:
    """The same for each config by itself; none for one whose run failed."""
    make, calibration = feeds(state, subject.model), state.calibration or None
    model, result = subject.model, compared(state, subject)
    configs = subject.both
    if result is not None:
        configs = {run.label: run.config for run in result.runs if run.failure is None}

    def one(config: Config, inputs: Any, job: Job) -> Any:
        if what == "explanation":
            return wb.explain(model, config, calibration=calibration, cancel=job.cancel, keep=result is None)
        if what == "profile":
            return wb.profile(
                model, config, inputs=inputs, calibration=calibration, cancel=job.cancel, keep=result is None
            )
        if what == "memory":
            return wb.memory(model, config, inputs=inputs, cancel=job.cancel)
        if what == "roofline":
            return wb.roofline(model, config, inputs=inputs, cancel=job.cancel)
        return wb.cold_start(model, config, inputs=inputs, cancel=job.cancel)

    def work(job: Job) -> dict[str, Any]:
        job.step("making inputs")
        inputs = make()
        found: dict[str, Any] = {}
        for label, config in configs.items():
            job.step(f"{label}: {what}")
            found[f"{what}/{label}"] = one(config, inputs, job)
            job.check()
        return found

    return work


def ablate(state: BenchState, subject: Subject) -> Work:
    """Each pass off alone, for the config that is shown."""
    make, (label, config), budget_s = feeds(state, subject.model), subject.one, state.budget_s
    keep = compared(state, subject) is None  # else the comparison keeps it

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: which passes fire")
        found = wb.ablate(
            subject.model, config, budget_s, inputs=make(), progress=job.tell, cancel=job.cancel, keep=keep
        )
        return {f"ablation/{label}": found}

    return work


def levels(state: BenchState, subject: Subject) -> Work:
    """Every level, the rest as in the config that is shown."""
    make, (label, config), budget_s = feeds(state, subject.model), subject.one, state.budget_s
    keep = compared(state, subject) is None

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: the graph at each level")
        found = wb.levels(
            subject.model, config, budget_s=budget_s, inputs=make(), progress=job.tell, cancel=job.cancel,
            keep=keep,
        )  # fmt: skip
        return {f"levels/{label}": found}

    return work


def threads(state: BenchState, subject: Subject) -> Work:
    """1, 2, 4… threads, the rest as in the config that is shown."""
    make, (label, config) = feeds(state, subject.model), subject.one

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: with 1, 2, 4… threads, spinning and not")
        found = wb.threads(subject.model, config, inputs=make(), progress=job.tell, cancel=job.cancel)
        return {f"thread scaling/{label}": found}

    return work


def memory_settings(state: BenchState, subject: Subject) -> Work:
    """Pattern, arena and prepacking turned over, for the config that is shown."""
    make, (label, config) = feeds(state, subject.model), subject.one

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: memory pattern, arena and prepacking, each turned over alone")
        found = wb.memory_settings(subject.model, config, inputs=make(), progress=job.tell, cancel=job.cancel)
        return {f"memory settings/{label}": found}

    return work


def export(result: Any, path: Path, job: Job) -> tuple[Path, bytes]:
    """The page of a result, and what stands in it; a cancelled one leaves the file that was there."""
    written: Path = result.export_html(path, cancel=job.cancel)
    return written, written.read_bytes()


def opening_code(result: wb.Comparison) -> str:
    """The code that opens a result that was not made here, with the configs that it compares."""
    lines = ["import workbench as wb", "", f"result = wb.history().open({text_literal(result.record.id)})"]
    named = [f"{run.label.lower()} = {code.config_code(run.config)}" for run in result.runs[:2]]
    return "\n".join([*lines, *named, "result"])
