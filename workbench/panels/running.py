"""What each button runs: one call of the public API for the comparison, or one for each config."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.config import Config
from workbench.errors import Cancelled
from workbench.panels import code
from workbench.panels.jobs import Job
from workbench.panels.state import BenchState
from workbench.records.atomic import write_atomically

MOST_RECENT = 12


@dataclass(frozen=True, slots=True)
class Subject:
    """A model and two configs: what results are about."""

    model: Any
    a: Config
    b: Config
    shown: str = field(compare=False)  # the label of the config that the panels show

    @property
    def both(self) -> dict[str, Config]:
        """By label; one alone where they are equal."""
        return {"A": self.a} if self.a == self.b else {"A": self.a, "B": self.b}

    @property
    def one(self) -> tuple[str, Config]:
        """The config that the panels show."""
        return (self.shown, self.a if self.shown == "A" else self.b)


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
    return model


def with_recent(recent: tuple[str, ...], source: Any) -> tuple[str, ...]:
    """The last sources that can be named again, newest first."""
    named = str(source) if isinstance(source, str) or hasattr(source, "__fspath__") else None
    return recent if named is None else (named, *(one for one in recent if one != named))[:MOST_RECENT]


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
    """A against B."""
    make, told = feeds(state, subject.model), asked(state)

    def work(job: Job) -> Any:
        job.step("making inputs")
        inputs = make()
        return wb.compare(
            subject.model, subject.a, subject.b, inputs=inputs, progress=job.tell, cancel=job.cancel, **told
        )

    return work


def examine(state: BenchState, subject: Subject, what: str) -> Work:
    """Make a part of the comparison that is shown, where it is about the panels as they are; it keeps it."""
    result = state.result

    def work(job: Job) -> Any:
        job.step(f"{what} of A and B")
        result.examine(what, cancel=job.cancel, on_step=job.step)
        if job.cancel.is_set():
            raise Cancelled(f"{what} was cancelled.", "Run it again to get what is missing.")
        return {}

    return work if result is not None and state.result_subject == subject else alone(state, subject, what)


def alone(state: BenchState, subject: Subject, what: str) -> Work:
    """The same without a comparison."""
    make, calibration = feeds(state, subject.model), state.calibration or None
    model = subject.model

    def one(config: Config, inputs: Any, job: Job) -> Any:
        if what == "explanation":
            return wb.explain(model, config, cancel=job.cancel)
        if what == "profile":
            return wb.profile(model, config, inputs=inputs, calibration=calibration, cancel=job.cancel)
        if what == "memory":
            return wb.memory(model, config, inputs=inputs, cancel=job.cancel)
        if what == "roofline":
            return wb.roofline(model, config, inputs=inputs, cancel=job.cancel)
        return wb.cold_start(model, config, inputs=inputs, cancel=job.cancel)

    def work(job: Job) -> dict[str, Any]:
        job.step("making inputs")
        inputs = make()
        found: dict[str, Any] = {}
        for label, config in subject.both.items():
            job.step(f"{label}: {what}")
            found[f"{what}/{label}"] = one(config, inputs, job)
            if job.cancel.is_set():
                raise Cancelled(f"{what} was cancelled.", "Run it again when you want it.")
        return found

    return work


def ablate(state: BenchState, subject: Subject) -> Work:
    """Each pass off alone, for the config that is shown."""
    make, (label, config), budget_s = feeds(state, subject.model), subject.one, state.budget_s

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: which passes fire")
        found = wb.ablate(
            subject.model, config, budget_s, inputs=make(), progress=job.tell, cancel=job.cancel
        )
        return {f"ablation/{label}": found}

    return work


def levels(state: BenchState, subject: Subject) -> Work:
    """Every level, the rest as in the config that is shown."""
    make, (label, config), budget_s = feeds(state, subject.model), subject.one, state.budget_s

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: the graph at each level")
        found = wb.levels(
            subject.model,
            config,
            budget_s=budget_s,
            inputs=make(),
            progress=job.tell,
            cancel=job.cancel,
        )
        return {f"levels/{label}": found}

    return work


def threads(state: BenchState, subject: Subject) -> Work:
    """1, 2, 4… threads, the rest as in the config that is shown."""
    make, (label, config) = feeds(state, subject.model), subject.one

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: with 1, 2, 4… threads, spinning and not")
        return {f"threads/{label}": wb.threads(subject.model, config, inputs=make())}

    return work


def memory_settings(state: BenchState, subject: Subject) -> Work:
    """Pattern, arena and prepacking turned over, for the config that is shown."""
    make, (label, config) = feeds(state, subject.model), subject.one

    def work(job: Job) -> dict[str, Any]:
        job.step(f"{label}: memory pattern, arena and prepacking, each turned over alone")
        found = wb.memory_settings(subject.model, config, inputs=make(), cancel=job.cancel)
        return {f"memory settings/{label}": found}

    return work


def export(result: Any, path: Path, job: Job) -> tuple[Path, bytes]:
    """The page of a result, made aside: a cancelled one leaves the file that was there."""
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        data = result.export_html(Path(folder) / "result.html").read_bytes()
    if job.cancel.is_set():
        raise Cancelled("The export was cancelled.", "Press Export HTML again when you want it.")
    return write_atomically(path, data), data


def result_code(state: BenchState) -> str:
    """The code that makes the result that is shown, or opens it where its model is not known here."""
    result = state.result
    if state.result_source is None:
        lines = ["import workbench as wb", "", f"result = wb.history().open({code.quoted(result.record.id)})"]
        named = [f"{run.label.lower()} = {code.config_code(run.config)}" for run in result.runs[:2]]
        return "\n".join([*lines, *named, "result"])
    a, b = (run.config for run in result.runs[:2])
    return code.question_code(
        state.result_source, a, b, dims=dict(state.dims), seed=state.seed, given=state.given,
        asked=asked(state, with_seed=False),
    )  # fmt: skip
