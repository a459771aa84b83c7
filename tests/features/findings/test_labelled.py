"""Labelled examples make the facts of the findings about accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.factories import results as examples
from tests.features.findings.evidence import evidence, say
from workbench.core.config import Config, DynamicInt8
from workbench.features.findings import gather

MODEL: Any = None
INT8 = Config(level="basic", precision=DynamicInt8())


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Config, ...]]:
    """The configs of each evaluation."""
    calls: list[tuple[Config, ...]] = []

    def accuracy(_: Any, configs: tuple[Config, ...], **options: Any) -> Any:
        assert options == {"data": "test.npz", "calibration": "random", "cancel": None}
        calls.append(configs)
        table = examples.accuracy()
        return replace(table, labels=table.labels[: len(configs)])

    monkeypatch.setattr(gather, "accuracy", accuracy)
    return calls


def test_a_quantized_config_is_evaluated_beside_the_same_one_in_float(evaluated: list[Any]) -> None:
    known = gather.known_accuracy(MODEL, INT8, "test.npz", calibration="random")
    assert evaluated == [(Config(level="basic"), INT8)]
    assert known.label == "B"
    assert known.accuracy is not None


def test_a_float_config_is_evaluated_alone(evaluated: list[Any]) -> None:
    known = gather.known_accuracy(MODEL, Config(), "test.npz", calibration="random")
    assert evaluated == [(Config(),)]
    assert known.label == "A"


def test_what_was_lost_is_a_finding_of_the_quantized_config() -> None:
    table = examples.accuracy()
    lost = replace(table.scores[1].against, value=-0.03, low=-0.05, high=-0.01)
    record = replace(table, scores=(table.scores[0], replace(table.scores[1], against=lost)))
    facts = evidence([("m", "MatMul", ("x", "w"), 90)], config=INT8, label="B", accuracy=record)
    (finding,) = say("accuracy-lost", facts)
    assert finding.title == "The accuracy is 3 points lower than the baseline's"
