"""`wb.improve` keeps what was measured better, and nothing that may be slower. No process runs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.advisor.evidence import evidence
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run
from workbench.advisor.look import look
from workbench.api import advising
from workbench.api.advising import _in_time, _with_accuracy, improve
from workbench.config import Config, DynamicInt8
from workbench.records.comparison import Kind
from workbench.records.findings import FindingRecord, FindingsRecord
from workbench.results.comparison import Comparison
from workbench.results.findings import Finding
from workbench.results.fix_result import FixResult
from workbench.results.improvement import Improvement

NODES = [("m", "MatMul", ("x", "w"), 60), ("s", "SkipLayerNormalization", ("m",), 40)]
RECORD = look(evidence(NODES))
FINDING = next(finding for finding in RECORD.findings if finding.id == "skip-layer-norm-slow")
START, INT8 = Config(), Config(precision=DynamicInt8())
FINER = Config(precision=DynamicInt8(per_channel=True))
MODEL: Any = SimpleNamespace(
    name="chain",
    inputs=lambda *_, **__: None,
    fingerprint=lambda _: "sha",
    structure=SimpleNamespace(SerializeToString=lambda: b""),
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


@pytest.fixture
def improved(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that improves a model whose findings, by config, and whose last verdict are given."""

    def run(findings: dict[Config, FindingRecord], last: Comparison, **options: Any) -> Improvement:
        def looked(facts: Any) -> FindingsRecord:
            finding = findings.get(facts.config)
            return replace(RECORD, config=facts.config, findings=() if finding is None else (finding,))

        def try_fix(self: Finding, *_: Any, **__: Any) -> FixResult:
            changed = self.record.fix.config
            assert changed is not None
            return FixResult(self.record, True, "faster", changed, measured("faster", 1.2, self.config))

        monkeypatch.setattr(advising, "load", lambda _: MODEL)
        monkeypatch.setattr(
            advising,
            "gather",
            lambda _, config, *__, **___: SimpleNamespace(config=config, machine=SimpleNamespace(cpu="")),
        )
        monkeypatch.setattr(advising, "look", looked)
        monkeypatch.setattr(advising, "with_tried", lambda record, *_: (record, frozenset()))
        monkeypatch.setattr(advising, "compare", lambda *_, **__: last)
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
