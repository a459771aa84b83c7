"""What is made later of a result shows a progress bar only if the result was made with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.features.compare import result as module


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What each bar was asked to show."""
    asked: list[Any] = []

    @contextmanager
    def bar(progress: Any) -> Iterator[Any]:
        asked.append(progress)
        yield lambda _: None

    monkeypatch.setattr(module, "bar", bar)
    monkeypatch.setattr(module, "accuracy", lambda *_, **__: examples.accuracy())
    return asked


@pytest.mark.parametrize("progress", [True, False])
def test_accuracy_follows_the_comparison(progress: bool, bars: list[Any], tmp_path: Any) -> None:
    model = wb.load(tiny.save(tiny.mlp(), tmp_path))
    wb.Comparison(ordinary()).with_model(model, model.inputs(), None, progress).accuracy()
    assert bars == [progress]


def test_accuracy_can_be_asked_for_a_bar(bars: list[Any], tmp_path: Any) -> None:
    model = wb.load(tiny.save(tiny.mlp(), tmp_path))
    wb.Comparison(ordinary()).with_model(model, model.inputs(), None, False).accuracy(progress=True)
    assert bars == [True]


@pytest.mark.real
def test_compare_hands_its_progress_on(bars: list[Any], tmp_path: Any) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    result = wb.compare(path, wb.Config(), wb.Config(), budget_s=0.05, progress=False, keep=False)
    result.accuracy()
    assert bars == [False]


@pytest.mark.real
def test_measuring_more_hands_its_progress_on(bars: list[Any], tmp_path: Any) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    result = wb.compare(path, wb.Config(), wb.Config(), budget_s=0.05, progress=False, keep=False)
    result.measure_more(budget_s=0.05, progress=False, keep=False).accuracy()
    assert bars == [False]
