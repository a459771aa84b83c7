"""What to do next, and about how long it takes: questions about an answer, samples to open, an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from workbench.apps.panels.actions import MORE_S
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config
from workbench.core.models.samples import sample_names
from workbench.core.text import rounded_time
from workbench.features.base.registry import KINDS
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
            return "Next:", [], []
        asked = _asked(bench, turn, {offer.name: offer.question for offer in KINDS.offered(view)})
        return "Next:", list(_about_answer(bench, turn))[:_MOST], list(asked)
    if state.model is None:
        samples = [name for name in FIRST if name in sample_names()]
        steps: list[Step] = [(name, f"Open {name}", partial(bench.load, name)) for name in samples]
        return "Begin with a sample:", steps, []
    if (experiment := experiment_for(state)) is not None:
        question, b = experiment
        return "Try first:", [(question, "Set this in B and compare", partial(_try, bench, b))], []
    return "", [], []


def _about_answer(bench: Bench, turn: Turn) -> Iterator[Step]:
    """Yield what would say more about the answer on the screen, the most wanted first."""
    result = bench.state.result
    verdict, precisions = result.verdict, {run.config.precision for run in result.runs}
    if verdict.kind == "unknown" or verdict.provisional:
        label = f"Measure longer, {rounded_time(bench.state.budget_s or MORE_S)}"
        yield label, "Measure further rounds; the earlier ones are kept", bench.measure_more
    questions = {
        "first difference": "Where do they first differ?" if verdict.kind == "outputs differ" else "",
        "accuracy": "Is the accuracy kept?" if len(precisions) > 1 else "",
        "why slower": f"Why is {verdict.label} slower?" if verdict.kind == "slower" else "",
        "explanation": "What did ORT do?",
        "profile": "Where does the time go?",
    }
    yield from _asked(bench, turn, questions)
    label = f"Find further gains, {rounded_time(IMPROVE_S)}"
    yield label, "Try what the findings propose", partial(turn, "Improve", "")


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


def _try(bench: Bench, b: Config) -> None:
    bench.b = b
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


def make_if_cheap(bench: Bench, kind: str) -> None:
    """Make a kind of result about the answer on the screen, if it is missing and that takes seconds."""
    state = bench.state
    free = state.job is None and state.run_error is None and not state.refused
    about_answer = state.result is not None and state.request().comparison is state.result
    wanted = kind and free and about_answer and not state.has_part(kind)
    cost = cost_s(state, kind) if wanted else None
    if cost is not None and cost <= CHEAP_S:
        bench.run(kind)


def time_words(state: BenchState, kind: str) -> str:
    """Return about how long it takes to make a kind of result: ", about 10 s"; empty where nobody knows."""
    seconds = cost_s(state, kind)
    return "" if seconds is None else f", about {rounded_time(seconds)}"
