"""What to do next, and about how long it takes: questions about an answer, samples to open, an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import methodcaller
from typing import TypeAlias

from workbench.apps.panels.actions import COMPARE, MORE_S
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config
from workbench.core.errors import Cancelled
from workbench.core.feature import Role
from workbench.core.measure.providers import asked_for
from workbench.core.models.samples import sample_names
from workbench.core.text import rounded_time
from workbench.features.base.registry import KINDS
from workbench.features.compare.next_questions import other_providers, questions_about
from workbench.features.doctor.presets import first_question

FIRST = ("bert-base", "yolov5s", "gpt2", "digits-conv")  # samples to begin with
IMPROVE_S = 180.0  # the default of wb.improve
CHEAP_S = 10.0  # what takes no longer is made without being asked for
_MOST = 2  # next steps of an answer
Turn: TypeAlias = Callable[[str, str], None]
Step: TypeAlias = tuple[str, str, Callable[[], object]]  # a button beside the answer: label, hint, act


def next_steps(bench: Bench, turn: Turn, view: str) -> tuple[str, list[Step], list[Step]]:
    """Return a word for what is offered, the offers, and what would say more in the view of this title."""
    state, result = bench.state, bench.state.result
    if result is not None:
        if any(run.failure is not None for run in result.runs[:2]):
            return "Next:", list(_after_failure(bench))[:_MOST], []
        asked = _asked(bench, turn, {offer.name: offer.question for offer in KINDS.offered(view)})
        return "Next:", list(_about_answer(bench, turn))[:_MOST], list(asked)
    if state.model is None:
        samples = [name for name in FIRST if name in sample_names()]
        steps: list[Step] = [(name, f"Open {name}", partial(bench.load, name)) for name in samples]
        return "Begin with a sample:", steps, []
    if (experiment := experiment_for(state)) is not None:
        question, b = experiment
        act = partial(_try, bench, "B", lambda _: b)
        return "Try first:", [(question, "Set this in B and compare", act)], []
    failed = not isinstance(state.run_error, Cancelled | None)
    return "Next:", list(_after_failure(bench))[:_MOST] if failed else [], []


def _about_answer(bench: Bench, turn: Turn) -> Iterator[Step]:
    """Yield what would say more about the answer on the screen, the most wanted first."""
    record = bench.state.result.record
    if record.verdict.kind == "unknown" or record.verdict.provisional:
        label = f"Measure longer, {rounded_time(bench.state.budget_s or MORE_S)}"
        yield label, "Measure further rounds; the earlier ones are kept", bench.measure_more
    yield from _asked(bench, turn, questions_about(record))
    label = f"Find further gains, {rounded_time(IMPROVE_S)}"
    yield label, "Try what the findings propose", partial(turn, "Improve", "")


def _after_failure(bench: Bench) -> Iterator[Step]:
    """Yield what helps where a run failed: other providers, a look at the machine, the configs before."""
    state, result = bench.state, bench.state.result
    is_open = result is not None and state.model is not None
    working = () if state.doctor is None else state.doctor.working
    others = other_providers(result.record, working) if is_open else ()
    for label, words, providers in others:
        act = partial(_try, bench, label, methodcaller("replace", providers=providers))
        yield f"Compare {words}, {compare_time(state)}", f"Set this in {label} and compare", act
    if state.doctor is None and any(map(asked_for, state.configs.values())):
        yield "Look at the machine", "Try each provider here, as the doctor does", bench.look_at_machine
    if state.past:
        yield "Undo the last change", "Set the configs as they were before it", state.undo


def _asked(bench: Bench, turn: Turn, questions: Mapping[str, str]) -> Iterator[Step]:
    """Yield the questions that kinds of results answer, unless they are answered."""
    for kind, question in questions.items():
        if question and not bench.state.has_part(kind):
            label = f"{question}{time_words(bench.state, kind).removeprefix(',')}"
            yield label, f"{KINDS.offer(kind).hint}.", partial(ask, bench, turn, kind)


def ask(bench: Bench, turn: Turn, kind: str) -> None:
    """Turn to the answer of a question; make it where there is none."""
    if not bench.state.has_part(kind):
        bench.run(kind)
    turn(KINDS.offer(kind).tabs[0], kind)


def _try(bench: Bench, label: str, changed: Callable[[Config], Config]) -> None:
    bench.state.set_config(label, changed(bench.state.configs[label]))
    bench.compare()


def experiment_for(state: BenchState) -> tuple[str, Config] | None:
    """Return a question about the open model and the B that answers it; None once the configs were set."""
    if state.model is None or len(set(state.configs.values())) > 1:
        return None
    return first_question(state.model, state.configs["A"])


def cost_s(state: BenchState, kind: str) -> float | None:
    """Return about how many seconds it takes to make a kind of result; None where nobody knows."""
    offer = KINDS.offer(kind)
    took_s = state.took(offer.button)
    return offer.cost_s(*slowest_s(state)) if took_s is None else took_s


def slowest_s(state: BenchState) -> tuple[float | None, float | None]:
    """Return the longest load and the longest median of a run of the answer; None where none was measured."""
    runs = () if state.result is None else state.result.runs
    loads_s = [run.load_s for run in runs if run.load_s is not None]
    medians_s = [median_s for run in runs if (median_s := run.latency.median_s) is not None]
    return max(loads_s, default=None), max(medians_s, default=None)


def compare_time(state: BenchState) -> str:
    """Return how long a comparison takes, as far as it is known before."""
    if state.budget_s is not None:
        return f"at most {state.budget_s:g} s"
    if state.model is None:
        return ""
    took_s = state.took(COMPARE.name)
    if took_s is None:
        from workbench.core.measure.compare_request import expected_budget_s  # loads NumPy

        took_s = expected_budget_s(state.model.describe().size_bytes, len(state.configs), *slowest_s(state))
    return f"about {rounded_time(took_s)}"


def make_if_cheap(bench: Bench, role: Role) -> None:
    """Make the result with a role about the answer on the screen, if it is missing and that takes seconds."""
    state, offer = bench.state, KINDS.in_role(role)
    free = state.job is None and state.run_error is None and not state.refused
    about_answer = state.result is not None and state.request().comparison is state.result
    if offer is None or not free or not about_answer or state.has_part(offer.name):
        return
    cost = cost_s(state, offer.name)
    if cost is not None and cost <= CHEAP_S:
        bench.run(offer.name)


def time_words(state: BenchState, kind: str) -> str:
    """Return about how long it takes to make a kind of result: ", about 10 s"; empty where nobody knows."""
    seconds = cost_s(state, kind)
    return "" if seconds is None else f", about {rounded_time(seconds)}"
