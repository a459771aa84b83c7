"""`wb.improve` keeps what was measured better, and nothing that may be slower. No process runs."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run
from tests.factories.comparisons import run as run_of
from tests.features.findings.evidence import evidence
from workbench.core.bundle.comparison import Kind
from workbench.core.bundle.run import Run
from workbench.core.config import Config, DynamicInt8
from workbench.features.compare.result import Comparison
from workbench.features.findings import calls as advising
from workbench.features.findings.calls import _in_time, _with_accuracy, improve
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.improvement_result import Improvement
from workbench.features.findings.look import look
from workbench.features.findings.record import FindingRecord, FindingsRecord
from workbench.features.findings.result import Finding

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
def improved(monkeypatch: pytest.MonkeyPatch, spent: list[float]) -> Any:
    """A function that improves a model whose findings, by config, and whose last verdict are given."""

    def run(
        findings: dict[Config, Any], last: Comparison, step: Comparison | None = None, **options: Any
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

        monkeypatch.setattr(advising, "load", lambda _: MODEL)
        monkeypatch.setattr(
            advising,
            "gather",
            lambda _, config, *__, **___: SimpleNamespace(config=config, machine=SimpleNamespace(cpu="")),
        )
        monkeypatch.setattr(advising, "look", looked)
        monkeypatch.setattr(advising, "compare", measure_again)
        monkeypatch.setattr(Comparison, "measure_more", measure_again)
        monkeypatch.setattr(advising.time, "monotonic", lambda: sum(spent))
        monkeypatch.setattr(advising, "origin_of", lambda *_, **__: examples.about())
        monkeypatch.setattr(Finding, "try_fix", try_fix)
        return improve("model.onnx", START, progress=False, keep=False, **options)

    return run


ONE_THREAD = Config(intra_op_threads=1)


def test_a_fix_that_the_last_measurement_confirms_stays(improved: Any) -> None:
    better = improved({START: fix_to(ONE_THREAD)}, measured("faster", 1.2))
    assert better.config == ONE_THREAD
    assert [step.kept for step in better.steps] == [True]
    assert better.comparison is not None
    assert better.record.ended == "Nothing is left to try."


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
    assert better.record.ended == "The budget is spent."
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
    judged = _in_time(result)
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

    monkeypatch.setattr(advising, "accuracy", accuracy)
    findings = {START: fix_to(INT8), INT8: fix_to(FINER, "one-scale-for-wide-channels")}
    better = improved(findings, measured("faster", 1.2), max_accuracy_drop=0.03, data={"x": 1})
    assert evaluated == [(START, INT8), (START, FINER)]
    assert better.config == FINER


@pytest.mark.parametrize(("allowed", "kept"), [(0.03, True), (0.015, False)])
def test_a_drop_that_the_examples_do_not_settle_is_not_kept(allowed: float, kept: bool) -> None:
    result = FixResult(fix_to(INT8), True, "faster", INT8, measured("faster", 1.2))
    judged = _with_accuracy(result, lambda _: examples.accuracy(), allowed)
    assert judged.kept == kept
    assert judged.config == (INT8 if kept else START)
    assert ("which more examples would settle" in judged.reason) != kept
