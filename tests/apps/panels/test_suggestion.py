"""The first minute: a sample to open, then one experiment for the model at hand."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from workbench.apps.panels.suggestion import FIRST, Suggestion, experiment_for
from workbench.core.models.samples import sample_names


def labels(suggestion: Suggestion) -> list[str]:
    return [button.description for button in suggestion.row.children[1:]]


def test_without_a_model_samples_are_offered() -> None:
    bench = wb.Workbench()
    suggestion = Suggestion(bench)
    assert labels(suggestion) == list(FIRST)
    assert set(FIRST) <= set(sample_names())
    suggestion.row.children[-1].click()
    assert bench.opening.running is not None
    bench.opening.running.finished.wait()
    settle(bench)
    assert labels(suggestion) == ["What are ORT's graph optimizations worth on digits-conv? Compare"]


def test_a_small_model_is_asked_about_optimizations_and_never_after_a_person_chose(
    bench: wb.Workbench,
) -> None:
    experiment = experiment_for(bench.state)
    assert experiment is not None
    assert "graph optimizations" in experiment[0]
    assert experiment[1] == wb.Config(level="disabled")
    bench.set("spinning", False)
    assert experiment_for(bench.state) is None


@pytest.mark.slow
def test_a_large_transformer_is_asked_about_int8() -> None:
    bench = wb.Workbench()
    bench.load("bert-base", wait=True)
    experiment = experiment_for(bench.state)
    assert experiment is not None
    assert experiment[0] == "Does int8 pay on bert-base? Compare"
    assert isinstance(experiment[1].precision, wb.DynamicInt8)


@pytest.mark.real
def test_one_click_sets_b_and_compares(bench: wb.Workbench) -> None:
    suggestion = Suggestion(bench)
    suggestion.row.children[1].click()
    job = bench.jobs.running
    assert job is not None
    assert suggestion.row.children == ()
    job.finished.wait()
    settle(bench)
    assert bench.result.runs[1].config == wb.Config(level="disabled")
