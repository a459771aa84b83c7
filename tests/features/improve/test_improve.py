"""`wb.improve` keeps what was measured better, and nothing that may be slower. No process runs."""

from __future__ import annotations

import random
from dataclasses import replace
from html import escape
from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run
from tests.factories.comparisons import run as run_of
from tests.features.findings.evidence import evidence
from workbench.core.bundle.comparison import Kind
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.run import Run
from workbench.core.config import Config, DynamicInt8
from workbench.core.errors import Cancelled, ConfigError
from workbench.features.compare.result import Comparison
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.record import FindingRecord, FindingsRecord
from workbench.features.findings.result import Finding
from workbench.features.findings.rule import look
from workbench.features.improve import improving
from workbench.features.improve import request as requesting
from workbench.features.improve import result as calling
from workbench.features.improve.html import steps_html
from workbench.features.improve.judging import in_time, with_accuracy, within
from workbench.features.improve.result import Improvement, improve
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.space import Space

NOTHING = Space()
NODES = [("m", "MatMul", ("x", "w"), 60), ("s", "SkipLayerNormalization", ("m",), 40)]
RECORD = look(evidence(NODES))
FINDING = next(finding for finding in RECORD.findings if finding.id == "skip-layer-norm-slow")
START, INT8 = Config(), Config(precision=DynamicInt8())
FINER = Config(precision=DynamicInt8(per_channel=True))
MODEL: Any = SimpleNamespace(
    name="chain",
    inputs=lambda *_, **__: None,
    draw=lambda *_, **__: None,
    fingerprint=lambda _: "sha",
    structure=SimpleNamespace(SerializeToString=lambda: b""),
    with_inputs=lambda _: MODEL,
)


def measured(kind: Kind, low: float | None = None, before: Config = START) -> Comparison:
    """Return a comparison of this config and another one with this verdict."""
    record = comparison(replace(drawn_run("A", 0.002), config=before), drawn_run("B", 0.001))
    ratio = None if low is None else low * 1.01
    verdict = replace(record.verdict, kind=kind, ratio=ratio, low=low, high=ratio)
    return Comparison(replace(record, verdicts=(verdict,)))


def fix_to(config: Config, rule: str = FINDING.id) -> FindingRecord:
    """Return a finding whose fix is this config."""
    return replace(FINDING, id=rule, fix=replace(FINDING.fix, kind="config", config=config))


LOOK_S = 5.0  # on a clock that looking and measuring move


@pytest.fixture
def spent() -> list[float]:
    """What each look and each measurement took, in seconds."""
    return []


@pytest.fixture
def searches() -> list[StudyRequest]:
    """What was searched."""
    return []


@pytest.fixture
def improved(monkeypatch: pytest.MonkeyPatch, spent: list[float], searches: list[StudyRequest]) -> Any:
    """A function that improves a model whose findings, by config, and whose last verdict are given."""

    def run(
        findings: dict[Config, Any],
        last: Comparison,
        step: Comparison | None = None,
        space: Space = NOTHING,
        search: Any = None,
        **options: Any,
    ) -> Improvement:
        def looked(facts: Any) -> FindingsRecord:
            spent.append(LOOK_S)
            found = findings.get(facts.config, ())
            found = (found,) if isinstance(found, FindingRecord) else found
            return replace(RECORD, config=facts.config, findings=found)

        def try_fix(self: Finding, budget_s: float, **_: Any) -> FixResult:
            spent.append(budget_s)
            changed = self.record.fix.config
            assert changed is not None
            comparison = step or measured("faster", 1.2, self.config)
            is_kept = comparison.verdict.kind == "faster"
            config = changed if is_kept else self.config
            return FixResult(self.record, is_kept, comparison.verdict.kind, config, comparison)

        def measure_again(*_: Any, budget_s: float, **__: Any) -> Comparison:
            spent.append(budget_s)
            return last

        def searched(request: StudyRequest, *, on_measured: Any, **_: Any) -> StudyRecord:
            spent.append(request.budget_s)
            searches.append(request)
            return search(request, on_measured)

        monkeypatch.setattr(calling, "load", lambda _: MODEL)
        monkeypatch.setattr(
            requesting,
            "gather",
            lambda _, config, *__, **___: SimpleNamespace(config=config, machine=SimpleNamespace(cpu="")),
        )
        monkeypatch.setattr(requesting, "look", looked)
        monkeypatch.setattr(requesting, "compare", measure_again)
        monkeypatch.setattr(requesting, "default_space", lambda *_, **__: space)
        monkeypatch.setattr(improving, "run_study", searched)
        monkeypatch.setattr(Comparison, "measure_more", measure_again)
        monkeypatch.setattr(improving.time, "monotonic", lambda: sum(spent))
        monkeypatch.setattr(calling, "origin_of", lambda *_, **__: examples.about())
        monkeypatch.setattr(Finding, "try_fix", try_fix)
        return improve("model.onnx", START, progress=False, keep=False, **options)

    return run


ONE_THREAD = Config(intra_op_threads=1)


def test_a_fix_that_the_last_measurement_confirms_stays(improved: Any) -> None:
    better = improved({START: fix_to(ONE_THREAD)}, measured("faster", 1.2))
    assert better.config == ONE_THREAD
    assert [step.kept for step in better.steps] == [True]
    assert better.comparison is not None
    assert better.record.ended == "No other fix is left to try. The search had nothing else to vary."


def test_what_was_found_under_the_first_config_is_kept(improved: Any) -> None:
    better = improved({START: TWO}, measured("faster", 1.2))
    findings = better.record.findings
    assert findings is not None
    assert (findings.config, findings.findings) == (START, TWO)
    html = steps_html("A", better.record)
    assert "2 findings, each with its evidence and fix" in html
    assert escape(findings.looked_text) in html


@pytest.mark.parametrize(("kind", "low"), [("slower", 0.9), ("outputs differ", 1.2)])
def test_the_first_config_stays_if_all_fixes_are_worse(improved: Any, kind: Kind, low: float) -> None:
    better = improved({START: fix_to(ONE_THREAD)}, measured(kind, low))
    assert better.config == START
    assert better.comparison is None
    assert [step.kept for step in better.steps] == [False]
    assert "Measured anew" in better.record.ended


TWO = (
    fix_to(ONE_THREAD),
    replace(fix_to(Config(intra_op_threads=2), "second"), title="A second one", gain=FINDING.gain),
)


def test_the_budget_is_spent_on_fixes_and_not_exceeded(improved: Any, spent: list[float]) -> None:
    better = improved({START: fix_to(ONE_THREAD)}, measured("faster", 1.2), budget_s=30.0)
    assert [step.kept for step in better.steps] == [True]
    assert 29.0 <= sum(spent) <= 31.0


def test_what_there_was_no_time_for_is_listed_with_its_predicted_gain(
    improved: Any, spent: list[float]
) -> None:
    better = improved({START: TWO}, measured("faster", 1.2), measured("tie", 0.99), budget_s=22.0)
    assert [step.finding.id for step in better.steps] == [FINDING.id]
    assert better.record.ended == "The budget is spent. There was no time for a search: give it more."
    predicted = TWO[1].gain.factor
    assert predicted.startswith("about ")
    assert better.record.skipped == (
        f"A second one: {predicted} faster ({TWO[1].confidence}); there was no time to try it",
    )
    assert sum(spent) < 22.0


def faster_then(factor: float) -> tuple[Comparison, Comparison]:
    """Return five rounds in which B takes 0.96 of A's time, and those with five in which it takes another."""
    baseline = drawn_rounds("A", [0.001] * 10)
    candidate = drawn_rounds("B", [0.00096] * 5 + [0.001 * factor] * 5)
    first = comparison(
        *(replace(run, processes=run.processes[:5]) for run in (baseline, candidate)), kind="faster"
    )
    step = replace(first.verdict, ratio=1.036, low=1.015, high=1.057)
    both = replace(first, runs=(baseline, candidate))
    pooled = replace(first.verdict, kind="unknown", ratio=1.0, low=0.97, high=1.03)
    return Comparison(replace(first, verdicts=(step,))), Comparison(replace(both, verdicts=(pooled,)))


def drawn_rounds(label: str, middles_s: list[float]) -> Run:
    """Return a run with a round of this typical latency each."""
    noise = random.Random(label)
    rounds = [[[s * noise.uniform(0.999, 1.001) for _ in range(20)] for _ in range(8)] for s in middles_s]
    return run_of(label, rounds)


def test_further_rounds_that_contradict_the_step_are_said_to(improved: Any) -> None:
    step, pooled = faster_then(1.036)
    better = improved({START: fix_to(ONE_THREAD)}, pooled, step)
    assert better.config == START
    assert [step.kept for step in better.steps] == [False]
    assert "contradict each other" in better.record.ended
    assert "1.04× (1.02 to 1.06) at first, and 0.965× (" in better.record.ended


def test_further_rounds_that_agree_with_the_step_are_counted_with_it(improved: Any) -> None:
    step, pooled = faster_then(0.97)
    better = improved({START: fix_to(ONE_THREAD)}, pooled, step)
    assert better.config == ONE_THREAD
    assert better.comparison is not None
    assert len(better.comparison.runs[1].processes) == 10


@pytest.mark.parametrize(
    ("kind", "low", "kept"),
    [
        ("faster", 1.1, True),
        ("tie", 0.985, True),
        ("unknown", 0.97, True),
        ("unknown", 0.8, False),
        ("unknown", None, False),
        ("slower", 0.96, False),
    ],
)
def test_a_fix_for_memory_or_accuracy_must_not_cost_time(kind: Kind, low: float | None, kept: bool) -> None:
    result = FixResult(FINDING, True, "memory: 20 % less", ONE_THREAD, measured(kind, low))
    judged = in_time(result)
    assert judged.kept == kept
    assert judged.config == (ONE_THREAD if kept else START)
    assert ("it may be slower" in judged.reason) != kept


def test_the_accuracy_is_that_against_the_first_config(
    improved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[tuple[Config, ...]] = []

    def accuracy(_: Any, *configs: Config, **options: Any) -> Any:
        assert options["data"] == {"x": 1}
        evaluated.append(configs)
        return SimpleNamespace(record=examples.accuracy())

    monkeypatch.setattr(requesting, "accuracy", accuracy)
    first_runs: list[Any] = []
    monkeypatch.setattr(
        "workbench.features.improve.result.check_labels", lambda *a: first_runs.append(a[1:3])
    )
    findings = {START: fix_to(INT8), INT8: fix_to(FINER, "one-scale-for-wide-channels")}
    limits = Goal(max_accuracy_drop=0.03)
    better = improved(findings, measured("faster", 1.2), limits=limits, data={"x": 1})
    assert first_runs == [(START, {"x": 1})], "labels that do not fit are known before the first fix"
    assert evaluated == [(START, INT8), (START, FINER)]
    assert better.config == FINER


@pytest.mark.parametrize(("allowed", "kept"), [(0.03, True), (0.015, False)])
def test_a_drop_that_the_examples_do_not_settle_is_not_kept(allowed: float, kept: bool) -> None:
    result = FixResult(fix_to(INT8), True, "faster", INT8, measured("faster", 1.2))
    judged = with_accuracy(result, lambda _: examples.accuracy(), Goal(max_accuracy_drop=allowed))
    assert judged.kept == kept
    assert judged.config == (INT8 if kept else START)
    assert ("do not settle it" in judged.reason) != kept


# Limits


def limited(p50_ms: float) -> Goal:
    return Goal(max_p50_s=p50_ms / 1e3)


def at(first_ms: float, second_ms: float, kind: Kind = "faster", before: Config = START) -> Comparison:
    """Return a comparison of runs with these medians, which both have narrow intervals."""
    runs = (drawn_rounds(label, [ms / 1e3] * 6) for label, ms in (("A", first_ms), ("B", second_ms)))
    record = comparison(*runs, kind=kind)
    first = replace(record.runs[0], config=before)
    verdict = replace(record.verdict, kind=kind, ratio=1.25, low=1.2, high=1.3)
    return Comparison(replace(record, runs=(first, *record.runs[1:]), verdicts=(verdict,)))


def test_a_fix_that_breaks_a_limit_is_named_and_not_kept() -> None:
    limits = Goal(max_memory_bytes=1)
    result = FixResult(fix_to(ONE_THREAD), True, "faster", ONE_THREAD, at(1.0, 0.8))
    roomy = replace(result.comparison.record.runs[0], processes=())  # nothing is known of its memory
    record = replace(result.comparison.record, runs=(roomy, result.comparison.record.runs[1]))
    broken = within(replace(result, comparison=Comparison(record)), limits)
    assert (broken.kept, broken.config) == (False, START)
    assert "it breaks a limit: peak memory" in broken.reason


def test_a_slower_fix_that_mends_a_limit_is_kept() -> None:
    comparison = at(2.0, 1.0, "slower")
    result = FixResult(fix_to(ONE_THREAD), False, "slower", START, comparison)
    mended = within(result, limited(1.5))
    assert (mended.kept, mended.config) == (True, ONE_THREAD)
    assert "it mends a limit: " in mended.reason
    assert within(result, limited(3.0)) == result, "no limit was broken"


def test_an_answer_that_breaks_a_limit_is_none(improved: Any) -> None:
    findings = {START: fix_to(ONE_THREAD)}
    better = improved(findings, at(1.0, 1.4), limits=limited(1.2))
    assert (better.config, better.comparison) == (START, None)
    assert "It is not the answer: it breaks a limit" in better.record.ended
    assert "at most 1.2 ms asked for" in better.record.ended
    assert improved(findings, at(1.0, 0.8), limits=limited(1.2)).config == ONE_THREAD


def test_where_even_the_first_config_breaks_a_limit_it_is_said(improved: Any) -> None:
    step = at(2.0, 1.8, "slower")
    better = improved({START: fix_to(ONE_THREAD)}, step, step, limits=limited(1.0))
    assert better.comparison is None
    assert "No config that was tried keeps the limits; the first one does not" in better.record.ended


def test_a_setting_that_may_not_vary_is_not_tried(improved: Any, searches: list[StudyRequest]) -> None:
    better = improved(
        {START: fix_to(ONE_THREAD)}, measured("faster", 1.2), space=SPACE, search=nothing_better,
        without=["intra_op_threads", "spinning"],
    )  # fmt: skip
    assert better.steps == ()
    assert "it changes intra_op_threads, which may not vary" in better.record.skipped[0]
    assert [axis.name for axis in searches[0].space.axes] == ["level"]


@pytest.mark.parametrize("names", [["no such setting"], "level"])
def test_what_is_no_setting_is_refused(improved: Any, names: Any) -> None:
    with pytest.raises(ConfigError, match="names no setting"):
        improved({}, measured("faster", 1.2), without=names)


@pytest.mark.parametrize("budget_s", ["60", -1.0, float("nan")])
def test_a_budget_that_is_no_time_is_refused(budget_s: Any) -> None:
    with pytest.raises(ConfigError, match="is no usable value"):
        wb.improve("digits-conv", budget_s=budget_s, progress=False, keep=False)


# The search

SPACE = Space.of(level=("basic",), intra_op_threads=(1, 2))
BASIC = Config(level="basic")
BOTH = Config(level="basic", intra_op_threads=1)


def study_of(request: StudyRequest, best: Config, last: Comparison | None) -> StudyRecord:
    """Return a study that found this config; without a comparison nothing better was found."""
    record = examples.study()
    first = replace(record.candidates[0], config=request.base)
    second = replace(record.candidates[1], config=best)
    selection = replace(
        record.selection,
        runs=(replace(record.selection.runs[0], config=request.base), *record.selection.runs[1:]),
    )
    label = "A" if last is None else second.label
    confirmations = ()
    if last is not None:
        runs = zip(last.record.runs, (request.base, best), strict=False)
        confirmed = tuple(replace(run, config=config) for run, config in runs)
        confirmations = (replace(last.record, runs=confirmed),)
    return replace(
        record, candidates=(first, second), selection=selection, confirmations=confirmations, winner=label,
        best=label, ended="nothing in the space was better" if last is None else "confirmed on fresh rounds",
    )  # fmt: skip


def nothing_better(request: StudyRequest, _: Any) -> StudyRecord:
    return study_of(request, BASIC, None)


def test_the_search_goes_on_where_no_fix_helps_and_its_proof_is_the_answers(
    improved: Any, searches: list[StudyRequest]
) -> None:
    found = measured("faster", 1.3)
    better = improved(
        {}, measured("slower", 0.5), space=SPACE, search=lambda request, _: study_of(request, BASIC, found)
    )
    assert better.config == BASIC
    assert better.comparison is not None
    assert better.comparison.verdict.ratio == found.verdict.ratio
    assert [trial.way for trial in better.record.trials] == ["search"]
    assert better.record.trials[0].kept
    assert searches[0].budget_s <= 45.0, "without a budget or a limit nobody waits much longer"
    assert "config: level basic" in str(better)


def test_the_search_begins_with_what_the_fixes_gave_and_does_not_try_them_again(
    improved: Any, searches: list[StudyRequest]
) -> None:
    better = improved(
        {START: fix_to(ONE_THREAD)}, measured("faster", 1.2), space=SPACE, budget_s=200.0,
        search=lambda request, _: study_of(request, BOTH, measured("faster", 1.1)),
    )  # fmt: skip
    (request,) = searches
    assert request.base == ONE_THREAD
    assert [(axis.name, len(axis.options)) for axis in request.space.axes] == [
        ("level", 1), ("intra_op_threads", 1),
    ]  # fmt: skip
    assert request.budget_s > 45.0
    assert better.config == BOTH
    assert [(trial.way, trial.kept) for trial in better.record.trials] == [("fix", True), ("search", True)]
    assert better.search is not None


def test_what_the_search_found_must_not_be_slower_than_the_first_config(
    improved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = measured("faster", 1.2)
    monkeypatch.setattr(Comparison, "measure_more", lambda *_, **__: both)

    def search(request: StudyRequest, _: Any) -> StudyRecord:
        monkeypatch.setattr(requesting, "compare", lambda *_, **__: measured("slower", 0.8))
        return study_of(request, BOTH, measured("faster", 1.1))

    better = improved({START: fix_to(ONE_THREAD)}, both, space=SPACE, search=search)
    assert better.config == ONE_THREAD
    assert "What the search found is not the answer" in better.record.ended


def test_a_cancel_during_the_search_keeps_the_fixes_that_are_proven(improved: Any) -> None:
    def search(request: StudyRequest, on_measured: Any) -> StudyRecord:
        on_measured(study_of(request, BASIC, None))
        raise Cancelled("stopped on request", "start it again")

    better = improved({START: fix_to(ONE_THREAD)}, measured("faster", 1.2), space=SPACE, search=search)
    assert better.config == ONE_THREAD
    assert better.comparison is not None
    assert better.search is not None
    assert "It was stopped; what was proven by then is kept." in better.record.ended


def test_after_an_interrupt_the_history_has_what_is_proven(
    improved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    history: list[Improvement] = []
    monkeypatch.setattr(calling, "kept", lambda result, _: history.append(result))

    def search(*_: Any) -> StudyRecord:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        improved({START: fix_to(ONE_THREAD)}, measured("faster", 1.2), space=SPACE, search=search)
    assert [result.config for result in history] == [ONE_THREAD]
    with pytest.raises(KeyboardInterrupt):
        improved({}, measured("faster", 1.2), space=SPACE, search=search)
    assert len(history) == 1, "nothing was measured"


def test_a_cancel_before_anything_was_tried_is_a_cancel(improved: Any) -> None:
    def search(*_: Any) -> StudyRecord:
        raise Cancelled("stopped on request", "start it again")

    with pytest.raises(Cancelled):
        improved({}, measured("faster", 1.2), space=SPACE, search=search)


def test_a_speed_up_that_is_not_reached_is_said(improved: Any) -> None:
    better = improved({START: fix_to(ONE_THREAD)}, measured("faster", 1.2), limits=Goal(min_speedup=2.0))
    assert better.config == ONE_THREAD
    assert "The goal of 2.00× is not reached: it is 1.212× (" in better.record.ended


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((1.7, 1.07, 2.84), "The goal of 3.00× is not reached: it is at least 1.07× (1.07 to 2.8)."),
        ((1.7, 1.5, 1.95), "The goal of 3.00× is not reached: it is about 1.7× (1.5 to 2.0)."),
        ((None, 1.5, None), "Whether the goal of 3.00× is reached is open: it is at least 1.5×."),
    ],
)
def test_a_speed_up_that_is_not_reached_has_the_digits_of_its_interval(
    improved: Any, ends: tuple[float | None, ...], words: str
) -> None:
    comparison = measured("faster", 1.2)
    ratio, low, high = ends
    verdict = replace(comparison.verdict, ratio=ratio, low=low, high=high)
    proven = Comparison(replace(comparison.record, verdicts=(verdict,)))
    better = improved({START: fix_to(ONE_THREAD)}, proven, limits=Goal(min_speedup=3.0))
    assert words in better.record.ended
